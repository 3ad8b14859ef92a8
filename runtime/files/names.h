// Names of tensors, keys and metadata.
#ifndef ONEFLOW_FILES_NAMES_H_
#define ONEFLOW_FILES_NAMES_H_

#include <string_view>

namespace oneflow::files {

// Throws InvalidArgument unless a string is UTF-8 without null bytes. `what` begins the error text: "a key".
void check_name(const char* what, std::string_view text);

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_NAMES_H_
