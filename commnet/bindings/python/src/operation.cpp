#include "operation.h"

#include <algorithm>
#include <chrono>

#include "endpoint.h"
#include "errors.h"

namespace py = pybind11;

namespace commnet_python {

namespace {

using Clock = std::chrono::steady_clock;

// For how long a wait does not look for signals, such as that of Ctrl+C.
constexpr std::chrono::milliseconds kPatience{100};

}  // namespace

bool Operation::is_done() {
  if (is_settled_) return true;
  if (!cn_test(handle_, nullptr)) return false;
  buffer_.release();
  return true;
}

void Operation::wait(std::optional<uint32_t> timeout_ms) {
  const Clock::time_point until =
      timeout_ms ? Clock::now() + std::chrono::milliseconds(*timeout_ms) : Clock::time_point::max();
  while (!is_done()) {
    if (endpoint_->is_abandoned()) raise(CN_CLOSED, "the endpoint belongs to the parent of this process");
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left <= left.zero()) raise(CN_TIMED_OUT, "the operation goes on");
    {
      const py::gil_scoped_release released;
      cn_wait(handle_, std::min(left, kPatience).count());
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  if (!cn_test(handle_, nullptr)) raise(CN_CANCELLED, "the endpoint was closed");
  check(cn_wait(handle_, 0));
}

void Operation::cancel() {
  if (is_done() || endpoint_->is_abandoned()) return;
  const py::gil_scoped_release released;
  cn_cancel(handle_);
}

bool Operation::add_callback(py::object callback) {
  if (!has_event_ || is_settled_) return false;
  callbacks_.push_back(std::move(callback));
  return true;
}

std::vector<py::object> Operation::settle() {
  is_settled_ = true;
  buffer_.release();
  return std::exchange(callbacks_, {});
}

}  // namespace commnet_python
