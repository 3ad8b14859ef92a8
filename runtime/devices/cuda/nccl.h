// The functions of NCCL that this backend uses. The library is loaded when a process first asks for the communicator of
// a device, never linked. The declarations are our own, for the part of its ABI that is stable since version 2.14
// (docs.nvidia.com/deeplearning/nccl).
#ifndef ONEFLOW_DEVICES_CUDA_NCCL_H_
#define ONEFLOW_DEVICES_CUDA_NCCL_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace oneflow::cuda::nccl {

using Communicator = struct CommunicatorObject*;

// ncclResult_t, ncclDataType_t and ncclRedOp_t.
enum Result : int { kSuccess = 0, kInvalidUsage = 5, kInProgress = 7 };
enum Type : int {
  kInt8 = 0,
  kUint8 = 1,
  kInt32 = 2,
  kUint32 = 3,
  kInt64 = 4,
  kUint64 = 5,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBfloat16 = 9
};
enum Reduction : int { kSum = 0, kProduct = 1, kMax = 2, kMin = 3, kMean = 4 };

struct Id {
  char bytes[128];
};

// The beginning of ncclConfig_t, as version 2.14 has it. Later versions take the defaults for the rest.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
};

struct Library {
  Result (*ncclGetVersion)(int*);
  const char* (*ncclGetErrorString)(Result);
  Result (*ncclGetUniqueId)(Id*);
  Result (*ncclCommInitRankConfig)(Communicator*, int size, Id, int rank, Config*);
  Result (*ncclCommGetAsyncError)(Communicator, Result*);
  Result (*ncclCommFinalize)(Communicator);
  Result (*ncclCommDestroy)(Communicator);
  Result (*ncclCommAbort)(Communicator);
  Result (*ncclGroupStart)();
  Result (*ncclGroupEnd)();
  Result (*ncclReduce)(const void*, void*, size_t, Type, Reduction, int root, Communicator, cudaStream_t);
  Result (*ncclAllReduce)(const void*, void*, size_t, Type, Reduction, Communicator, cudaStream_t);
  Result (*ncclReduceScatter)(const void*, void*, size_t each, Type, Reduction, Communicator, cudaStream_t);
  Result (*ncclAllGather)(const void*, void*, size_t each, Type, Communicator, cudaStream_t);
  Result (*ncclBroadcast)(const void*, void*, size_t, Type, int root, Communicator, cudaStream_t);
  Result (*ncclSend)(const void*, size_t, Type, int peer, Communicator, cudaStream_t);
  Result (*ncclRecv)(void*, size_t, Type, int peer, Communicator, cudaStream_t);
};

// Returns the library, or NULL if it is not available; why_none() then says why.
const Library* library();
const char* why_none();
// Returns "nccl 2.21", by the version of the library.
const char* version();

}  // namespace oneflow::cuda::nccl

#endif  // ONEFLOW_DEVICES_CUDA_NCCL_H_
