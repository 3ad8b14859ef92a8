// Makes allocations on the host fail, one after another.
#ifndef ONEFLOW_TESTS_SUPPORT_OUT_OF_MEMORY_H_
#define ONEFLOW_TESTS_SUPPORT_OUT_OF_MEMORY_H_

#include <gtest/gtest.h>
#include <oneflow/oneflow.h>

#include <functional>

#include "tests/support/failing_new.h"

namespace oneflow {

// Runs `call` repeatedly, with the first, second … allocation and all later ones failing, until it returns `success`,
// its status with enough memory. Beyond 2000 allocations, not every one fails. Returns the number of runs that failed.
inline int fail_at_each_allocation(const std::function<of_status()>& call, of_status success = OF_OK) {
  constexpr int kMost = 1'000'000, kAll = 2000;
  int failed = 0;
  for (int allowed = 0; allowed < kMost; allowed += 1 + (allowed > kAll ? allowed / 100 : 0), ++failed) {
    allow_allocations(allowed);
    const of_status status = call();
    allow_allocations(-1);
    if (status == success) return failed;
    EXPECT_EQ(status, OF_OUT_OF_MEMORY) << of_last_error();
    if (testing::Test::HasFailure()) return failed;
  }
  ADD_FAILURE() << "never succeeded";
  return -1;
}

inline of_value tensor_value(of_tensor tensor) { return {OF_VALUE_TENSOR, 0, {.tensor = tensor}}; }

// A tensor that is released at the end of a run.
struct Kept {
  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() { of_tensor_release(tensor); }
  of_tensor tensor = nullptr;
};

}  // namespace oneflow

#endif  // ONEFLOW_TESTS_SUPPORT_OUT_OF_MEMORY_H_
