// Tests properties of dispatch that front ends cannot test: inference without data, the memory of results, and the
// errors for invalid calls of the C API.
#include "dispatch/dispatch.h"

#include <gtest/gtest.h>
#include <oneflow/oneflow.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

constinit const OperatorName kAdd("add");
constinit const OperatorName kAllReduce("comm.local.all_reduce");
constinit const OperatorName kContiguous("contiguous");
constinit const OperatorName kCopy("copy");
constinit const OperatorName kCumsum("cumsum");
constinit const OperatorName kExpand("expand");
constinit const OperatorName kFlip("flip");
constinit const OperatorName kMaxDim("max.dim");
constinit const OperatorName kNonzero("nonzero");
constinit const OperatorName kSlice("slice");
constinit const OperatorName kSoftmax("softmax");
constinit const OperatorName kSum("sum");
constinit const OperatorName kTranspose("transpose");

using Values = std::vector<double>;

// The outcome of a call through the C API.
struct Outcome {
  of_status status;
  std::string text;
};

// Calls an operator that writes to `out`.
template <class... Values>
Outcome call_into_result(const OperatorName& name, const Tensor& out, const Values&... values) {
  const of_value arguments[] = {to_value(values)...};
  of_value result = to_value(out);
  const of_status status = of_call(to_handle(&*name), arguments, std::size(arguments), &result, 1);
  return {status, status == OF_OK ? "" : of_last_error()};
}

// Calls an operator with arguments for which it fails.
template <class... Values>
Outcome fail_of(const OperatorName& name, const Values&... values) {
  const of_value arguments[] = {to_value(values)...};
  of_value result{};
  const of_status status = of_call(to_handle(&*name), arguments, std::size(arguments), &result, 1);
  EXPECT_EQ(result.kind, OF_VALUE_ABSENT) << "a failure must not change the results";
  return {status, of_last_error()};
}

// ---------------------------------------------------------------- inference

TEST(Infer, ReturnsShapesAndDtypesWithoutMemory) {
  const TensorRef input = Tensor::without_memory(Shape{2, 3}, OF_FLOAT16, {});
  const of_value arguments[] = {to_value(input), to_value(1), to_value(true)};
  of_value result{};
  ASSERT_EQ(of_infer(to_handle(&*kSum), arguments, 3, &result, 1), OF_OK) << of_last_error();
  const Tensor& inferred = *to_tensor(result.as.tensor);
  EXPECT_EQ(inferred.sizes(), (Shape{2, 1}));
  EXPECT_EQ(inferred.dtype(), OF_FLOAT16);
  EXPECT_FALSE(inferred.has_memory());
  of_value_release(&result);
}

TEST(Infer, SupportsCompositesAndViews) {
  const TensorRef input = Tensor::without_memory(Shape{2, 3}, OF_FLOAT32, {});
  for (const OperatorName* name : {&kSoftmax, &kCumsum}) {
    const of_value arguments[] = {to_value(input), to_value(-1)};
    of_value result{};
    ASSERT_EQ(of_infer(to_handle(&**name), arguments, 2, &result, 1), OF_OK) << of_last_error();
    EXPECT_EQ(to_tensor(result.as.tensor)->sizes(), (Shape{2, 3}));
    of_value_release(&result);
  }
  const of_value arguments[] = {to_value(input), to_value(0), to_value(1)};
  of_value result{};
  ASSERT_EQ(of_infer(to_handle(&*kTranspose), arguments, 3, &result, 1), OF_OK) << of_last_error();
  EXPECT_EQ(to_tensor(result.as.tensor)->sizes(), (Shape{3, 2}));
  of_value_release(&result);
}

TEST(Infer, ReturnsNoMemoryIfTheResultIsAnOperand) {
  const TensorRef input = make_tensor({2}, {0, 1});
  const of_value argument = to_value(input);
  of_value result{};
  ASSERT_EQ(of_infer(to_handle(&*kContiguous), &argument, 1, &result, 1), OF_OK) << of_last_error();
  EXPECT_FALSE(to_tensor(result.as.tensor)->has_memory());
  of_value_release(&result);
}

TEST(Infer, RejectsSizesThatDependOnData) {
  const TensorRef input = make_tensor({2}, {0, 1});
  const of_value argument = to_value(input);
  of_value result{};
  EXPECT_EQ(of_infer(to_handle(&*kNonzero), &argument, 1, &result, 1), OF_UNSUPPORTED);
}

TEST(Infer, DoesNotTouchAGivenResult) {
  const TensorRef x = make_tensor({2}, {1, 2}), out = make_tensor({2}, {0, 0});
  const uint64_t before = out->storage()->version();
  const of_value arguments[] = {to_value(x), to_value(x)};
  of_value result = to_value(out);
  ASSERT_EQ(of_infer(to_handle(&*kAdd), arguments, 2, &result, 1), OF_OK) << of_last_error();
  EXPECT_EQ(out->storage()->version(), before);
  EXPECT_EQ(values(*out), (Values{0, 0}));
  const TensorRef small = make_tensor({1}, {0});
  result = to_value(small);
  EXPECT_EQ(of_infer(to_handle(&*kAdd), arguments, 2, &result, 1), OF_SHAPE_ERROR);
}

// ---------------------------------------------------------------- out and in-place

TEST(Out, MayBeAnOperand) {
  const TensorRef x = make_tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(call_into_result(kAdd, *x, x, 1).status, OF_OK);
  EXPECT_EQ(values(*x), (Values{2, 3, 4, 5}));
  EXPECT_EQ(call_into_result(kFlip, *x, x, 1).status, OF_OK) << "computed in other memory, then copied";
  EXPECT_EQ(values(*x), (Values{3, 2, 5, 4}));
}

TEST(Out, RejectsPartialOverlapWithAnOperand) {
  const TensorRef x = make_tensor({3}, {1, 2, 3});
  const TensorRef head = call_operator(kSlice, x, 0, 0, 2), tail = call_operator(kSlice, x, 0, 1, 3);
  const Outcome outcome = call_into_result(kAdd, *head, tail, 1);
  EXPECT_EQ(outcome.status, OF_INVALID_ARGUMENT);
  EXPECT_EQ(outcome.text, "add: the tensor to write to overlaps an operand in part; clone the operand first");
  EXPECT_EQ(values(*x), (Values{1, 2, 3}));
}

TEST(Out, RejectsAnExpandedTensor) {
  const TensorRef wide = call_operator(kExpand, make_tensor({1}, {1}), Shape{3});
  EXPECT_EQ(call_into_result(kAdd, *wide, 1.0, 2.0).status, OF_SHAPE_ERROR);
  EXPECT_EQ(call_into_result(kAdd, *wide, make_tensor({3}, {1, 2, 3}), 1).status, OF_INVALID_ARGUMENT);
}

TEST(Out, NeedsTheExactShapeAndADTypeThatCanHoldTheResult) {
  const TensorRef x = make_tensor({2}, {1, 2});
  EXPECT_EQ(call_into_result(kAdd, *make_tensor({3}, {0, 0, 0}), x, 1).text,
            "add: result of shape [2] cannot be stored in a tensor of shape [3]");
  const TensorRef integers = Tensor::allocate(Shape{2}, OF_INT64, {});
  const Outcome outcome = call_into_result(kAdd, *integers, x, 1);
  EXPECT_EQ(outcome.status, OF_DTYPE_ERROR);
  EXPECT_EQ(outcome.text, "add: result of type float32 cannot be stored in int64");
}

TEST(Out, MayHaveAnotherDTypeOfTheSameCategory) {
  const TensorRef x = make_tensor({2}, {1, 2});
  const TensorRef wide = Tensor::allocate(Shape{2}, OF_FLOAT64, {});
  ASSERT_EQ(call_into_result(kAdd, *wide, x, 1).status, OF_OK);
  EXPECT_EQ(static_cast<const double*>(wide->data())[1], 3.0);
  ASSERT_EQ(call_into_result(kFlip, *wide, x, 0).status, OF_OK);
  EXPECT_EQ(static_cast<const double*>(wide->data())[0], 2.0);
}

TEST(Out, CountsAsOneWriteOfTheStorage) {
  const TensorRef x = make_tensor({2}, {1, 2});
  const uint64_t before = x->storage()->version();
  call_into_result(kAdd, *x, x, 1);
  EXPECT_EQ(x->storage()->version(), before + 1);
}

TEST(Out, DoesNotChangeALazyClone) {
  const TensorRef x = make_tensor({2}, {1, 2});
  of_tensor clone = nullptr;
  ASSERT_EQ(of_tensor_lazy_clone(to_handle(x.get()), &clone), OF_OK);
  call_into_result(kAdd, *x, x, 1);
  EXPECT_EQ(values(*x), (Values{2, 3}));
  EXPECT_EQ(values(*TensorRef::adopt(to_tensor(clone))), (Values{1, 2}));
}

// The source of `copy` may be on another device; other operators require all tensors on one device.
TEST(Devices, CopiesBetweenDevices) {
  const Values numbers{1, 2, 3, 4};
  for (const of_device to : {of_device{}, far_device(0)})
    for (const of_device from : {of_device{}, far_device(0), far_device(1)}) {
      const TensorRef target = make_tensor({2, 2}, {0, 0, 0, 0}, OF_FLOAT64, to);
      const TensorRef source = make_tensor({4}, numbers, OF_INT16, from);
      const TensorRef transposed = Tensor::view(*source, Shape{2, 2}, Shape{1, 2}, 0);
      EXPECT_EQ(call_into_result(kCopy, *target, target, transposed).status, OF_OK) << of_last_error();
      EXPECT_EQ(values(*target), (Values{1, 3, 2, 4})) << device_name(from) << device_name(to);
      const of_index first{};
      const TensorRef end = Tensor::view(*source, Shape{2}, Shape{1}, 2);
      const of_value row = to_value(end);
      ASSERT_EQ(of_tensor_set_index(to_handle(target.get()), &first, 1, &row), OF_OK) << of_last_error();
      EXPECT_EQ(values(*target), (Values{3, 4, 2, 4}));
      if (from == to) continue;
      EXPECT_EQ(call_into_result(kAdd, *target, target, transposed).text,
                "add: other must be on " + device_name(to) + ", as input is, got a tensor on " + device_name(from));
    }
  const TensorRef here = make_tensor({2}, {1, 2});
  const TensorRef shape = Tensor::without_memory(Shape{2}, OF_FLOAT32, far_device());
  const of_value arguments[] = {to_value(here), to_value(shape)};
  of_value result{};
  ASSERT_EQ(of_infer(of_op_find("copy"), arguments, 2, &result, 1), OF_OK) << of_last_error();
  EXPECT_TRUE(to_tensor(result.as.tensor)->device() == of_device{});
  of_value_release(&result);
}

// The device has no kernels: the host computes each result on a copy of the memory that it spans, with its gaps.
TEST(Devices, ResultsThatInterleaveKeepEachOther) {
  const TensorRef x = make_tensor({2, 2}, {1, 2, 4, 3}, OF_INT64, far_device(0));
  const TensorRef both = make_tensor({4}, {0, 0, 0, 0}, OF_INT64, far_device(0));
  const TensorRef even = Tensor::view(*both, Shape{2}, Shape{2}, 0), odd = Tensor::view(*both, Shape{2}, Shape{2}, 1);
  const of_value arguments[] = {to_value(x), to_value(1)};
  of_value results[] = {to_value(even), to_value(odd)};
  ASSERT_EQ(of_call(to_handle(&*kMaxDim), arguments, 2, results, 2), OF_OK) << of_last_error();
  EXPECT_EQ(values(*both), (Values{2, 1, 4, 0}));
}

TEST(Out, SeveralTensorsMustNotShareMemory) {
  const TensorRef out = Tensor::allocate(Shape{2}, OF_INT64, {});
  const TensorRef x = make_tensor({2, 2}, {1, 2, 3, 4}, OF_INT64);
  const of_value arguments[] = {to_value(x), to_value(1)};
  of_value results[] = {to_value(out), to_value(out)};
  EXPECT_EQ(of_call(to_handle(&*kMaxDim), arguments, 2, results, 2), OF_INVALID_ARGUMENT);
  EXPECT_STREQ(of_last_error(), "max: the tensors to write to must not share memory");
}

TEST(Out, MayHaveAnyLayout) {
  const TensorRef x = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const TensorRef base = make_tensor({3, 2}, {0, 0, 0, 0, 0, 0});
  const TensorRef flipped = call_operator(kTranspose, base, 0, 1);
  ASSERT_EQ(call_into_result(kAdd, *flipped, x, 10).status, OF_OK);
  EXPECT_EQ(values(*base), (Values{11, 14, 12, 15, 13, 16}));
}

// ---------------------------------------------------------------- invalid calls

TEST(InvalidCalls, WrongCountsAndKindsAreErrors) {
  const TensorRef x = make_tensor({1}, {1});
  EXPECT_EQ(fail_of(kAdd, x).text, "add: missing argument other");
  EXPECT_EQ(fail_of(kAdd, x, x, x).text, "add: takes at most 2 arguments, got 3");
  EXPECT_EQ(fail_of(kAdd, x, "a").text, "add: other must be Tensor|Number, got str");
  EXPECT_EQ(fail_of(kAdd, x, kNone).text, "add: other must be Tensor|Number, got None");
  of_value unknown{99, 0, {}};
  EXPECT_EQ(fail_of(kAdd, x, unknown).status, OF_TYPE_MISMATCH);
  const of_value null_tensor{OF_VALUE_TENSOR, 0, {}};
  EXPECT_EQ(fail_of(kAdd, x, null_tensor).text, "add: other must be Tensor|Number, got a released tensor");
}

TEST(InvalidCalls, TheNumberOfResultsMustMatch) {
  const TensorRef x = make_tensor({1}, {1});
  const of_value arguments[] = {to_value(x), to_value(x)};
  of_value results[2] = {};
  EXPECT_EQ(of_call(to_handle(&*kAdd), arguments, 2, results, 2), OF_INVALID_ARGUMENT);
  EXPECT_STREQ(of_last_error(), "add: has 1 result, got room for 2");
  EXPECT_EQ(of_call(to_handle(&*kAdd), arguments, 2, nullptr, 0), OF_INVALID_ARGUMENT);
}

TEST(InvalidCalls, ListsOfInvalidLengthAreErrors) {
  const TensorRef x = make_tensor({1}, {1});
  const of_value negative{OF_VALUE_INT_LIST, -1, {}};
  EXPECT_EQ(fail_of(kSum, x, negative).status, OF_INVALID_ARGUMENT);
  const of_value missing{OF_VALUE_INT_LIST, 2, {}};
  EXPECT_EQ(fail_of(kSum, x, missing).status, OF_INVALID_ARGUMENT);
  const std::vector<int64_t> many(100, 1);
  EXPECT_EQ(fail_of(kExpand, x, Sizes(many)).status, OF_SHAPE_ERROR);
}

// ---------------------------------------------------------------- lists of results

// A list of tensors as a value, which borrows it.
struct List {
  List(std::initializer_list<of_tensor> tensors) : tensors(tensors) {}
  of_value value() const {
    return {OF_VALUE_TENSOR_LIST,
            static_cast<int32_t>(tensors.size()),
            {.tensors = const_cast<of_tensor*>(tensors.data())}};
  }
  std::vector<of_tensor> tensors;
};

of_tensor handle(const TensorRef& tensor) { return to_handle(tensor.get()); }

TEST(Lists, BelongToTheCaller) {
  const TensorRef a = make_tensor({2}, {1, 2}), b = make_tensor({2}, {10, 20});
  const uint64_t before = Tensor::live_count();
  const List both = {handle(a), handle(b)};
  const of_value arguments[] = {both.value()};
  of_value result{};
  ASSERT_EQ(of_call(to_handle(&*kAllReduce), arguments, 1, &result, 1), OF_OK);
  ASSERT_EQ(result.kind, OF_VALUE_TENSOR_LIST);
  ASSERT_EQ(result.count, 2);
  EXPECT_EQ(values(*to_tensor(result.as.tensors[1])), (Values{11, 22}));
  EXPECT_EQ(Tensor::live_count(), before + 2);
  of_value_release(&result);
  EXPECT_EQ(Tensor::live_count(), before);
  EXPECT_EQ(result.kind, OF_VALUE_ABSENT);
}

TEST(Lists, AreInferredWithoutData) {
  const TensorRef a = Tensor::without_memory(Shape{5, 3}, OF_FLOAT32, kHost);
  const of_device devices[] = {kHost, kHost};
  const of_value arguments[] = {to_value(a), of_value{OF_VALUE_DEVICE_LIST, 2, {.devices = devices}}};
  of_value result{};
  ASSERT_EQ(of_infer(of_op_find("comm.local.scatter"), arguments, 2, &result, 1), OF_OK);
  ASSERT_EQ(result.count, 2);
  EXPECT_EQ(to_tensor(result.as.tensors[0])->sizes(), (Shape{3, 3}));
  EXPECT_EQ(to_tensor(result.as.tensors[1])->sizes(), (Shape{2, 3}));
  EXPECT_FALSE(to_tensor(result.as.tensors[1])->has_memory());
  of_value_release(&result);

  const List thrice = {handle(a), handle(a), handle(a)};
  const of_value several[] = {thrice.value()};
  for (const char* name :
       {"comm.local.all_reduce", "comm.local.all_gather", "comm.local.reduce_scatter", "comm.local.all_to_all"}) {
    ASSERT_EQ(of_infer(of_op_find(name), several, 1, &result, 1), OF_OK) << name;
    EXPECT_EQ(result.count, 3) << name;
    of_value_release(&result);
  }
}

TEST(Lists, ResultsAreWrittenToAGivenList) {
  const TensorRef a = make_tensor({2}, {1, 2}), b = make_tensor({2}, {10, 20});
  const TensorRef wide = make_tensor({2}, {0, 0}, OF_FLOAT64), narrow = make_tensor({2}, {0, 0}, OF_INT32);
  const List both = {handle(a), handle(b)};
  const of_value arguments[] = {both.value()};
  const auto write_to = [&](const List& target) {
    of_value result = target.value();
    const of_status status = of_call(to_handle(&*kAllReduce), arguments, 1, &result, 1);
    return status == OF_OK ? std::string() : std::string(of_last_error());
  };
  EXPECT_EQ(write_to({handle(wide), handle(b)}), "");
  EXPECT_EQ(values(*wide), (Values{11, 22}));
  EXPECT_EQ(values(*b), (Values{11, 22}));
  EXPECT_EQ(values(*a), (Values{1, 2}));

  EXPECT_EQ(write_to({handle(a)}), "comm.local.all_reduce: the list to write to must have 2 tensors, got 1");
  EXPECT_EQ(write_to({handle(a), nullptr}),
            "comm.local.all_reduce: the result must be absent or a list of tensors to write to");
  EXPECT_EQ(call_into_result(kAllReduce, *a, arguments[0]).text,
            "comm.local.all_reduce: the result must be absent or a list of tensors to write to");
  EXPECT_EQ(write_to({handle(wide), handle(narrow)}),
            "comm.local.all_reduce: result of type float32 cannot be stored in int32");
  EXPECT_EQ(write_to({handle(a), handle(a)}), "comm.local.all_reduce: the tensors to write to must not share memory");
  EXPECT_EQ(values(*a), (Values{1, 2}));
  EXPECT_EQ(fail_of(kAdd, a, arguments[0]).status, OF_TYPE_MISMATCH);
}

TEST(Lists, OfDevicesAreChecked) {
  const TensorRef a = make_tensor({1}, {1});
  const OperatorName broadcast("comm.local.broadcast");
  const of_device missing[] = {{120, 3}};
  EXPECT_EQ(fail_of(broadcast, a, of_value{OF_VALUE_DEVICE_LIST, 1, {.devices = missing}}).status, OF_DEVICE_ERROR);
  EXPECT_EQ(fail_of(broadcast, a, of_value{OF_VALUE_DEVICE_LIST, -1, {}}).status, OF_INVALID_ARGUMENT);
  EXPECT_EQ(fail_of(broadcast, a, of_value{OF_VALUE_DEVICE_LIST, 3, {}}).status, OF_INVALID_ARGUMENT);
  EXPECT_EQ(fail_of(broadcast, a, 3).text, "comm.local.broadcast: devices must be device[], got int");
  const of_value arguments[] = {to_value(a), to_value(kHost)};  // a single device in place of a list
  of_value result{};
  ASSERT_EQ(of_call(to_handle(&*broadcast), arguments, 2, &result, 1), OF_OK);
  EXPECT_EQ(result.count, 1);
  of_value_release(&result);
}

TEST(Lists, CollectivesIncludeDevicesWithoutKernels) {
  const TensorRef near = make_tensor({3}, {1, 2, 3}), far = make_tensor({3}, {4, 5, 6}, OF_FLOAT32, far_device(1));
  const List both = {handle(near), handle(far)};
  const of_value arguments[] = {both.value()};
  of_value result{};
  ASSERT_EQ(of_call(to_handle(&*kAllReduce), arguments, 1, &result, 1), OF_OK);
  EXPECT_TRUE(to_tensor(result.as.tensors[1])->device() == far_device(1));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(values(*to_tensor(result.as.tensors[i])), (Values{5, 7, 9}));
  of_value_release(&result);
}

// ---------------------------------------------------------------- fallback

TEST(Fallback, RunsOnTheHostAndIsCounted) {
  const of_device far = far_device();
  of_reset_fallbacks();
  const TensorRef x = call_operator(OperatorName("ones"), Shape{2, 3}, kNone, far);
  const TensorRef sum = call_operator(kSum, call_operator(kTranspose, x, 0, 1), 0);
  EXPECT_EQ(sum->device().type, far.type);
  EXPECT_EQ(values(*sum), (Values{3, 3}));
  EXPECT_EQ(of_fallback_count(), 2u);

  const Outcome mixed = fail_of(kAdd, x, make_tensor({3}, {1, 2, 3}));
  EXPECT_EQ(mixed.status, OF_DEVICE_ERROR);
  EXPECT_EQ(mixed.text, "add: other must be on far:0, as input is, got a tensor on cpu:0");

  // The list of a thread does not change when another thread resets the counts.
  std::thread(of_reset_fallbacks).join();
  of_op op = nullptr;
  uint64_t calls = 0;
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(of_fallback_at(i, &op, &calls), OF_OK);
    EXPECT_EQ(calls, 1u);
  }
  EXPECT_EQ(of_fallback_at(2, &op, &calls), OF_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(of_fallback_count(), 0u);

  ASSERT_EQ(of_set_option("fallback_is_error", 1), OF_OK);
  EXPECT_EQ(fail_of(kAdd, x, 1).status, OF_UNSUPPORTED);
  ASSERT_EQ(of_set_option("fallback_is_error", 0), OF_OK);
}

}  // namespace
}  // namespace oneflow
