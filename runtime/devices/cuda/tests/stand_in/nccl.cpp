// A library in place of NCCL, which notes the calls of its functions.
#include "nccl.h"

#include <string>

namespace nccl = oneflow::cuda::nccl;

extern "C" {

std::string stand_in_calls;                     // since a test has cleared them
nccl::Result stand_in_state = nccl::kSuccess;   // which ncclCommGetAsyncError() gives
nccl::Result stand_in_result = nccl::kSuccess;  // of functions that submit work or open a communicator

static nccl::Result note(const std::string& call, nccl::Result result) {
  stand_in_calls += call + "\n";
  return result;
}
static std::string text(size_t number) { return std::to_string(number) + " "; }

nccl::Result ncclGetVersion(int* version) {
  *version = 22105;
  return nccl::kSuccess;
}
const char* ncclGetErrorString(nccl::Result result) {
  return result == nccl::kInvalidUsage ? "invalid usage" : "remote process exited";
}
nccl::Result ncclGetUniqueId(nccl::Id* id) {
  id->bytes[0] = 'x';
  return note("id", nccl::kSuccess);
}
nccl::Result ncclCommInitRankConfig(nccl::Communicator* made, int size, nccl::Id id, int rank, nccl::Config* config) {
  *made = reinterpret_cast<nccl::Communicator>(1);
  const bool is_known = config->magic == 0xcafebeef && config->size == 24 && config->version == 21400;
  return note("open " + text(size) + text(rank) + id.bytes[0] + (is_known && config->blocking == 0 ? "" : " waits"),
              stand_in_result);
}
nccl::Result ncclCommGetAsyncError(nccl::Communicator, nccl::Result* state) {
  *state = stand_in_state;
  return nccl::kSuccess;
}
nccl::Result ncclCommFinalize(nccl::Communicator) { return note("finalize", nccl::kInProgress); }
nccl::Result ncclCommDestroy(nccl::Communicator) { return note("destroy", nccl::kSuccess); }
nccl::Result ncclCommAbort(nccl::Communicator) { return note("abort", nccl::kSuccess); }
nccl::Result ncclGroupStart() { return note("start", nccl::kSuccess); }
nccl::Result ncclGroupEnd() { return note("end", nccl::kInProgress); }
nccl::Result ncclReduce(const void* in, void*, size_t count, nccl::Type type, nccl::Reduction by, int root,
                        nccl::Communicator, cudaStream_t) {
  return note("reduce " + text(reinterpret_cast<size_t>(in)) + text(count) + text(type) + text(by) + text(root),
              stand_in_result);
}
nccl::Result ncclAllReduce(const void*, void*, size_t count, nccl::Type type, nccl::Reduction by, nccl::Communicator,
                           cudaStream_t stream) {
  return note("all_reduce " + text(count) + text(type) + text(by) + text(reinterpret_cast<size_t>(stream)),
              stand_in_result);
}
nccl::Result ncclReduceScatter(const void*, void*, size_t count, nccl::Type type, nccl::Reduction by,
                               nccl::Communicator, cudaStream_t) {
  return note("reduce_scatter " + text(count) + text(type) + text(by), stand_in_result);
}
nccl::Result ncclAllGather(const void*, void*, size_t count, nccl::Type type, nccl::Communicator, cudaStream_t) {
  return note("all_gather " + text(count) + text(type), stand_in_result);
}
nccl::Result ncclBroadcast(const void*, void* out, size_t count, nccl::Type type, int root, nccl::Communicator,
                           cudaStream_t) {
  return note("broadcast " + text(reinterpret_cast<size_t>(out)) + text(count) + text(type) + text(root),
              stand_in_result);
}
nccl::Result ncclSend(const void* in, size_t count, nccl::Type, int peer, nccl::Communicator, cudaStream_t) {
  return note("send " + text(reinterpret_cast<size_t>(in)) + text(count) + text(peer), stand_in_result);
}
nccl::Result ncclRecv(void* out, size_t count, nccl::Type, int peer, nccl::Communicator, cudaStream_t) {
  return note("recv " + text(reinterpret_cast<size_t>(out)) + text(count) + text(peer), stand_in_result);
}

}  // extern "C"
