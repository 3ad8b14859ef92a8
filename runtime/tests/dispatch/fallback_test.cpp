// Tests which calls of a device without kernels run on the host, and what they leave on the device.
#include "dispatch/fallback.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "dispatch/dispatch.h"
#include "tensor/generator.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

constexpr of_layer kOuter = OF_LAYER_AUTOGRAD + 1;

constinit const OperatorName kAdd("add");
constinit const OperatorName kEinsum("einsum");
constinit const OperatorName kIndexPut("index_put_");
constinit const OperatorName kNeg("neg");
constinit const OperatorName kRand("rand");
constinit const OperatorName kSoftmax("softmax");
constinit const OperatorName kSum("sum");
constinit const OperatorName kTopk("topk");

using Values = std::vector<double>;
using Counts = std::map<std::string, uint64_t>;

Counts fallbacks() {
  Counts counts;
  for (const Operator& op : operators())
    if (op.fallbacks() > 0) counts[op.schema().name] = op.fallbacks();
  return counts;
}

class FallbackTest : public testing::Test {
 protected:
  void SetUp() override { of_reset_fallbacks(); }
  void TearDown() override { of_reset_fallbacks(); }

  static TensorRef on_far(const Shape& sizes, const Values& elements, of_dtype dtype = OF_FLOAT32) {
    return make_tensor(sizes, elements, dtype, far_device());
  }
};

TEST_F(FallbackTest, GivesNewResultsOnTheDevice) {
  const TensorRef x = on_far({2, 2}, {1, 2, 3, 4});
  const TensorRef result = call_operator(kSum, x, 0);
  EXPECT_TRUE(result->device() == far_device());
  EXPECT_EQ(values(*result), (Values{4, 6}));
  EXPECT_EQ(fallbacks(), (Counts{{"sum", 1}}));
}

TEST_F(FallbackTest, FailsIfItIsAnError) {
  const TensorRef x = on_far({2}, {1, 2});
  ASSERT_EQ(of_set_option("fallback_is_error", 1), OF_OK);
  of_value result{};
  const of_value argument = to_value(x);
  EXPECT_EQ(of_call(to_handle(&*kNeg), &argument, 1, &result, 1), OF_UNSUPPORTED);
  EXPECT_STREQ(of_last_error(), "neg: far:0 has no kernel for float32");
  const std::array operands{to_handle(x.get()), to_handle(x.get())};
  const of_value product[] = {to_value("i,i->"), to_value(operands)};
  EXPECT_EQ(of_call(to_handle(&*kEinsum), product, 2, &result, 1), OF_UNSUPPORTED);
  EXPECT_STREQ(of_last_error(), "einsum: far:0 has no contractions");
  ASSERT_EQ(of_set_option("fallback_is_error", 0), OF_OK);
  EXPECT_EQ(fallbacks(), Counts{});
}

TEST_F(FallbackTest, DoesNotConcernInference) {
  const TensorRef x = Tensor::without_memory(Shape{2}, OF_FLOAT32, far_device());
  const of_value argument = to_value(x);
  of_value result{};
  ASSERT_EQ(of_infer(to_handle(&*kNeg), &argument, 1, &result, 1), OF_OK) << of_last_error();
  EXPECT_TRUE(to_tensor(result.as.tensor)->device() == far_device());
  of_value_release(&result);
  EXPECT_EQ(fallbacks(), Counts{});
}

TEST_F(FallbackTest, WritesOnlyTheElementsOfViewsWithGaps) {
  const TensorRef memory = on_far({6}, {0, 10, 20, 30, 40, 50}), x = on_far({3}, {1, 2, 3});
  const TensorRef even = Tensor::view(*memory, Shape{3}, Shape{2}, 0);
  call_into("add", *even, *kAdd, even, x);
  EXPECT_EQ(values(*memory), (Values{1, 10, 22, 30, 43, 50}));
  const TensorRef reversed = Tensor::view(*memory, Shape{3}, Shape{-2}, 5);
  call_into("neg", *reversed, *kNeg, x);
  EXPECT_EQ(values(*memory), (Values{1, -3, 22, -2, 43, -1}));
}

TEST_F(FallbackTest, ConvertsToTheDTypeOfAGivenResult) {
  const TensorRef x = on_far({2}, {1, 2}), wide = on_far({2}, {0, 0}, OF_FLOAT64);
  call_into("neg", *wide, *kNeg, x);
  EXPECT_EQ(values(*wide), (Values{-1, -2}));
  EXPECT_EQ(fallbacks(), (Counts{{"neg", 1}}));
}

TEST_F(FallbackTest, WritesToSharedMemoryLikeKernels) {
  const TensorRef x = on_far({2}, {1, 2});
  const TensorRef clone = call_operator(OperatorName("lazy_clone"), x);
  const uint64_t version = x->storage()->version();
  call_into("neg", *x, *kNeg, x);
  EXPECT_EQ(values(*x), (Values{-1, -2}));
  EXPECT_EQ(values(*clone), (Values{1, 2}));
  EXPECT_GT(x->storage()->version(), version);
}

TEST_F(FallbackTest, WritesToArguments) {
  const TensorRef x = on_far({3}, {1, 2, 3}), index = on_far({1}, {1}, OF_INT64), value = on_far({1}, {9});
  std::array indices{to_handle(index.get())};
  const TensorRef result = call_operator(kIndexPut, x, to_value(indices), value);
  EXPECT_EQ(result.get(), x.get());
  EXPECT_EQ(values(*x), (Values{1, 9, 3}));
}

TEST_F(FallbackTest, GivesSeveralResults) {
  const TensorRef x = on_far({3}, {5, 7, 6});
  const of_value arguments[] = {to_value(x), to_value(2)};
  of_value results[2]{};
  call(*kTopk, arguments, results);
  const TensorRef top = TensorRef::adopt(to_tensor(results[0].as.tensor));
  const TensorRef where = TensorRef::adopt(to_tensor(results[1].as.tensor));
  EXPECT_EQ(values(*top), (Values{7, 6}));
  EXPECT_EQ(values(*where), (Values{1, 2}));
  EXPECT_TRUE(where->device() == far_device());
  EXPECT_EQ(fallbacks(), (Counts{{"topk", 1}}));
}

TEST_F(FallbackTest, DrawsRandomNumbersOnce) {
  Generator& generator = Generator::of_process();
  generator.set_state({5, 0});
  const TensorRef here = call_operator(kRand, Shape{3}, kNone, kHost);
  const uint64_t after = generator.state().offset;
  generator.set_state({5, 0});
  const TensorRef there = call_operator(kRand, Shape{3}, kNone, far_device());
  EXPECT_EQ(values(*there), values(*here));
  EXPECT_EQ(generator.state().offset, after);
}

TEST_F(FallbackTest, RunsAnEinsumAsAWhole) {
  const TensorRef a = on_far({2, 2}, {1, 2, 3, 4}), b = on_far({2}, {1, 10}), c = on_far({2}, {2, 1});
  std::array operands{to_handle(a.get()), to_handle(b.get()), to_handle(c.get())};
  EXPECT_EQ(values(*call_operator(kEinsum, "ij,j,i->i", to_value(operands))), (Values{42, 43}));
  EXPECT_EQ(values(*call_operator(kEinsum, "ij,j,i->ij", to_value(operands))), (Values{2, 40, 3, 40}));
  EXPECT_EQ(fallbacks(), (Counts{{"einsum", 2}}));
}

TEST_F(FallbackTest, RunsThePartsOfAComposite) {
  const TensorRef x = on_far({2}, {1, 1});
  EXPECT_EQ(values(*call_operator(kSoftmax, x, 0)), (Values{0.5, 0.5}));
  EXPECT_EQ(fallbacks().count("softmax"), 0u);
  EXPECT_GT(fallbacks().size(), 1u);
}

TEST_F(FallbackTest, KeepsTheDonatedOperandUntilTheCallIsDone) {
  const TensorRef x = on_far({2}, {1, 2});
  const of_value arguments[] = {to_value(x), to_value(1.0)};
  of_value result{};
  call_inside(*kAdd, nullptr, arguments, {&result, 1}, false, x.get());
  EXPECT_EQ(values(*TensorRef::adopt(to_tensor(result.as.tensor))), (Values{2, 3}));
  EXPECT_TRUE(x->is_unique());
}

TEST_F(FallbackTest, ReportsTheErrorsOfTheHost) {
  const TensorRef x = on_far({3}, {1, 2, 3}), index = on_far({1}, {7}, OF_INT64), value = on_far({1}, {9});
  const std::array indices{to_handle(index.get())};
  const of_value arguments[] = {to_value(x), to_value(indices), to_value(value)};
  of_value result{};
  EXPECT_EQ(of_call(to_handle(&*kIndexPut), arguments, 3, &result, 1), OF_INDEX_OUT_OF_RANGE);
  EXPECT_STREQ(of_last_error(), "index_put_: index 7 is out of range for dimension 0 of size 3");
  EXPECT_EQ(values(*x), (Values{1, 2, 3}));
}

// A layer below passes calls on through the C API, which knows statuses and texts only.
TEST_F(FallbackTest, SeesThroughLayersBelow) {
  int calls = 0;
  const auto pass_on = [](void* count, of_layer_call* call) {
    ++*static_cast<int*>(count);
    return of_layer_next(call, OF_BODY_SEEN);
  };
  ASSERT_EQ(of_layer_install(OF_LAYER_FALLBACK + 1, OF_LAYER_ALL_CALLS, pass_on, &calls), OF_OK);
  EXPECT_EQ(values(*call_operator(kNeg, on_far({1}, {1}))), Values{-1});
  ASSERT_EQ(of_layer_remove(OF_LAYER_FALLBACK + 1), OF_OK);
  EXPECT_EQ(calls, 2) << "the layer sees the call on the device, and that on the host";
  EXPECT_EQ(fallbacks(), (Counts{{"neg", 1}}));
}

// The composite converts half operands in place of its arguments before its parts fail.
TEST_F(FallbackTest, FindsTheArgumentsAsTheyWereAfterAFailure) {
  int failures = 0;
  const auto fail_once = [](void* failures, of_layer_call* call) {
    of_layer_call_info info{};
    info.struct_size = sizeof(info);
    of_layer_get_call(call, &info);
    if (info.op != to_handle(&*kSoftmax) && info.op != of_op_find("cast") && (*static_cast<int*>(failures))++ == 0)
      return of_fail(OF_UNSUPPORTED, "not now");
    return of_layer_next(call, OF_BODY_SEEN);
  };
  const auto try_twice = [](void*, of_layer_call* call) {
    return of_layer_next(call, OF_BODY_HIDDEN) == OF_OK ? OF_INTERNAL_ERROR : of_layer_next(call, OF_BODY_HIDDEN);
  };
  ASSERT_EQ(of_layer_install(OF_LAYER_CAPTURE, OF_LAYER_ALL_CALLS, fail_once, &failures), OF_OK);
  ASSERT_EQ(of_layer_install(kOuter, OF_LAYER_ALL_CALLS, try_twice, nullptr), OF_OK);
  const TensorRef result = call_operator(kSoftmax, make_tensor({2}, {1, 1}, OF_FLOAT16), 0);
  ASSERT_EQ(of_layer_remove(kOuter), OF_OK);
  ASSERT_EQ(of_layer_remove(OF_LAYER_CAPTURE), OF_OK);
  EXPECT_GT(failures, 1);
  EXPECT_EQ(values(*result), (Values{0.5, 0.5}));
}

}  // namespace
}  // namespace oneflow
