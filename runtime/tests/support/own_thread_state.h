// Changes of the state of a thread that end with a test.
#ifndef ONEFLOW_TESTS_SUPPORT_OWN_THREAD_STATE_H_
#define ONEFLOW_TESTS_SUPPORT_OWN_THREAD_STATE_H_

#include <gtest/gtest.h>
#include <oneflow/oneflow.h>

#include "dispatch/thread_context.h"

namespace oneflow {

// The state of the calling thread, which is restored at the end of the object's life.
class OwnThreadState {
 public:
  OwnThreadState() {
    state.struct_size = sizeof state;
    EXPECT_EQ(of_thread_get_state(&state), OF_OK) << of_last_error();
  }

  // Applies the changes that were made to `state`.
  void set() const { ASSERT_EQ(of_thread_set_state(&state), OF_OK) << of_last_error(); }

  of_thread_state state{};

 private:
  const KeptThreadContext kept_;
};

}  // namespace oneflow

#endif  // ONEFLOW_TESTS_SUPPORT_OWN_THREAD_STATE_H_
