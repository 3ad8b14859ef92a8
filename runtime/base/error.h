// Failures inside the runtime: thrown as Error, turned into an of_status with a thread-local text at the C boundary.
#ifndef ONEFLOW_BASE_ERROR_H_
#define ONEFLOW_BASE_ERROR_H_

#include <oneflow/types.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

namespace oneflow {

// The one exception type of the runtime.
class Error : public std::exception {
 public:
  Error(of_status status, std::string text, bool is_complete = false)
      : status_(status), text_(std::move(text)), is_complete_(is_complete) {}

  of_status status() const { return status_; }
  const std::string& text() const { return text_; }
  // Whether the text begins with an operator already, an earlier one: no other name belongs in front.
  bool is_complete() const { return is_complete_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  of_status status_;
  std::string text_;
  bool is_complete_;
};

// printf into a string.
std::string format_text(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Throws Error with a printf-formatted text: fail(OF_SHAPE_ERROR, "size must not be negative, got %ld", n).
[[noreturn]] void fail(of_status status, const char* format, ...) __attribute__((format(printf, 2, 3), cold));

// "ShapeError" for OF_SHAPE_ERROR; "UnknownError" for a number that is no status.
const char* status_name(of_status status) noexcept;

// This thread's last failure. All are safe without memory: a text that cannot be stored is cut.
const char* last_error() noexcept;
bool last_error_is_complete() noexcept;
of_status set_last_error(of_status status, const char* text) noexcept;

// The same for a device hook, whose failure check() is to throw.
of_status set_device_error(of_status status, const char* text) noexcept;

// Throws the failure that a device hook returned, with the text that it left behind.
[[noreturn]] void fail_by_device(of_status status, bool is_complete = false);
// Drops that text, where a failure is none after all.
void forget_device_error() noexcept;
inline void check(of_status status) {
  if (status != OF_OK) [[unlikely]]
    fail_by_device(status);
}

// Turns the exception being handled into a status and the thread's error text. Call it in a catch block only.
of_status record_current_exception() noexcept;

// Runs `body` at the C boundary: no exception crosses.
template <class Body>
of_status guard(Body&& body) noexcept {
  try {
    body();
    return OF_OK;
  } catch (...) {
    return record_current_exception();
  }
}

}  // namespace oneflow

#endif  // ONEFLOW_BASE_ERROR_H_
