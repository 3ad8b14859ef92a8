#include "base/shared_library.h"

#include <dlfcn.h>
#include <sys/stat.h>

namespace oneflow {

void* load_shared_library(const std::string& path, std::string* reason) {
  struct stat status {};
  // The loader would wait for a writer of a pipe.
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    *reason = "it is not a regular file";
    return nullptr;
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) *reason = dlerror();
  return library;
}

}  // namespace oneflow
