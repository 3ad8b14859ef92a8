#include "api_version.h"

#include <dlfcn.h>
#include <node_api.h>

#include <climits>
#include <cstdlib>

namespace oneflow::node {

bool finalizers_run_during_collection() {
  // This function came to Node.js together with the finalizers that may have to call it.
  static const bool has_them =
      std::getenv("ONEFLOW_STABLE_NODE_API") == nullptr && dlsym(RTLD_DEFAULT, "node_api_post_finalizer") != nullptr;
  return has_them;
}

}  // namespace oneflow::node

// Node.js calls this function before it initializes the addon. NAPI_EXPERIMENTAL stands for this number in its headers.
extern "C" NAPI_MODULE_EXPORT int32_t node_api_module_get_api_version_v1() {
  return oneflow::node::finalizers_run_during_collection() ? INT_MAX : NAPI_VERSION;
}
