// Tests ONEFLOW_CPU_DEVICES=4: devices that share the cores, with separate allocators.
#include <thread>

#include "tests/several_devices/devices.h"

namespace oneflow {
namespace {

const OperatorName kMatmul("matmul");
const OperatorName kSum("sum");

TEST(CpuDevicesTest, TheEnvironmentSetsTheirNumber) {
  EXPECT_EQ(device_name(cpu(3)), "cpu:3");
  EXPECT_EQ(failure_of([] { cpu(4); }).status, OF_DEVICE_ERROR);
  // The variable is read once, when the first device is used.
  setenv("ONEFLOW_CPU_DEVICES", "8", 1);
  EXPECT_EQ(failure_of([] { cpu(4); }).status, OF_DEVICE_ERROR);
  setenv("ONEFLOW_CPU_DEVICES", "4", 1);
}

TEST(CpuDevicesTest, HaveSeparateAllocators) {
  const auto in_use = [](int index) { return get_device(cpu(index)).allocator().statistics().in_use; };
  const uint64_t first = in_use(1), second = in_use(2);
  const TensorRef x = Tensor::allocate(Shape{1 << 20}, OF_FLOAT32, cpu(1));
  EXPECT_EQ(in_use(1) - first, 4u << 20);
  EXPECT_EQ(in_use(2), second);
  get_device(cpu(2)).allocator().set_limit(1 << 20);
  EXPECT_EQ(failure_of([&] { copy_to_device(*x, cpu(2)); }).status, OF_OUT_OF_MEMORY);
  get_device(cpu(2)).allocator().set_limit(0);
  EXPECT_TRUE(copy_to_device(*x, cpu(2))->device() == cpu(2));
}

// Each thread moves its tensor from device to device, so that all threads use all devices.
TEST(CpuDevicesTest, SeveralThreadsUseSeveralDevices) {
  constexpr int kThreads = 4, kRounds = 40;
  const TensorRef start = make_tensor({64, 64}, std::vector<double>(64 * 64, 1.0 / 64), OF_FLOAT32, cpu(0));
  std::vector<double> sums(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      TensorRef x = copy_to_device(*start, cpu(t));
      for (int i = 1; i <= kRounds; ++i)
        x = call_operator(kMatmul, copy_to_device(*x, cpu((t + i) % 4)), copy_to_device(*start, cpu((t + i) % 4)));
      sums[t] = values(*call_operator(kSum, x))[0];
    });
  for (std::thread& thread : threads) thread.join();
  for (const double sum : sums) EXPECT_NEAR(sum, 64, 1e-3);
}

}  // namespace
}  // namespace oneflow
