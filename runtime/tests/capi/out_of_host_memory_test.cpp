// Tests that a call in which any allocation on the host fails returns OutOfMemory, leaks nothing and does not change
// its operands.
#include <gtest/gtest.h>
#include <oneflow/oneflow.h>

#include <functional>

#include "capi/dlpack.h"
#include "tests/support/failing_new.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

// Runs `call` repeatedly, with the first, second … allocation failing, until it returns `success`, its status with
// enough memory. Returns the number of runs that failed.
int fail_at_each_allocation(const std::function<of_status()>& call, of_status success = OF_OK) {
  for (int allowed = 0; allowed < 1000; ++allowed) {
    allow_allocations(allowed);
    const of_status status = call();
    allow_allocations(-1);
    if (status == success) return allowed;
    EXPECT_EQ(status, OF_OUT_OF_MEMORY) << of_last_error();
  }
  ADD_FAILURE() << "never succeeded";
  return -1;
}

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

}  // namespace
}  // namespace oneflow
