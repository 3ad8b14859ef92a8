// Tests copies between devices: between peers, through the host, and with page-locked host memory.
#include <numeric>

#include "tensor/create.h"
#include "tests/several_devices/devices.h"

namespace oneflow {
namespace {

const OperatorName kPinMemory("pin_memory");
const OperatorName kToDevice("to_device");

// Returns a tensor that is copied through the host in several chunks, the last of which is not full.
TensorRef long_tensor(of_device device) {
  std::vector<int32_t> numbers((9 << 20) / 4 + 5);
  std::iota(numbers.begin(), numbers.end(), 0);
  return make_tensor({static_cast<int64_t>(numbers.size())}, numbers.data(), numbers.size() * 4, OF_INT32, device);
}

class CopiesTest : public AcceleratorTest {};

TEST_F(CopiesTest, BetweenAnyTwoDevices) {
  const of_device devices[] = {cpu(0), cpu(3), far(0), far(1), accel(0), accel(1)};
  for (const of_device from : devices) {
    const TensorRef source = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6}, OF_FLOAT32, from);
    const TensorRef transposed = Tensor::view(*source, Shape{3, 2}, Shape{-1, 3}, 2);
    for (const of_device to : devices) {
      const std::string name = device_name(from) + " to " + device_name(to);
      EXPECT_EQ(values(*call_operator(kToDevice, source, to)), (Values{1, 2, 3, 4, 5, 6})) << name;
      EXPECT_EQ(values(*call_operator(kToDevice, transposed, to)), (Values{3, 6, 2, 5, 1, 4})) << name;
    }
  }
}

TEST_F(CopiesTest, InChunks) {
  const of_device devices[] = {cpu(0), far(0), accel(0), accel(1)};
  const TensorRef source = long_tensor(cpu());
  for (const of_device from : devices)
    for (const of_device to : devices) {
      const TensorRef there = copy_to_device(*copy_to_device(*source, from), to);
      EXPECT_TRUE(equal(*source, *there)) << device_name(from) << " to " << device_name(to);
    }
}

// The streams of two devices wait for each other; the host waits for neither.
TEST_F(CopiesTest, PeersWaitForEachOther) {
  const int64_t before = get_accel("peer_copies", 1);
  const TensorRef a = make_tensor({3}, {1, 2, 3}, OF_FLOAT32, accel(0));
  neg(make_tensor({1}, {1}, OF_FLOAT32, accel(1)));  // creates its stream
  set_accel("hold", 1);
  TensorRef b = mul(a, a);
  const TensorRef there = copy_to_device(*b, accel(1));
  const TensorRef result = neg(there);
  // The memory of the source is reused at once, by work that is ordered after the copy.
  b = {};
  const TensorRef later = mul(neg(a), a);
  set_accel("hold", 0, 1);
  EXPECT_EQ(get_accel("peer_copies", 1) - before, 1);
  set_accel("hold", 0, 0);
  EXPECT_EQ(values(*result), (Values{-1, -4, -9}));
  EXPECT_EQ(values(*later), (Values{-1, -4, -9}));
}

TEST_F(CopiesTest, AccessToTheMemoryOfOtherDevices) {
  const auto can = [](of_device a, of_device b) { return get_device(a).can_access(get_device(b)); };
  EXPECT_TRUE(can(cpu(0), cpu(3)));
  EXPECT_TRUE(can(accel(1), accel(1)));
  EXPECT_FALSE(can(accel(0), accel(1)));
  EXPECT_FALSE(can(cpu(0), accel(0)));
}

TEST_F(CopiesTest, FailuresDuringACopy) {
  const TensorRef source = long_tensor(far());
  const TensorRef there = Tensor::allocate(source->sizes(), OF_INT32, accel());
  for (int copies_before = 0; copies_before < 3; ++copies_before) {
    set_accel("fail_copies", 1, 0);
    const Failure failure = failure_of([&] { call_operator(kToDevice, source, accel()); });
    EXPECT_EQ(failure, (Failure{OF_DEVICE_ERROR, "to_device: the copy was told to fail"}));
  }
  set_accel("fail_host_allocations", 2, 0);  // the second attempt follows after the cache was emptied
  get_device(accel()).empty_cache();
  EXPECT_TRUE(equal(*source, *call_operator(kToDevice, source, accel())));  // in ordinary memory
  EXPECT_EQ(get_accel("used_host_memory"), 0);
}

TEST_F(CopiesTest, PageLockedMemory) {
  const TensorRef source = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6}, OF_FLOAT32, cpu(1));
  const TensorRef transposed = Tensor::view(*source, Shape{3, 2}, Shape{1, 3}, 0);
  TensorRef pinned = call_operator(kPinMemory, transposed);
  EXPECT_TRUE(pinned->device() == cpu(1));
  EXPECT_TRUE(pinned->is_contiguous());
  EXPECT_TRUE(pinned->storage()->buffer().is_page_locked());
  EXPECT_FALSE(transposed->storage()->buffer().is_page_locked());
  EXPECT_EQ(values(*pinned), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_GT(get_accel("used_host_memory", 0), 0);  // that of the first device that offers it
  EXPECT_EQ(get_accel("used_host_memory", 1), 0);
  EXPECT_EQ(values(*copy_to_device(*pinned, accel(1))), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(values(*neg(pinned)), (Values{-1, -4, -2, -5, -3, -6}));

  of_value arguments[] = {to_value(transposed), to_value("accel:1")};
  of_value result{};
  call(*kPinMemory, arguments, {&result, 1});
  EXPECT_GT(get_accel("used_host_memory", 1), 0);
  release_value(result);

  // Freed memory stays in the cache until that is emptied.
  pinned = {};
  EXPECT_GT(get_accel("used_host_memory", 0), 0);
  get_device(accel(0)).empty_cache();
  EXPECT_EQ(get_accel("used_host_memory", 0), 0);
}

// A copy on write is in page-locked memory as well.
TEST_F(CopiesTest, PageLockedMemoryIsSharedLazily) {
  const TensorRef pinned = call_operator(kPinMemory, make_tensor({2}, {1, 2}, OF_FLOAT32));
  const TensorRef clone = lazy_clone(*pinned);
  EXPECT_EQ(clone->data(), pinned->data());
  pinned->mutable_data();
  EXPECT_NE(clone->data(), pinned->data());
  EXPECT_TRUE(pinned->storage()->buffer().is_page_locked());
  EXPECT_TRUE(clone->storage()->buffer().is_page_locked());
  EXPECT_EQ(values(*pinned), values(*clone));
}

TEST_F(CopiesTest, PageLockedMemoryIsForHostTensors) {
  const TensorRef there = make_tensor({1}, {1}, OF_FLOAT32, accel(1));
  EXPECT_EQ(failure_of([&] { call_operator(kPinMemory, there); }),
            (Failure{OF_DEVICE_ERROR,
                     "pin_memory: input must be in memory that the host can reach, got a tensor on "
                     "accel:1"}));
  // For a device without such memory, the copy is in ordinary memory.
  of_value arguments[] = {to_value(make_tensor({1}, {1}, OF_FLOAT32)), to_value(far())};
  of_value result{};
  const TensorRef host = make_tensor({1}, {1}, OF_FLOAT32);
  arguments[0] = to_value(host);
  call(*kPinMemory, arguments, {&result, 1});
  EXPECT_EQ(values(*to_tensor(result.as.tensor)), (Values{1}));
  release_value(result);
  EXPECT_EQ(get_accel("used_host_memory"), 0);

  set_accel("fail_host_allocations", 2, 0);
  EXPECT_EQ(failure_of([&] { call_operator(kPinMemory, host); }).status, OF_OUT_OF_MEMORY);
}

}  // namespace
}  // namespace oneflow
