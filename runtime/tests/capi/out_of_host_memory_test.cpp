// Tests that a call in which any allocation on the host fails returns OutOfMemory, leaks nothing and does not change
// its operands.
#include <gtest/gtest.h>
#include <oneflow/autograd.h>
#include <oneflow/oneflow.h>

#include "capi/dlpack.h"
#include "tests/support/out_of_memory.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

class OutOfHostMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    matrix_ = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6});
    handle_ = to_handle(matrix_.get());
    // Makes the allocations that are kept for the life of the process, which are not tested.
    of_value result = call("add", {handle_, handle_}, nullptr);
    of_value_release(&result);
    of_fail(OF_OK, "");
  }
  void TearDown() override {
    EXPECT_EQ(values(*matrix_), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_TRUE(matrix_->storage()->buffer().is_unique());
  }

  static of_value call(const char* name, std::initializer_list<of_tensor> operands, of_status* status) {
    of_value arguments[4]{}, result{};
    size_t count = 0;
    for (const of_tensor operand : operands) {
      arguments[count].kind = OF_VALUE_TENSOR;
      arguments[count++].as.tensor = operand;
    }
    const of_status got = of_call(of_op_find(name), arguments, count, &result, 1);
    if (status) *status = got;
    return result;
  }

  TensorRef matrix_;
  of_tensor handle_ = nullptr;
};

TEST_F(OutOfHostMemoryTest, ResultsOfOperators) {
  const uint64_t before = Tensor::live_count();
  // The free lists hold blocks of earlier results. So many results are kept that new blocks must be allocated.
  std::vector<of_tensor> kept;
  kept.reserve(10'000);
  int failures = 0;
  for (int i = 0; i < 3000; ++i) {
    failures += fail_at_each_allocation([&] {
      of_status status;
      const of_value result = call("add", {handle_, handle_}, &status);
      if (status == OF_OK) kept.push_back(result.as.tensor);
      return status;
    });
  }
  EXPECT_GT(failures, 0);
  EXPECT_EQ(Tensor::live_count(), before + kept.size());
  for (const of_tensor tensor : kept) of_tensor_release(tensor);
  EXPECT_EQ(Tensor::live_count(), before);
}

TEST_F(OutOfHostMemoryTest, TheCallerKeepsForeignMemory) {
  float data[4] = {1, 2, 3, 4};
  const int64_t sizes[] = {4};
  int deleted = 0;
  of_tensor_source source{};
  source.struct_size = sizeof(source);
  source.dtype = OF_FLOAT32;
  source.rank = 1;
  source.sizes = sizes;
  source.data = data;
  source.bytes = sizeof(data);
  source.deleter = [](void* context) { ++*static_cast<int*>(context); };
  source.deleter_context = &deleted;
  std::vector<of_tensor> kept;
  kept.reserve(10'000);
  for (int i = 0; i < 3000; ++i) {
    fail_at_each_allocation([&] {
      of_tensor tensor = nullptr;
      const of_status status = of_tensor_create(&source, &tensor);
      if (tensor) kept.push_back(tensor);
      return status;
    });
    ASSERT_EQ(deleted, 0);
  }
  for (const of_tensor tensor : kept) of_tensor_release(tensor);
  EXPECT_EQ(deleted, 3000);
}

TEST_F(OutOfHostMemoryTest, Formatting) {
  EXPECT_GT(fail_at_each_allocation([&] {
              char* text = nullptr;
              const of_status status = of_tensor_format(handle_, nullptr, &text);
              if (status == OF_OK) {
                EXPECT_STREQ(text, "[[1., 2., 3.],\n [4., 5., 6.]]");
              }
              of_free(text);
              return status;
            }),
            0);
}

TEST_F(OutOfHostMemoryTest, ErrorTexts) {
  of_device device;
  EXPECT_GT(fail_at_each_allocation([&] { return of_device_parse("a device of this name is not there", &device); },
                                    OF_DEVICE_ERROR),
            0);
  const TensorRef other = make_tensor({4}, {1, 2, 3, 4});
  EXPECT_GT(fail_at_each_allocation(
                [&] {
                  of_status status;
                  call("add", {handle_, to_handle(other.get())}, &status);
                  return status;
                },
                OF_SHAPE_ERROR),
            0);
}

TEST_F(OutOfHostMemoryTest, ViewsAndExports) {
  std::vector<of_tensor> kept;
  kept.reserve(10'000);
  of_index part{};
  part.kind = OF_INDEX_SLICE;
  part.step = -1;
  for (int i = 0; i < 1500; ++i)
    fail_at_each_allocation([&] {
      of_tensor view = nullptr;
      const of_status status = of_tensor_index(handle_, &part, 1, &view);
      if (view) kept.push_back(view);
      return status;
    });
  for (const of_tensor view : kept) {
    fail_at_each_allocation([&] {
      DLManagedTensor* managed = nullptr;
      const of_status status = of_tensor_to_dlpack(view, &managed);
      if (managed) managed->deleter(managed);
      return status;
    });
    of_tensor_release(view);
  }
}

// ---------------------------------------------------------------- gradients

// Stores the product of two tensors in `result`.
of_status multiply(of_tensor a, of_tensor b, of_tensor* result) {
  const of_value arguments[] = {tensor_value(a), tensor_value(b)};
  of_value product{};
  const of_status status = of_call(of_op_find("mul"), arguments, 2, &product, 1);
  if (status == OF_OK) *result = product.as.tensor;
  return status;
}

of_status keep_gradient(void*, of_tensor, of_tensor*) { return OF_OK; }

TEST_F(OutOfHostMemoryTest, Gradients) {
  const TensorRef leaf = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const of_tensor handle = to_handle(leaf.get());
  const auto run = [&]() -> of_status {
    int destroyed = 0;
    const auto destroy = [](void* count) { ++*static_cast<int*>(count); };
    const of_status status = [&] {
      Kept product, square, grad;
      of_hook hook = nullptr;
      if (of_status failed = of_tensor_set_requires_grad(handle, true)) return failed;
      if (of_status failed = multiply(handle, handle, &square.tensor)) return failed;
      if (of_status failed = of_tensor_retain_grad(square.tensor)) return failed;
      if (of_status failed = of_tensor_add_hook(square.tensor, keep_gradient, &destroyed, destroy, &hook))
        return failed;
      of_hook_release(hook);
      if (of_status failed = multiply(square.tensor, handle, &product.tensor)) return failed;
      if (of_status failed = of_grad(&product.tensor, &handle, 1, &handle, 1, nullptr, &grad.tensor)) return failed;
      return OF_OK;
    }();
    if (status == OF_OK) EXPECT_EQ(destroyed, 1);
    return status;
  };
  ASSERT_EQ(run(), OF_OK);
  const uint64_t before = Tensor::live_count();
  EXPECT_GT(fail_at_each_allocation(run), 0);
  EXPECT_EQ(Tensor::live_count(), before);
  EXPECT_GT(fail_at_each_allocation([&] {
              Kept square;
              if (of_status failed = multiply(handle, handle, &square.tensor)) return failed;
              const of_status status = of_backward(&square.tensor, &handle, 1, nullptr);
              of_tensor_set_grad(handle, nullptr);
              return status;
            }),
            0);
  EXPECT_EQ(Tensor::live_count(), before);
}

TEST_F(OutOfHostMemoryTest, TheContextOfAHookIsDestroyedOnce) {
  const TensorRef leaf = make_tensor({2}, {1, 2});
  ASSERT_EQ(of_tensor_set_requires_grad(to_handle(leaf.get()), true), OF_OK);
  int calls = 0, destroyed = 0;
  EXPECT_GT(fail_at_each_allocation([&] {
              ++calls;
              of_hook hook = nullptr;
              const auto destroy = [](void* count) { ++*static_cast<int*>(count); };
              const of_status status =
                  of_tensor_add_hook(to_handle(leaf.get()), keep_gradient, &destroyed, destroy, &hook);
              EXPECT_EQ(destroyed, status == OF_OK ? calls - 1 : calls);
              of_hook_release(hook);
              return status;
            }),
            0);
}

}  // namespace
}  // namespace oneflow
