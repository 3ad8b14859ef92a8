#include "capi/side_library.h"

#include <dlfcn.h>

#include "device/plugin_loading.h"

namespace oneflow {

void* SideLibrary::find(const char* symbol) {
  void* library = handle_.load();
  if (!library) {
    const std::string path = own_folder() / ("liboneflow_" + std::string(name_) + ".so");
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(OF_UNSUPPORTED, "%s cannot be loaded: %s", what_, dlerror());
    handle_.store(library);
  }
  void* const found = dlsym(library, symbol);
  if (!found) fail(OF_INTERNAL_ERROR, "%s does not have %s: it is of another version", what_, symbol);
  return found;
}

}  // namespace oneflow
