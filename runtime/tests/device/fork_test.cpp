// Tests that a process may fork while its other threads hold the runtime's mutexes.
#include <gtest/gtest.h>
#include <oneflow/autograd.h>
#include <oneflow/oneflow.h>
#include <oneflow/profile.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "device/device.h"
#include "dispatch/values.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

void allocate_and_free() {
  for (const int64_t count : {1, 300, 100000}) Tensor::allocate(Shape{count}, OF_FLOAT32, {});
  get_device({}).empty_cache();
}

void change_layers() {
  const auto pass_on = [](void*, of_layer_call* call) { return of_layer_next(call, OF_BODY_SEEN); };
  of_layer_install(OF_LAYER_SHARDING, OF_LAYER_ALL_CALLS, pass_on, nullptr);
  of_layer_remove(OF_LAYER_SHARDING);
}

// In the child of a fork during a profile, the profile of the other thread is still there, and none can begin.
void profile() {
  of_profile profile = nullptr;
  of_profile_begin(&profile);
  const TensorRef x = make_tensor({2}, {1, 2});
  const of_value argument = to_value(x);
  of_value result{};
  EXPECT_EQ(of_call(of_op_find("neg"), &argument, 1, &result, 1), OF_OK);
  of_value_release(&result);
  of_profile_release(profile);
}

void look_for_devices() {
  of_device device;
  EXPECT_EQ(of_device_parse("missing:0", &device), OF_DEVICE_ERROR);
  EXPECT_EQ(of_device_parse("cpu:0", &device), OF_OK);
}

void start_a_thread() {
  std::thread([] { make_tensor({2}, {1, 2}); }).join();
}

// The leaf is that of all threads. A child may find its gradient half added, but can go on.
void add_gradients() {
  static const TensorRef x = [] {
    TensorRef leaf = make_tensor({2}, {1, 2});
    EXPECT_EQ(of_tensor_set_requires_grad(to_handle(leaf.get()), true), OF_OK);
    return leaf;
  }();
  const of_tensor root = to_handle(x.get()), grad = root;
  EXPECT_EQ(of_backward(&root, &grad, 1, nullptr), OF_OK) << of_last_error();
}

TEST(Fork, LeavesNoMutexLockedInTheChild) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "AddressSanitizer's own locks, those of its allocator and of its list of threads, do not survive a fork";
#endif
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "a child of several threads must not start threads under ThreadSanitizer";
#endif
  const std::vector<std::function<void()>> works = {allocate_and_free, change_layers,  look_for_devices,
                                                    profile,           start_a_thread, add_gradients};
  add_gradients();  // initializes the leaf, which no child can wait for
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (const auto& work : works)
    threads.emplace_back([&] {
      while (!is_over) work();
    });
  int failures = 0;
  for (int i = 0; i < 40; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);  // ends a child that waits for a mutex
      for (const auto& work : works) work();
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    failures += status != 0;
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

// The first search for devices, which a child may begin although its parent has never searched.
TEST(Fork, LetsTheChildLookForDevices) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    look_for_devices();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace oneflow
