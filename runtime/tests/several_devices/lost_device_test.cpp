// Tests a permanently lost device. Each test runs in a separate process.
#include <oneflow/oneflow.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/several_devices/devices.h"

namespace oneflow {
namespace {

const Failure kLost{OF_DEVICE_ERROR, "accel:0 is lost: it was told to die"};
Failure lost_in(const std::string& op) { return {kLost.status, op + ": " + kLost.text}; }

TensorRef two(of_device device) { return make_tensor({2}, {1, 2}, OF_FLOAT32, device); }

// Makes the first accelerator die while it runs a kernel, which synchronize() reports.
void lose_the_first() {
  const TensorRef x = two(accel(0));
  lose_at_next_task(0);
  const TensorRef y = neg(x);
  EXPECT_EQ(failure_of([&] { get_device(accel(0)).synchronize(); }).status, OF_DEVICE_ERROR);
}

TEST(LostDeviceTest, EveryLaterCallFails) {
  in_its_own_process([] {
    const TensorRef x = two(accel(0)), other = two(accel(1)), here = two(cpu());
    lose_the_first();
    static const OperatorName kExp("exp"), kToDevice("to_device");
    EXPECT_EQ(failure_of([&] { mul(x, x); }), lost_in("mul"));
    EXPECT_EQ(failure_of([&] { call_operator(kExp, x); }), lost_in("exp"));
    of_value argument = to_value(x), result = to_value(x);
    static const OperatorName kNeg("neg");
    EXPECT_EQ(failure_of([&] { call(*kNeg, {&argument, 1}, {&result, 1}); }), lost_in("neg"));
    EXPECT_EQ(failure_of([&] { call_operator(kToDevice, x, cpu()); }), lost_in("to_device"));
    EXPECT_EQ(failure_of([&] { call_operator(kToDevice, here, accel(0)); }), lost_in("to_device"));
    EXPECT_EQ(failure_of([&] { call_operator(kToDevice, other, accel(0)); }), lost_in("to_device"));
    EXPECT_EQ(failure_of([&] { values(*x); }), kLost);
    EXPECT_EQ(failure_of([&] { two(accel(0)); }), kLost);
    EXPECT_EQ(failure_of([&] { Tensor::allocate(Shape{3}, OF_INT64, accel(0)); }), kLost);
    EXPECT_EQ(failure_of([&] { fill_bytes(accel(0), const_cast<void*>(x->data()), 0, 4); }), kLost);
    of_device_properties properties{};
    properties.struct_size = sizeof(properties);
    EXPECT_EQ(of_device_get_properties(accel(0), &properties), OF_DEVICE_ERROR);
    EXPECT_EQ(of_last_error(), kLost.text);
    EXPECT_EQ(of_synchronize(accel(0)), OF_DEVICE_ERROR);
    EXPECT_EQ(of_set_default_device(accel(0)), OF_DEVICE_ERROR);
  });
}

TEST(LostDeviceTest, OtherDevicesContinueToWork) {
  in_its_own_process([] {
    const TensorRef other = two(accel(1));
    lose_the_first();
    EXPECT_EQ(values(*mul(other, other)), (Values{1, 4}));
    EXPECT_EQ(values(*copy_to_device(*other, cpu())), (Values{1, 2}));
    EXPECT_EQ(values(*copy_to_device(*other, far())), (Values{1, 2}));
    set_option("num_threads", 2);
    // Page-locked memory comes from the next device that offers it.
    static const OperatorName kPinMemory("pin_memory");
    EXPECT_EQ(values(*call_operator(kPinMemory, two(cpu()))), (Values{1, 2}));
    EXPECT_GT(get_accel("used_host_memory", 1), 0);
  });
}

TEST(LostDeviceTest, ItsMemoryIsNotFreed) {
  in_its_own_process([] {
    {
      static const OperatorName kPinMemory("pin_memory");
      const TensorRef small = two(accel(0)), pinned = call_operator(kPinMemory, two(cpu()));
      const TensorRef large = Tensor::allocate(Shape{1 << 20}, OF_FLOAT32, accel(0));
      lose_the_first();
    }
    const int64_t before = get_accel("used_memory", 0), pinned_before = get_accel("used_host_memory", 0);
    EXPECT_GT(before, 1 << 22);
    EXPECT_EQ(of_empty_cache(accel(0)), OF_OK);
    EXPECT_EQ(get_accel("used_memory", 0), before);
    EXPECT_EQ(get_accel("used_host_memory", 0), pinned_before);
    of_memory_statistics statistics{};
    statistics.struct_size = sizeof(statistics);
    EXPECT_EQ(of_get_memory_statistics(accel(0), &statistics), OF_OK);
    EXPECT_EQ(statistics.in_use, 0u);
    EXPECT_EQ(statistics.tensors, 0u);
  });
}

TEST(LostDeviceTest, DuringACopyBetweenDevices) {
  in_its_own_process([] {
    const TensorRef source = Tensor::allocate(Shape{10 << 20}, OF_UINT8, far());
    lose_at_next_task(0);
    EXPECT_EQ(failure_of([&] { copy_to_device(*source, accel(0)); }).status, OF_DEVICE_ERROR);
    EXPECT_EQ(failure_of([&] { copy_to_device(*source, accel(0)); }), kLost);
    EXPECT_EQ(copy_to_device(*source, accel(1))->count(), 10 << 20);
  });
}

TEST(LostDeviceTest, WhileItsPeerWaits) {
  in_its_own_process([] {
    const TensorRef x = two(accel(0));
    neg(two(accel(1)));
    lose_at_next_task(0);
    set_accel("hold", 1, 0);
    const TensorRef there = copy_to_device(*neg(x), accel(1));
    set_accel("hold", 0, 0);
    EXPECT_EQ(failure_of([] { get_device(accel(1)).synchronize(); }), kLost);  // the copied data is undefined
    EXPECT_EQ(there->count(), 2);
    EXPECT_EQ(values(*neg(two(accel(1)))), (Values{-1, -2}));
    EXPECT_EQ(failure_of([&] { values(*x); }).status, OF_DEVICE_ERROR);
  });
}

// A forked process has the device's memory, but not its threads.
TEST(LostDeviceTest, InAForkedProcess) {
  in_its_own_process([] {
    const TensorRef x = two(accel(0)), here = two(cpu());
    const pid_t child = fork();
    if (child == 0) {
      const bool is_lost = failure_of([&] { values(*x); }).text ==
                           "accel:0 is lost: it was used before the process "
                           "was forked";
      const bool works = values(*mul(here, here)) == Values{1, 4};
      _exit(is_lost && works ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(values(*x), (Values{1, 2}));
  });
}

}  // namespace
}  // namespace oneflow
