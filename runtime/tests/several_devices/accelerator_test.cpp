// Tests an asynchronous device with separate memory.
#include <oneflow/oneflow.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "device/copy.h"
#include "device/host_table.h"
#include "tensor/create.h"
#include "tests/several_devices/devices.h"

namespace oneflow {
namespace {

TEST_F(AcceleratorTest, KernelsRunOnTheDevice) {
  const int64_t before = get_accel("kernels", 0), fallbacks_before = fallbacks("mul");
  const TensorRef a = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6}, OF_FLOAT32, accel());
  const TensorRef row = make_tensor({3}, {1, 10, 100}, OF_FLOAT32, accel());
  const TensorRef transposed = Tensor::view(*a, Shape{3, 2}, Shape{-1, 3}, 2);
  EXPECT_EQ(values(*mul(a, row)), (Values{1, 20, 300, 4, 50, 600}));
  EXPECT_EQ(values(*neg(transposed)), (Values{-3, -6, -2, -5, -1, -4}));
  static const OperatorName kMul("mul");
  EXPECT_EQ(values(*call_operator(kMul, a, 2)), (Values{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(get_accel("kernels", 0) - before, 3);
  EXPECT_EQ(fallbacks("mul") - fallbacks_before, 0u);
}

TEST_F(AcceleratorTest, UnsupportedOperandsRunOnTheHost) {
  const int64_t before = get_accel("kernels", 0), fallbacks_before = fallbacks("mul");
  const TensorRef half = make_tensor({2}, {1.5, -2}, OF_FLOAT16, accel());
  EXPECT_EQ(values(*mul(half, half)), (Values{2.25, 4}));
  EXPECT_EQ(get_accel("kernels", 0), before);
  EXPECT_EQ(fallbacks("mul") - fallbacks_before, 1u);

  set_option("fallback_is_error", 1);
  EXPECT_EQ(failure_of([&] { mul(half, half); }), (Failure{OF_UNSUPPORTED, "mul: accel:0 has no kernel for float32"}));
  set_option("fallback_is_error", 0);
  // The hook sets no text, and an old text must not be reported.
  set_accel("fail_silently", 1, 0);
  EXPECT_EQ(failure_of([&] { values(*half); }), (Failure{OF_DEVICE_ERROR, "the device gave no reason"}));
}

// The answer is kept for each device, an error is not.
TEST_F(AcceleratorTest, KernelsAreLookedUpOncePerDevice) {
  in_its_own_process([] {
    const TensorRef first = make_tensor({2}, {1, 2}, OF_FLOAT32, accel(0)),
                    second = make_tensor({2}, {1, 2}, OF_FLOAT32, accel(1));
    set_accel("fail_lookups", 1, 1);
    EXPECT_EQ(values(*neg(neg(first))), (Values{1, 2}));
    EXPECT_EQ(get_accel("lookups", 0), 1);
    EXPECT_EQ(failure_of([&] { neg(second); }), (Failure{OF_DEVICE_ERROR, "neg: the kernel could not be compiled"}));
    EXPECT_EQ(get_accel("lookups", 1), 0);
    EXPECT_EQ(values(*neg(neg(second))), (Values{1, 2}));
    EXPECT_EQ(get_accel("lookups", 1), 1);
    static const OperatorName kExp("exp");  // which the device lacks
    call_operator(kExp, first);
    call_operator(kExp, first);
    EXPECT_EQ(get_accel("lookups", 0), 2);
  });
}

TEST_F(AcceleratorTest, CapabilitiesFollowFromTheTable) {
  const auto capabilities = [](of_device device) {
    of_device_properties properties{};
    properties.struct_size = sizeof(properties);
    EXPECT_EQ(of_device_get_properties(device, &properties), OF_OK);
    return std::string(properties.capabilities);
  };
  EXPECT_EQ(capabilities(accel()), "kernels asynchronous peer_copies streams pinned_memory");
  EXPECT_EQ(capabilities(far()), "");
  EXPECT_EQ(capabilities(cpu()), "kernels contractions peer_copies host_accessible");
}

TEST_F(AcceleratorTest, AnUnterminatedNameIsCut) {
  of_device_properties properties{};
  properties.struct_size = sizeof(properties);
  set_accel("endless_name", 1, 1);
  ASSERT_EQ(of_device_get_properties(accel(1), &properties), OF_OK);
  EXPECT_EQ(std::string(properties.name), std::string(127, 'x'));
}

TEST_F(AcceleratorTest, GetInfoMayFail) {
  of_device_properties properties{};
  properties.struct_size = sizeof(properties);
  set_accel("fail_info", 1, 0);
  EXPECT_EQ(of_device_get_properties(accel(0), &properties), OF_DEVICE_ERROR);
  EXPECT_STREQ(of_last_error(), "the device does not answer");
}

TEST_F(AcceleratorTest, ScratchMemoryComesFromTheCache) {
  const of_host_table& host = host_table();
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(host.allocate(accel(), 1 << 20, &first), OF_OK);
  host.release(accel(), first, 1 << 20);
  ASSERT_EQ(host.allocate(accel(), 1 << 20, &second), OF_OK);
  EXPECT_EQ(first, second);
  host.release(accel(), second, 1 << 20);
  host.release(accel(), nullptr, 64);

  EXPECT_EQ(host.allocate(accel(), uint64_t{1} << 40, &first), OF_OUT_OF_MEMORY);
  EXPECT_EQ(std::string(device_error()).rfind("accel:0 has no memory for 1099511627776 bytes", 0), 0u)
      << device_error();
  EXPECT_EQ(host.allocate({99, 0}, 64, &first), OF_DEVICE_ERROR);
}

// Foreign memory that is released while work reads it belongs to the runtime until the work is done.
TEST_F(AcceleratorTest, ForeignMemoryOutlivesTheWorkThatReadsIt) {
  static std::atomic<int> deleted{0};
  static std::thread::id deleted_on;
  const float numbers[] = {3, 3, 3, 3};
  const int64_t sizes[] = {4};
  void* memory = nullptr;
  ASSERT_EQ(host_table().allocate(accel(), sizeof(numbers), &memory), OF_OK);
  copy_from_host(accel(), memory, numbers, sizeof(numbers));
  const auto foreign = [&] {
    of_tensor_source source{};
    source.struct_size = sizeof(source);
    source.dtype = OF_FLOAT32;
    source.device = accel();
    source.rank = 1;
    source.sizes = sizes;
    source.data = memory;
    source.bytes = sizeof(numbers);
    source.deleter = [](void*) {
      ++deleted;
      deleted_on = std::this_thread::get_id();
    };
    return create_tensor(source);
  };
  deleted = 0;
  set_accel("hold", 1, 0);
  const TensorRef result = neg(foreign());
  EXPECT_EQ(deleted, 0);
  set_accel("hold", 0, 0);
  EXPECT_EQ(values(*result), (Values{-3, -3, -3, -3}));
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(deleted_on, std::this_thread::get_id());
  for (int i = 0; i < 1000; ++i) neg(foreign());
  EXPECT_GT(deleted, 800) << "many of them do not wait for a read";
  get_device(accel()).synchronize();
  EXPECT_EQ(deleted, 1001);
  host_table().release(accel(), memory, sizeof(numbers));
}

// Only calls that return data to the host wait for the device.
TEST_F(AcceleratorTest, WorkIsAsynchronousAndInOrder) {
  TensorRef x = make_tensor({4}, {1, 2, 3, 4}, OF_FLOAT32, accel());
  set_accel("hold", 1, 0);
  for (int i = 0; i < 20; ++i) x = neg(x);
  x = mul(x, x);
  set_accel("hold", 0, 0);
  EXPECT_EQ(values(*x), (Values{1, 4, 9, 16}));
}

TEST_F(AcceleratorTest, ASlowStreamComputesTheSameResults) {
  set_accel("slow", 200);
  TensorRef x = make_tensor({3}, {1, 2, 3}, OF_FLOAT32, accel());
  for (int i = 0; i < 5; ++i) x = copy_to_device(*neg(x), accel(i % 2));
  EXPECT_EQ(values(*x), (Values{-1, -2, -3}));
  set_accel("slow", 0);
}

}  // namespace
}  // namespace oneflow
