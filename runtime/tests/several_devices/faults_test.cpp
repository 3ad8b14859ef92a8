// Tests failures of a device, and that they have no other effects.
#include <oneflow/oneflow.h>

#include "dispatch/layers.h"
#include "tests/several_devices/devices.h"

namespace oneflow {
namespace {

const OperatorName kNonzero("nonzero");
const OperatorName kEinsum("einsum");

class FaultsTest : public AcceleratorTest {};

constexpr int64_t kMiB = 1 << 20;

TensorRef allocate(int64_t bytes) { return Tensor::allocate(Shape{bytes}, OF_UINT8, accel()); }

TEST_F(FaultsTest, LiveTensorsLimitTheFreeMemory) {
  set_accel("capacity", 16 * kMiB, 0);
  TensorRef held = allocate(12 * kMiB);
  const Failure failure = failure_of([] { allocate(8 * kMiB); });
  EXPECT_EQ(failure.status, OF_OUT_OF_MEMORY);
  EXPECT_EQ(failure.text, "accel:0 has no memory for 8388608 bytes; 12582912 are in use");
  held = {};
  allocate(8 * kMiB);  // the cached memory is returned to the device first
}

TEST_F(FaultsTest, FragmentedMemory) {
  set_accel("capacity", 16 * kMiB, 0);
  std::vector<TensorRef> pieces;
  for (int i = 0; i < 16; ++i) pieces.push_back(allocate(kMiB));
  for (int i = 0; i < 16; i += 2) pieces[i] = {};
  EXPECT_EQ(failure_of([] { allocate(2 * kMiB); }).status,
            OF_OUT_OF_MEMORY);  // 8 MiB are free, but not 2 MiB in one block
  for (int i = 0; i < 8; ++i) allocate(kMiB);
  pieces[3] = {};
  allocate(3 * kMiB);
  pieces.clear();
  allocate(16 * kMiB);
}

TEST_F(FaultsTest, SmallBlocksWithoutMemory) {
  get_device(accel()).empty_cache();
  set_accel("fail_allocations", 2, 0);  // the second attempt follows after the cache was emptied
  EXPECT_EQ(failure_of([] { allocate(100); }).status, OF_OUT_OF_MEMORY);
  allocate(100);
}

// A successful status with a null address counts as out of memory.
TEST_F(FaultsTest, AllocationsMayReturnNull) {
  for (const int64_t bytes : {int64_t{4}, 4 * kMiB}) {
    set_accel("empty_allocations", 2, 0);
    EXPECT_EQ(failure_of([&] { allocate(bytes); }).status, OF_OUT_OF_MEMORY);
  }
}

bool free_held(void* held, uint64_t) {
  *static_cast<TensorRef*>(held) = {};
  return true;
}

TEST_F(FaultsTest, ThePressureCallbackReleasesTensors) {
  set_accel("capacity", 16 * kMiB, 0);
  TensorRef held = allocate(12 * kMiB);
  of_set_memory_pressure_callback(free_held, &held);
  allocate(8 * kMiB);
  EXPECT_FALSE(held);
  of_set_memory_pressure_callback(nullptr, nullptr);
}

TEST_F(FaultsTest, CopiesFailAtSubmission) {
  const TensorRef x = make_tensor({2}, {1, 2}, OF_FLOAT32, accel());
  set_accel("fail_copies", 1, 0);
  EXPECT_EQ(failure_of([&] { values(*x); }), (Failure{OF_DEVICE_ERROR, "the copy was told to fail"}));
  EXPECT_EQ(values(*x), (Values{1, 2}));

  set_accel("fail_copies", 1, 0);
  static const OperatorName kExp("exp");  // which the device lacks
  EXPECT_EQ(failure_of([&] { call_operator(kExp, x); }), (Failure{OF_DEVICE_ERROR, "exp: the copy was told to fail"}));
  set_last_error(OF_SHAPE_ERROR, "of an earlier call");
  set_accel("fail_silently", 1, 0);
  EXPECT_EQ(failure_of([&] { values(*x); }), (Failure{OF_DEVICE_ERROR, "the device gave no reason"}));
  set_accel("fail_allocations", 1, 0);  // the second attempt succeeds, and the text of the first one is discarded
  allocate(4 * kMiB);
  set_accel("fail_silently", 1, 0);
  EXPECT_EQ(failure_of([&] { values(*x); }), (Failure{OF_DEVICE_ERROR, "the device gave no reason"}));
}

const Failure kBadData{OF_INVALID_ARGUMENT, "mul: the kernel was told to find bad data"};

// Submits a chain of kernels, of which the second one finds bad data.
TensorRef broken_chain() {
  const TensorRef x = make_tensor({2}, {1, 2}, OF_FLOAT32, accel());
  const TensorRef y = neg(x);
  set_accel("fail_kernels", 1, 0);
  return neg(neg(mul(y, y)));
}

TEST_F(FaultsTest, AnErrorWithinAChainIsReportedAtTheEnd) {
  const TensorRef end = broken_chain();
  EXPECT_EQ(failure_of([&] { values(*end); }), kBadData);
  EXPECT_EQ(values(*end), (Values{1, 4}));  // the error was reported, and the stream continues
  EXPECT_EQ(values(*mul(end, end)), (Values{1, 16}));
}

TEST_F(FaultsTest, TheFirstErrorIsReported) {
  const TensorRef first = broken_chain();
  set_accel("fail_kernels", 1, 0);
  neg(first);
  EXPECT_EQ(failure_of([] { get_device(accel()).synchronize(); }), kBadData);
  EXPECT_EQ(failure_of([] { get_device(accel()).synchronize(); }), Failure());
}

// The text of a deferred error names the operator that failed, and not the one that reports the error.
TEST_F(FaultsTest, DeferredErrorsNameOnlyTheOperatorThatFailed) {
  TensorRef end = broken_chain();
  EXPECT_EQ(failure_of([&] { call_operator(kNonzero, end); }), kBadData);

  end = broken_chain();
  EXPECT_EQ(failure_of([&] { copy_to_device(*end, far()); }), kBadData);

  end = broken_chain();
  of_scalar item;
  EXPECT_EQ(of_tensor_item(to_handle(Tensor::view(*end, {}, {}, 0).get()), &item), kBadData.status);
  EXPECT_EQ(of_last_error(), kBadData.text);

  end = broken_chain();
  EXPECT_EQ(of_synchronize(accel()), kBadData.status);
  EXPECT_EQ(of_last_error(), kBadData.text);
}

of_status pass_on(void*, of_layer_call* call) { return of_layer_next(call, OF_BODY_SEEN); }

TEST_F(FaultsTest, LayersKeepTheName) {
  const TensorRef end = broken_chain();
  of_layer_install(OF_LAYER_PROFILE, OF_LAYER_ALL_CALLS, pass_on, nullptr);
  EXPECT_EQ(failure_of([&] { call_operator(kNonzero, end); }), kBadData);
  of_layer_remove(OF_LAYER_PROFILE);
}

// Errors in the parts of an operator name the operator that the user called.
TEST_F(FaultsTest, ErrorsInPartsNameTheWholeOperator) {
  const TensorRef x = make_tensor({2}, {1, 2}, OF_FLOAT32, accel());
  const std::vector<of_tensor> operands{to_handle(x.get()), to_handle(x.get())};
  set_accel("fail_kernels", 1, 0);
  const of_value arguments[] = {to_value("i,i->i"), of_value{OF_VALUE_TENSOR_LIST, 2, {}}};
  of_value complete[] = {arguments[0], arguments[1]};
  complete[1].as.tensors = const_cast<of_tensor*>(operands.data());
  of_value result{};
  call(*kEinsum, complete, {&result, 1});
  release_value(result);
  EXPECT_EQ(failure_of([] { get_device(accel()).synchronize(); }),
            (Failure{OF_INVALID_ARGUMENT, "einsum: the kernel was told to find bad data"}));
}

// An error of one device does not affect another.
TEST_F(FaultsTest, ErrorsStayOnTheirDevice) {
  const TensorRef end = broken_chain();
  const TensorRef other = make_tensor({2}, {1, 2}, OF_FLOAT32, accel(1));
  EXPECT_EQ(values(*neg(other)), (Values{-1, -2}));
  EXPECT_EQ(failure_of([&] { get_device(accel()).synchronize(); }), kBadData);
}

TEST_F(FaultsTest, OperandsOnDifferentDevicesAreErrors) {
  const TensorRef here = make_tensor({2}, {1, 2}), there = make_tensor({2}, {1, 2}, OF_FLOAT32, accel(0)),
                  other = make_tensor({2}, {1, 2}, OF_FLOAT32, accel(1)),
                  second = make_tensor({2}, {1, 2}, OF_FLOAT32, cpu(1));
  EXPECT_EQ(failure_of([&] { mul(here, there); }),
            (Failure{OF_DEVICE_ERROR, "mul: other must be on cpu:0, as input is, got a tensor on accel:0"}));
  EXPECT_EQ(failure_of([&] { mul(there, other); }),
            (Failure{OF_DEVICE_ERROR, "mul: other must be on accel:0, as input is, got a tensor on accel:1"}));
  EXPECT_EQ(failure_of([&] { mul(here, second); }),
            (Failure{OF_DEVICE_ERROR, "mul: other must be on cpu:0, as input is, got a tensor on cpu:1"}));
}

}  // namespace
}  // namespace oneflow
