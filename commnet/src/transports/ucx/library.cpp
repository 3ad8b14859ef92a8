#include "transports/ucx/library.h"

#include <dlfcn.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "core/status.h"

namespace commnet::ucx {

namespace {

constexpr const char* kFile = "libucp.so.0";

// Keeps the program's signal handlers: UCX sets its own ones when it is loaded.
class KeptSignals {
 public:
  KeptSignals() {
    for (size_t i = 0; i < kNumbers.size(); ++i) sigaction(kNumbers[i], nullptr, &actions_[i]);
  }
  ~KeptSignals() {
    for (size_t i = 0; i < kNumbers.size(); ++i) sigaction(kNumbers[i], &actions_[i], nullptr);
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  static constexpr std::array kNumbers{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  std::array<struct sigaction, kNumbers.size()> actions_{};
};

void* open_file() {
  // A program that uses UCX itself has set it up as it wants.
  if (void* const loaded = dlopen(kFile, RTLD_NOW | RTLD_NOLOAD)) return loaded;
  const KeptSignals signals;
  void* const file = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (!file) fail(CN_UNSUPPORTED, "UCX is not installed: %s", dlerror());
  // Its messages would go to the standard output. What matters becomes the text of an error.
  using SetOption = ucs_status_t (*)(const char*, const char*);
  const auto set = reinterpret_cast<SetOption>(dlsym(file, "ucs_global_opts_set_value"));
  if (set && !std::getenv("UCX_LOG_LEVEL")) set("LOG_LEVEL", "fatal");
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
