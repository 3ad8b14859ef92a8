#include "files/system_error.h"

#include <cerrno>
#include <new>
#include <system_error>

#include "base/characters.h"
#include "base/error.h"

namespace oneflow::files {

void fail_with_errno(const std::string& path, const char* what) {
  const int number = errno;
  if (number == ENOMEM) throw std::bad_alloc();
  fail(OF_FILE_ERROR, "'%s' %s: %s", printable(path).c_str(), what, std::system_category().message(number).c_str());
}

}  // namespace oneflow::files
