// Tests the C API of gradients: what no front end reaches. Their tests compare the gradients themselves.
#include <gtest/gtest.h>
#include <oneflow/autograd.h>

#include <cmath>
#include <thread>

#include "dispatch/dispatch.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

constinit const OperatorName kMul("mul");
constinit const OperatorName kSum("sum");
constinit const OperatorName kExp("exp");

TensorRef leaf(const std::vector<double>& elements) {
  TensorRef tensor = make_tensor({static_cast<int64_t>(elements.size())}, elements);
  EXPECT_EQ(of_tensor_set_requires_grad(to_handle(tensor.get()), true), OF_OK);
  return tensor;
}

TensorRef grad_of(const Tensor& tensor) {
  of_tensor grad = nullptr;
  EXPECT_EQ(of_tensor_get_grad(to_handle(const_cast<Tensor*>(&tensor)), &grad), OF_OK);
  return TensorRef::adopt(to_tensor(grad));
}

of_status backward(const TensorRef& tensor, bool retain_graph = false) {
  const of_tensor root = to_handle(tensor.get());
  const of_backward_options options{sizeof(options), retain_graph, false};
  return of_backward(&root, nullptr, 1, &options);
}

TEST(Autograd, AddsGradientsToLeaves) {
  const TensorRef x = leaf({1, 2, 3});
  const TensorRef y = call_operator(kSum, call_operator(kMul, x, x));
  EXPECT_STREQ(of_tensor_grad_fn(to_handle(y.get())), "sum");
  ASSERT_EQ(backward(y), OF_OK) << of_last_error();
  EXPECT_EQ(values(*grad_of(*x)), (std::vector<double>{2, 4, 6}));
}

TEST(Autograd, NullPointersAreErrors) {
  const TensorRef x = leaf({1});
  const of_tensor handle = to_handle(x.get());
  EXPECT_EQ(of_backward(nullptr, nullptr, 1, nullptr), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_tensor_get_grad(handle, nullptr), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_tensor_detach(nullptr, nullptr), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_tensor_copy_leaf(handle, nullptr), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_independent_variable(handle, true, nullptr), OF_INVALID_ARGUMENT);
  bool depends = false;
  EXPECT_EQ(of_depends_on_others(&handle, 1, nullptr, 1, &depends), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_tensor_add_hook(handle, nullptr, nullptr, nullptr, nullptr), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_grad(&handle, nullptr, 1, nullptr, 1, nullptr, nullptr), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_record_function(nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr, nullptr), OF_INVALID_ARGUMENT);
  EXPECT_FALSE(of_tensor_requires_grad(nullptr));
  const of_backward_options options{};
  EXPECT_EQ(of_backward(&handle, nullptr, 1, &options), OF_INVALID_ARGUMENT);
}

TEST(Autograd, InferenceIsNotRecorded) {
  const TensorRef x = leaf({1});
  const of_value argument = to_value(*x);
  of_value result{};
  infer(*kExp, {&argument, 1}, {&result, 1});
  EXPECT_FALSE(of_tensor_requires_grad(result.as.tensor));
  release_value(result);
}

struct Counts {
  int calls = 0, destroyed = 0;
};

TEST(Autograd, HooksAndFunctionsAreDestroyedOnce) {
  Counts hook, function;
  const auto count_hook = [](void* context, of_tensor, of_tensor*) {
    ++static_cast<Counts*>(context)->calls;
    return OF_OK;
  };
  const auto pass_on = [](void* context, const of_tensor* grads, size_t, const bool* wanted, of_tensor* results,
                          size_t) {
    ++static_cast<Counts*>(context)->calls;
    if (wanted[0]) results[0] = of_tensor_retain(grads[0]);
    return OF_OK;
  };
  const auto destroy = [](void* context) { ++static_cast<Counts*>(context)->destroyed; };
  {
    const TensorRef x = leaf({1, 2});
    const TensorRef y = make_tensor({2}, {5, 6});
    const of_tensor input = to_handle(x.get()), output = to_handle(y.get());
    ASSERT_EQ(of_tensor_add_hook(input, count_hook, &hook, destroy, nullptr), OF_OK);
    ASSERT_EQ(of_record_function("mine", &input, 1, &output, 1, pass_on, &function, destroy), OF_OK);
    EXPECT_STREQ(of_tensor_grad_fn(output), "mine");
    ASSERT_EQ(backward(call_operator(kSum, y)), OF_OK) << of_last_error();
    EXPECT_EQ(values(*grad_of(*x)), (std::vector<double>{1, 1}));
    EXPECT_EQ(function.destroyed, 1);  // the pass has freed the graph
    EXPECT_EQ(hook.destroyed, 0);
  }
  EXPECT_EQ(hook.calls, 1);
  EXPECT_EQ(hook.destroyed, 1);
  EXPECT_EQ(function.calls, 1);
}

TEST(Autograd, AFunctionWithoutAWantedGradientIsDestroyedAtOnce) {
  Counts function;
  const auto never = [](void*, const of_tensor*, size_t, const bool*, of_tensor*, size_t) { return OF_INTERNAL_ERROR; };
  const TensorRef x = make_tensor({1}, {1}), y = make_tensor({1}, {2});
  const of_tensor input = to_handle(x.get()), output = to_handle(y.get());
  ASSERT_EQ(of_record_function("mine", &input, 1, &output, 1, never, &function,
                               [](void* context) { ++static_cast<Counts*>(context)->destroyed; }),
            OF_OK);
  EXPECT_EQ(function.destroyed, 1);
  EXPECT_TRUE(of_tensor_is_leaf(output));
}

TEST(Autograd, TheErrorOfAHookIsThatOfThePass) {
  const TensorRef x = leaf({1});
  const auto failing = [](void*, of_tensor, of_tensor*) { return of_fail(OF_UNSUPPORTED, "not today"); };
  ASSERT_EQ(of_tensor_add_hook(to_handle(x.get()), failing, nullptr, nullptr, nullptr), OF_OK);
  EXPECT_EQ(backward(call_operator(kSum, x)), OF_UNSUPPORTED);
  EXPECT_NE(std::string(of_last_error()).find("not today"), std::string::npos);
}

TEST(Autograd, PassesOfSeveralThreadsShareAGraph) {
  const TensorRef x = leaf({1, 2, 3});
  const TensorRef y = call_operator(kSum, call_operator(kExp, call_operator(kMul, x, x)));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 25; ++k) EXPECT_EQ(backward(y, true), OF_OK) << of_last_error();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_NEAR(values(*grad_of(*x))[0], 100 * 2 * std::exp(1.0), 1e-2);
}

TEST(Autograd, RecordingAndReleasingOnSeveralThreads) {
  const TensorRef x = leaf({1, 2, 3});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 200; ++k) {
        const TensorRef y = call_operator(kSum, call_operator(kMul, x, call_operator(kExp, x)));
        if (k % 2) {
          EXPECT_EQ(backward(y), OF_OK);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(grad_of(*x));
}

TEST(Autograd, NothingLeaks) {
  const uint64_t before = Tensor::live_count();
  for (int i = 0; i < 3; ++i) {
    const TensorRef x = leaf({1, 2});
    TensorRef y = x;
    for (int k = 0; k < 100; ++k) y = call_operator(kExp, call_operator(kMul, y, 0.001));
    EXPECT_EQ(backward(call_operator(kSum, y)), OF_OK);
  }
  EXPECT_EQ(Tensor::live_count(), before);
}

}  // namespace
}  // namespace oneflow
