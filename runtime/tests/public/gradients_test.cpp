// Tests the C++ header of gradients.
#include <gtest/gtest.h>

#include <oneflow/autograd.hpp>

namespace {

namespace flow = oneflow;

using Floats = std::vector<float>;

TEST(CppGradients, OfALeaf) {
  const flow::Tensor x = flow::requires_grad(flow::tensor({1.0, 2.0}));
  EXPECT_TRUE(flow::has_gradient(x));
  EXPECT_FALSE(flow::gradient(x));
  flow::backward((x * x).sum());
  EXPECT_EQ(flow::gradient(x)->to_vector<float>(), (Floats{2, 4}));
  flow::backward(x * 3, flow::tensor({1.0, 10.0}));
  EXPECT_EQ(flow::gradient(x)->to_vector<float>(), (Floats{5, 34}));
}

TEST(CppGradients, OfGradients) {
  const flow::Tensor x = flow::requires_grad(flow::tensor({2.0}));
  const auto first = flow::grad((x * x * x).sum(), std::span(&x, 1), {.create_graph = true});
  const auto second = flow::grad(first[0]->sum(), std::span(&x, 1));
  EXPECT_EQ(second[0]->to_vector<float>(), (Floats{12}));
}

TEST(CppGradients, AreNotRecordedWithinNoGrad) {
  const flow::Tensor x = flow::requires_grad(flow::tensor({2.0}));
  {
    const flow::NoGrad off;
    EXPECT_FALSE(flow::has_gradient(x * 2));
    const flow::GradMode on(true);
    EXPECT_TRUE(flow::has_gradient(x * 2));
  }
  EXPECT_TRUE(flow::has_gradient(x * 2));
  EXPECT_FALSE(flow::has_gradient(flow::detach(x)));
}

TEST(CppGradients, Errors) {
  EXPECT_THROW(flow::requires_grad(flow::tensor({1, 2})), flow::DTypeError);
  EXPECT_THROW(flow::backward(flow::tensor({1.0})), flow::InvalidArgument);
}

}  // namespace
