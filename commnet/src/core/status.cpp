#include "core/status.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

namespace commnet {

namespace {

constexpr size_t kLongestText = 512;
// An array, so that errors can be kept without memory.
thread_local char last_error[kLongestText];

}  // namespace

void fail(cn_status status, const char* format, ...) {
  char text[kLongestText];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  throw Error(status, text);
}

void fail_with_errno(const char* what) { fail(CN_SYSTEM_ERROR, "%s: %s", what, std::strerror(errno)); }

cn_status set_error(cn_status status, const char* text) noexcept {
  std::snprintf(last_error, sizeof last_error, "%s", text);
  return status;
}

cn_status set_error_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return set_error(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return set_error(CN_OUT_OF_MEMORY, "not enough memory");
  } catch (const std::exception& error) {
    return set_error(CN_INTERNAL_ERROR, error.what());
  } catch (...) {
    return set_error(CN_INTERNAL_ERROR, "an unknown exception");
  }
}

}  // namespace commnet

extern "C" {

const char* cn_error(void) { return commnet::last_error; }

const char* cn_status_name(cn_status status) {
  static constexpr const char* kNames[] = {"OK",          "INVALID_ARGUMENT", "DENIED",        "OUT_OF_RANGE",
                                           "UNREACHABLE", "PEER_LOST",        "TIMED_OUT",     "CANCELLED",
                                           "FULL",        "NO_HANDLER",       "OUT_OF_MEMORY", "CLOSED",
                                           "UNSUPPORTED", "SYSTEM_ERROR",     "INTERNAL_ERROR"};
  const auto number = static_cast<size_t>(status);
  return number < sizeof kNames / sizeof *kNames ? kNames[number] : "UNKNOWN";
}

const char* cn_version(void) { return COMMNET_VERSION; }

}  // extern "C"
