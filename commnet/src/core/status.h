// Errors: exceptions inside of the library, statuses with a text for each thread outside.
#ifndef COMMNET_CORE_STATUS_H_
#define COMMNET_CORE_STATUS_H_

#include <commnet/commnet.h>

#include <exception>
#include <string>

namespace commnet {

class Error : public std::exception {
 public:
  Error(cn_status status, std::string text) : status_(status), text_(std::move(text)) {}

  cn_status status() const { return status_; }
  const std::string& text() const { return text_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  cn_status status_;
  std::string text_;
};

// Throws an Error with a text in the manner of printf.
[[noreturn, gnu::format(printf, 2, 3)]] void fail(cn_status status, const char* format, ...);
// Throws a CN_SYSTEM_ERROR "what: the text of errno".
[[noreturn]] void fail_with_errno(const char* what);

// Keeps the text for cn_error() on this thread, and returns the status.
cn_status set_error(cn_status status, const char* text) noexcept;
// Does so for the exception that is being handled.
cn_status set_error_of_exception() noexcept;

// Runs the body of a function of the C API.
template <class Body>
cn_status guarded(Body&& body) noexcept {
  try {
    body();
    return CN_OK;
  } catch (...) {
    return set_error_of_exception();
  }
}

}  // namespace commnet

#endif  // COMMNET_CORE_STATUS_H_
