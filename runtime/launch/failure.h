// A failure of oneflow-run itself: the text for its user and the exit status.
#ifndef ONEFLOW_LAUNCH_FAILURE_H_
#define ONEFLOW_LAUNCH_FAILURE_H_

#include <cstring>
#include <stdexcept>
#include <string>

namespace oneflow::launch {

// The exit statuses of shells for commands that they cannot run.
constexpr int kWrongUsage = 2, kNotExecutable = 126, kNotFound = 127;

class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& text, int status = 1) : std::runtime_error(text), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

// Throws a Failure that ends with the text of an error of the system: "cannot fork: Resource temporarily unavailable".
[[noreturn]] inline void fail_with(int error, const std::string& what) {
  throw Failure(what + ": " + std::strerror(error));
}

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_FAILURE_H_
