#include "nccl.h"

#include <dlfcn.h>

#include <string>
#include <type_traits>

namespace oneflow::cuda::nccl {
namespace {

constexpr const char* kFile = "libnccl.so.2";
constexpr int kOldest = 21400;  // the first one that opens communicators without waiting

struct Found {
  const Library* library = nullptr;
  std::string why_none, version;
};

Found load() {
  Found found;
  // Preferably the one that the process has loaded already.
  void* file = dlopen(kFile, RTLD_NOLOAD | RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) file = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) {
    found.why_none = std::string(kFile) + " of NCCL was not found; install NCCL, or name its folder in LD_LIBRARY_PATH";
    return found;
  }
  static Library library{};
  const char* missing = nullptr;
  const auto take = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(file, name));
    if (function == nullptr) missing = name;
  };
#define OF_TAKE(name) take(library.name, #name)
  OF_TAKE(ncclGetVersion);
  OF_TAKE(ncclGetErrorString);
  OF_TAKE(ncclGetUniqueId);
  OF_TAKE(ncclCommInitRankConfig);
  OF_TAKE(ncclCommGetAsyncError);
  OF_TAKE(ncclCommFinalize);
  OF_TAKE(ncclCommDestroy);
  OF_TAKE(ncclCommAbort);
  OF_TAKE(ncclGroupStart);
  OF_TAKE(ncclGroupEnd);
  OF_TAKE(ncclReduce);
  OF_TAKE(ncclAllReduce);
  OF_TAKE(ncclReduceScatter);
  OF_TAKE(ncclAllGather);
  OF_TAKE(ncclBroadcast);
  OF_TAKE(ncclSend);
  OF_TAKE(ncclRecv);
#undef OF_TAKE
  int version = 0;
  if (missing != nullptr || library.ncclGetVersion(&version) != kSuccess || version < kOldest) {
    found.why_none = std::string(kFile) + " is older than version 2.14 of NCCL; install a newer one";
    return found;
  }
  found.version = "nccl " + std::to_string(version / 10000) + '.' + std::to_string(version / 100 % 100);
  found.library = &library;
  return found;
}

const Found& found() {
  static const Found& found = *new Found(load());
  return found;
}

}  // namespace

const Library* library() { return found().library; }
const char* why_none() { return found().why_none.c_str(); }
const char* version() { return found().version.c_str(); }

}  // namespace oneflow::cuda::nccl
