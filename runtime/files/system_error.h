// Failures that the operating system reports for a file.
#ifndef ONEFLOW_FILES_SYSTEM_ERROR_H_
#define ONEFLOW_FILES_SYSTEM_ERROR_H_

#include <string>

namespace oneflow::files {

// Throws FileError "'<path>' <what>: <the text for errno>", as in "'a.npy' cannot be opened: No such file or
// directory".
[[noreturn]] void fail_with_errno(const std::string& path, const char* what);

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_SYSTEM_ERROR_H_
