// Loading of shared libraries that programs name.
#ifndef ONEFLOW_BASE_SHARED_LIBRARY_H_
#define ONEFLOW_BASE_SHARED_LIBRARY_H_

#include <string>

namespace oneflow {

// Loads a shared library, whose symbols are resolved at once and are not visible to others. Returns its handle; NULL,
// and the reason, if it cannot be loaded.
void* load_shared_library(const std::string& path, std::string* reason);

}  // namespace oneflow

#endif  // ONEFLOW_BASE_SHARED_LIBRARY_H_
