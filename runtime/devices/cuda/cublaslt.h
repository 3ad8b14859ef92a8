// The functions of cuBLASLt that this backend uses. The library is loaded by the first contraction, never linked. The
// declarations are our own, for the part of its ABI that is stable since version 11 (docs.nvidia.com/cuda/cublas).
#ifndef ONEFLOW_DEVICES_CUDA_CUBLASLT_H_
#define ONEFLOW_DEVICES_CUDA_CUBLASLT_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace oneflow::cuda::lt {

using Handle = struct HandleObject*;
using Description = struct DescriptionObject*;
using Layout = struct LayoutObject*;
using Preference = struct PreferenceObject*;

// cudaDataType, cublasComputeType_t and cublasOperation_t.
enum Type : int { kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kInt8 = 3, kInt32 = 10, kBfloat16 = 14 };
enum Compute : int { kCompute32 = 68, kCompute64 = 70, kComputeInt32 = 72, kComputeTf32 = 77 };
enum Operation : int32_t { kPlain = 0, kTransposed = 1 };
enum DescriptionAttribute : int { kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8 };
// The batch mode is newer than the other attributes; older libraries reject it.
enum LayoutAttribute : int { kBatchCount = 5, kBatchStride = 6, kBatchMode = 8 };
enum BatchMode : int32_t { kAddressList = 1 };
enum PreferenceAttribute : int {
  kWorkspace = 1,
  kReductionSchemes = 3,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8
};
constexpr uint32_t kEpilogueBias = 4;
// Partial sums are added up in place or in the compute type, not in a narrower result type.
constexpr uint32_t kExactReductions = 1 | 2;

struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  int status;
  float waves;
  int reserved[4];
};

struct Library {
  int (*cublasLtCreate)(Handle*);
  int (*cublasLtMatmulDescCreate)(Description*, Compute, Type scale);
  int (*cublasLtMatmulDescDestroy)(Description);
  int (*cublasLtMatmulDescSetAttribute)(Description, DescriptionAttribute, const void*, size_t);
  int (*cublasLtMatrixLayoutCreate)(Layout*, Type, uint64_t rows, uint64_t columns, int64_t leading);
  int (*cublasLtMatrixLayoutDestroy)(Layout);
  int (*cublasLtMatrixLayoutSetAttribute)(Layout, LayoutAttribute, const void*, size_t);
  int (*cublasLtMatmulPreferenceCreate)(Preference*);
  int (*cublasLtMatmulPreferenceDestroy)(Preference);
  int (*cublasLtMatmulPreferenceSetAttribute)(Preference, PreferenceAttribute, const void*, size_t);
  int (*cublasLtMatmulAlgoGetHeuristic)(Handle, Description, Layout a, Layout b, Layout c, Layout d, Preference,
                                        int wanted, Heuristic*, int* found);
  int (*cublasLtMatmul)(Handle, Description, const void* alpha, const void* a, Layout, const void* b, Layout,
                        const void* beta, const void* c, Layout, void* d, Layout, const Algorithm*, void* workspace,
                        size_t workspace_bytes, cudaStream_t);
};

// Returns the library, or NULL if it is not available.
const Library* library();

}  // namespace oneflow::cuda::lt

#endif  // ONEFLOW_DEVICES_CUDA_CUBLASLT_H_
