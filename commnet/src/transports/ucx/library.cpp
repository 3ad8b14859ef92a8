#include "transports/ucx/library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "core/status.h"

namespace commnet::ucx {

namespace {

constexpr const char* kFile = "libucp.so.0";

// A variable of the environment, set as long as this lives, unless the user has set it. UCX reads these when it is
// loaded.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name), is_ours_(!std::getenv(name)) {
    if (is_ours_) setenv(name, value, 1);
  }
  ~Setting() {
    if (is_ours_) unsetenv(name_);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  bool is_ours_;
};

void* open_file() {
  // A program that uses UCX itself has set it up as it wants.
  if (void* const loaded = dlopen(kFile, RTLD_NOW | RTLD_NOLOAD)) return loaded;
  // It would replace the program's signal handlers.
  const Setting signals("UCX_ERROR_SIGNALS", "");
  // It would replace instructions of mmap, brk and the like, and move the end of the heap back and forth to see whether
  // it hears of that, while other threads allocate memory there.
  const Setting events("UCX_MEM_EVENTS", "no");
  // Its messages would go to the standard output. What matters becomes the text of an error.
  const Setting messages("UCX_LOG_LEVEL", "fatal");
  void* const file = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (!file) fail(CN_UNSUPPORTED, "UCX is not installed: %s", dlerror());
  return file;
}

Library load() {
  void* const file = open_file();
  Library found;
  const auto find = [&]<class Function>(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(file, name));
    if (!function) fail(CN_UNSUPPORTED, "%s is too old: it has no function %s", kFile, name);
  };
#define COMMNET_UCX_FIND(name) find(found.name, #name);
  COMMNET_UCX_FUNCTIONS(COMMNET_UCX_FIND)
#undef COMMNET_UCX_FIND
  unsigned major = 0, minor = 0, release = 0;
  found.ucp_get_version(&major, &minor, &release);
  if (major != kMajor || minor < kMinor)
    fail(CN_UNSUPPORTED, "%s has version %u.%u, at least %u.%u is needed", kFile, major, minor, kMajor, kMinor);
  return found;
}

}  // namespace

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

}  // namespace commnet::ucx
