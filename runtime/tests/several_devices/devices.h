// The devices of these tests, and the options of the test accelerator.
#ifndef ONEFLOW_TESTS_SEVERAL_DEVICES_DEVICES_H_
#define ONEFLOW_TESTS_SEVERAL_DEVICES_DEVICES_H_

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/copy.h"
#include "device/device.h"
#include "device/options.h"
#include "dispatch/dispatch.h"
#include "tests/support/test_tensors.h"

namespace oneflow {

using Values = std::vector<double>;

inline of_device cpu(int index = 0) { return parse_device(format_text("cpu:%d", index)); }
inline of_device far(int index = 0) { return parse_device(format_text("far:%d", index)); }
inline of_device accel(int index = 0) { return parse_device(format_text("accel:%d", index)); }

// Returns the name of an option of one accelerator, or of both (-1); see tests/accelerator.
inline std::string option_name(const char* setting, int device) {
  return device < 0 ? format_text("accel_%s", setting) : format_text("accel_%s:%d", setting, device);
}
inline void set_accel(const char* setting, int64_t value, int device = -1) {
  set_option(option_name(setting, device).c_str(), value);
}
inline int64_t get_accel(const char* setting, int device = -1) {
  return get_option(option_name(setting, device).c_str());
}

// The status and the text of an error; the default is no error.
struct Failure {
  of_status status = OF_OK;
  std::string text;
  bool operator==(const Failure&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Failure& failure) {
  return out << status_name(failure.status) << ": " << failure.text;
}

// Returns the error that `body` throws.
template <class Body>
Failure failure_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return {error.status(), error.text()};
  }
  return {};
}

// Makes the accelerator die at its next task. Tasks of earlier calls are finished first.
inline void lose_at_next_task(int device) {
  get_device(accel(device)).synchronize();
  set_accel("lose", 1, device);
}

// Runs `body`, which may lose a device, in a separate process. Failed expectations in it fail the test.
template <class Body>
void in_its_own_process(Body&& body) {
  const auto run = [&] {
    body();
    std::fflush(nullptr);
    std::_Exit(testing::Test::HasFailure());
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

inline TensorRef mul(const TensorRef& a, const TensorRef& b) {
  static const OperatorName name("mul");
  return call_operator(name, a, b);
}
inline TensorRef neg(const TensorRef& a) {
  static const OperatorName name("neg");
  return call_operator(name, a);
}
inline uint64_t fallbacks(const char* name) { return find_operator(name)->fallbacks(); }

// Checks after each test that the accelerators have no pending faults or errors and no allocated memory.
class AcceleratorTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* setting :
         {"fail_allocations", "empty_allocations", "fail_host_allocations", "fail_copies", "fail_silently",
          "fail_lookups", "fail_kernels", "fail_info", "endless_name", "lose", "hold", "slow"}) {
      EXPECT_EQ(get_accel(setting), 0) << setting << " is still set";
      set_accel(setting, 0);
    }
    set_accel("capacity", int64_t{256} << 20);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(failure_of([&] { get_device(accel(i)).synchronize(); }), Failure());
      get_device(accel(i)).empty_cache();
    }
    EXPECT_EQ(get_accel("used_memory"), 0);
    EXPECT_EQ(get_accel("used_host_memory"), 0);
  }
};

}  // namespace oneflow

#endif  // ONEFLOW_TESTS_SEVERAL_DEVICES_DEVICES_H_
