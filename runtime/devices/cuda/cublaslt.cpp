#include "cublaslt.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <type_traits>

namespace oneflow::cuda::lt {
namespace {

constexpr int kVersions[] = {13, 12, 11};

void* open(const std::string& path, int mode) { return dlopen(path.c_str(), mode | RTLD_NOW | RTLD_LOCAL); }

// Opens the library: preferably the one that the process has loaded already, then the system's, then the toolkit's.
void* find() {
  for (const int mode : {RTLD_NOLOAD, 0}) {
    for (const int version : kVersions) {
      if (void* found = open("libcublasLt.so." + std::to_string(version), mode); found != nullptr) return found;
    }
  }
  const char* toolkit = std::getenv("CUDA_PATH");
  return open(std::string(toolkit != nullptr ? toolkit : "/usr/local/cuda") + "/lib64/libcublasLt.so", 0);
}

const Library* load() {
  void* file = find();
  if (file == nullptr) return nullptr;
  static Library library{};
  bool is_complete = true;
  const auto take = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(file, name));
    is_complete = is_complete && function != nullptr;
  };
#define OF_TAKE(name) take(library.name, #name)
  OF_TAKE(cublasLtCreate);
  OF_TAKE(cublasLtMatmulDescCreate);
  OF_TAKE(cublasLtMatmulDescDestroy);
  OF_TAKE(cublasLtMatmulDescSetAttribute);
  OF_TAKE(cublasLtMatrixLayoutCreate);
  OF_TAKE(cublasLtMatrixLayoutDestroy);
  OF_TAKE(cublasLtMatrixLayoutSetAttribute);
  OF_TAKE(cublasLtMatmulPreferenceCreate);
  OF_TAKE(cublasLtMatmulPreferenceDestroy);
  OF_TAKE(cublasLtMatmulPreferenceSetAttribute);
  OF_TAKE(cublasLtMatmulAlgoGetHeuristic);
  OF_TAKE(cublasLtMatmul);
#undef OF_TAKE
  return is_complete ? &library : nullptr;
}

}  // namespace

const Library* library() {
  static const Library* const found = load();
  return found;
}

}  // namespace oneflow::cuda::lt
