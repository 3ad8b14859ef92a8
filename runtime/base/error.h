// Failures inside the runtime: an exception of type Error, which the C API converts to an of_status and a thread-local
// error text.
#ifndef ONEFLOW_BASE_ERROR_H_
#define ONEFLOW_BASE_ERROR_H_

#include <oneflow/types.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

namespace oneflow {

// The exception type of the runtime: a status and an error text.
class Error : public std::exception {
 public:
  Error(of_status status, std::string text, bool is_complete = false)
      : status_(status), text_(std::move(text)), is_complete_(is_complete) {}

  of_status status() const { return status_; }
  const std::string& text() const { return text_; }
  // Returns whether the text already begins with an operator's name, so that no other name may be put before it. This
  // is so for deferred errors of asynchronous work, which name the operator that submitted the work.
  bool is_complete() const { return is_complete_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  of_status status_;
  std::string text_;
  bool is_complete_;
};

// Returns a printf-formatted string.
std::string format_text(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Throws an Error with a printf-formatted text: fail(OF_SHAPE_ERROR, "size must not be negative, got %ld", n).
[[noreturn]] void fail(of_status status, const char* format, ...) __attribute__((format(printf, 2, 3), cold));

// Returns the name of a status: "ShapeError" for OF_SHAPE_ERROR; "UnknownError" for an invalid number.
const char* status_name(of_status status) noexcept;

// Returns the text of the calling thread's last failure; never null. It stays valid until the thread's next failure.
// The functions for error texts also work without free memory.
const char* last_error() noexcept;
// Returns Error::is_complete() of the calling thread's last failure.
bool last_error_is_complete() noexcept;
// Sets the text of the calling thread's last failure, which is cut if it is too long. Returns `status`.
of_status set_last_error(of_status status, const char* text) noexcept;

// Sets the error text on behalf of a device hook or a communicator; check() throws it once that returns. Returns
// `status`.
of_status set_device_error(of_status status, const char* text) noexcept;

// Returns that text; an empty string if there is none.
const char* device_error() noexcept;

// Throws the failure that a device hook returned, with the text that the hook set, if any.
[[noreturn]] void fail_with_device_error(of_status status, bool is_complete = false);
// Discards the text of set_device_error() for a failure that the runtime handles.
void clear_device_error() noexcept;
// Throws the failure of a device hook or a communicator; does nothing for OF_OK.
inline void check(of_status status) {
  if (status != OF_OK) [[unlikely]]
    fail_with_device_error(status);
}

// The text of the calling thread's last failure, for code that handles a later failure: a call that succeeds does not
// change the text.
class KeptError {
 public:
  KeptError() : text_(last_error()), is_complete_(last_error_is_complete()) {}
  void restore() const noexcept;

 private:
  const std::string text_;
  const bool is_complete_;
};

// Converts the current exception to a status, and sets the calling thread's error text. Must be called in a catch
// block.
of_status record_current_exception() noexcept;

// Runs `body` and converts an exception to a status, so that none crosses the C boundary.
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
