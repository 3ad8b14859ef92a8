// Tests several threads that use several devices at the same time.
#include <atomic>
#include <thread>

#include "tests/several_devices/devices.h"

namespace oneflow {
namespace {

class ConcurrencyTest : public AcceleratorTest {
 protected:
  // Runs work(t) in `count` threads.
  template <class Work>
  static void in_threads(int count, Work work) {
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t) threads.emplace_back([&work, t] { work(t); });
    for (std::thread& thread : threads) thread.join();
  }
};

TEST_F(ConcurrencyTest, EveryThreadOnEveryDevice) {
  const of_device devices[] = {cpu(0), cpu(1), far(0), accel(0), accel(1)};
  constexpr int kDevices = std::size(devices);
  std::atomic<int> wrong{0};
  in_threads(4, [&](int t) {
    for (int i = 0; i < 50; ++i) {
      const of_device at = devices[(t + i) % kDevices], next = devices[(t * 3 + i * 2 + 1) % kDevices];
      const double number = t * 100 + i;
      const TensorRef x = make_tensor({3}, {number, 1, 2}, OF_FLOAT32, at);
      const TensorRef y = copy_to_device(*neg(mul(x, x)), next);
      wrong += values(*neg(y)) != Values{number * number, 1, 4};
    }
  });
  EXPECT_EQ(wrong, 0);
}

// Another thread may reuse freed memory, for work that is ordered after the work of the thread that freed it.
TEST_F(ConcurrencyTest, ThreadsReuseEachOthersMemory) {
  std::atomic<int> wrong{0};
  in_threads(4, [&](int t) {
    for (int i = 0; i < 40; ++i) {
      const TensorRef ones = make_tensor({20000}, std::vector<double>(20000, t + 1.0), OF_FLOAT32, accel(i % 2));
      const TensorRef there = copy_to_device(*mul(ones, ones), accel(1 - i % 2));
      const Values found = values(*neg(there));
      for (const double value : found) wrong += value != -(t + 1.0) * (t + 1.0);
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_F(ConcurrencyTest, ErrorsAreReportedToSomeThread) {
  std::atomic<int> found{0}, others{0};
  set_accel("fail_kernels", 10);
  in_threads(4, [&](int t) {
    for (int i = 0; i < 25; ++i) {
      const Failure failure = failure_of([&] { values(*neg(make_tensor({1}, {2}, OF_FLOAT32, accel((t + i) % 2)))); });
      found += failure.text == "neg: the kernel was told to find bad data";
      others += failure.status != OF_OK && failure.status != OF_INVALID_ARGUMENT;
    }
  });
  // Several errors before a synchronization are reported once.
  EXPECT_GE(found, 1);
  EXPECT_LE(found, 20);
  EXPECT_EQ(others, 0);
}

TEST_F(ConcurrencyTest, SomeAllocationsRunOutOfMemory) {
  set_accel("capacity", 8 << 20);
  std::atomic<int> wrong{0};
  in_threads(4, [&](int t) {
    for (int i = 0; i < 50; ++i) {
      const Failure failure = failure_of([&] {
        const TensorRef x = make_tensor({1 << 18}, std::vector<double>(1 << 18, t), OF_FLOAT32, accel(t % 2));
        const TensorRef y = neg(neg(neg(x)));
        wrong += values(*Tensor::view(*y, {}, {}, 77))[0] != -t;
      });
      wrong += failure.status != OF_OK && failure.status != OF_OUT_OF_MEMORY;
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace oneflow
