// Tests that a call in which any allocation on the host fails returns OutOfMemory, leaks nothing and does not change
// its operands.
#include <gtest/gtest.h>
#include <oneflow/autograd.h>
#include <oneflow/oneflow.h>
#include <oneflow/profile.h>
#include <oneflow/session.h>

#include <functional>

#include "capi/dlpack.h"
#include "tests/support/failing_new.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

// Runs `call` repeatedly, with the first, second … allocation failing, until it returns `success`, its status with
// enough memory. Of many allocations, only every hundredth part of those before fails. Returns the number of runs that
// failed.
int fail_at_each_allocation(const std::function<of_status()>& call, of_status success = OF_OK) {
  constexpr int kMost = 1'000'000, kAll = 2000;
  int failed = 0;
  for (int allowed = 0; allowed < kMost; allowed += 1 + (allowed > kAll ? allowed / 100 : 0), ++failed) {
    allow_allocations(allowed);
    const of_status status = call();
    allow_allocations(-1);
    if (status == success) return failed;
    EXPECT_EQ(status, OF_OUT_OF_MEMORY) << of_last_error();
    if (testing::Test::HasFailure()) return failed;
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

// ---------------------------------------------------------------- gradients

of_value tensor_value(of_tensor tensor) { return {OF_VALUE_TENSOR, 0, {.tensor = tensor}}; }

// Stores the product of two tensors in `result`.
of_status multiply(of_tensor a, of_tensor b, of_tensor* result) {
  const of_value arguments[] = {tensor_value(a), tensor_value(b)};
  of_value product{};
  const of_status status = of_call(of_op_find("mul"), arguments, 2, &product, 1);
  if (status == OF_OK) *result = product.as.tensor;
  return status;
}

// A tensor that is released at the end of a run.
struct Kept {
  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() { of_tensor_release(tensor); }
  of_tensor tensor = nullptr;
};

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

// ---------------------------------------------------------------- graphs

// Captures relu((x + c) * x) and x + c, with a size that varies.
of_status capture_graph(of_tensor input, of_tensor constant, of_graph* graph) {
  of_file_node nodes[2]{};
  nodes[0] = {OF_NODE_DICTIONARY, 1, nullptr, {}};
  nodes[1] = {OF_NODE_TENSOR, 0, "x", {.tensor = input}};
  const of_named_size size{"n", 1, 64, 1};
  const of_named_dimension dimension{0, 0, 0};
  of_capture_options options{};
  options.struct_size = sizeof options;
  options.sizes = &size;
  options.size_count = 1;
  options.dimensions = &dimension;
  options.dimension_count = 1;
  of_capture capture = nullptr;
  if (of_status failed = of_capture_create(nodes, 2, &options, &capture)) return failed;
  const auto record = [&]() -> of_status {
    if (of_status failed = of_capture_name(capture, constant, "c")) return failed;
    for (bool has_begun = true; has_begun;) {
      Kept x;
      if (of_status failed = of_capture_begin(capture, &x.tensor, &has_begun)) return failed;
      if (!has_begun) break;
      const auto call = [&](const char* name, of_tensor a, of_tensor b, Kept& result) {
        const of_value arguments[] = {tensor_value(a), tensor_value(b)};
        of_value value{};
        const of_status status = of_call(of_op_find(name), arguments, b ? 2 : 1, &value, 1);
        if (status == OF_OK) result.tensor = value.as.tensor;
        return status;
      };
      Kept sum, product, last;
      if (of_status failed = call("add", x.tensor, constant, sum)) return failed;
      if (of_status failed = call("mul", sum.tensor, x.tensor, product)) return failed;
      if (of_status failed = call("relu", product.tensor, nullptr, last)) return failed;
      const of_file_node outputs[] = {{OF_NODE_LIST, 2, nullptr, {}},
                                      {OF_NODE_TENSOR, 0, nullptr, {.tensor = last.tensor}},
                                      {OF_NODE_TENSOR, 0, nullptr, {.tensor = sum.tensor}}};
      if (of_status failed = of_capture_end(capture, outputs, 3)) return failed;
    }
    return of_capture_finish(capture, graph);
  };
  const of_status status = record();
  if (status != OF_OK) of_capture_cancel(capture);
  of_capture_release(capture);
  return status;
}

// Runs a session, and releases the outputs. Without success there are none.
of_status run_session(of_session session, of_tensor input) {
  of_value outputs[2]{};
  const of_status status = of_session_run(session, &input, 1, outputs, 2, nullptr);
  for (of_value& output : outputs) {
    EXPECT_EQ(output.kind == OF_VALUE_TENSOR, status == OF_OK);
    of_value_release(&output);
  }
  return status;
}

class GraphsOutOfHostMemoryTest : public OutOfHostMemoryTest {
 protected:
  void SetUp() override {
    OutOfHostMemoryTest::SetUp();
    ASSERT_EQ(capture_graph(handle_, to_handle(constant_.get()), &graph_), OF_OK);
    before_ = Tensor::live_count();
  }
  void TearDown() override {
    EXPECT_EQ(Tensor::live_count(), before_);
    of_graph_release(graph_);
    OutOfHostMemoryTest::TearDown();
  }

  const TensorRef constant_ = make_tensor({3}, {10, 20, 30});
  of_graph graph_ = nullptr;
  uint64_t before_ = 0;
};

TEST_F(GraphsOutOfHostMemoryTest, Captures) {
  EXPECT_GT(fail_at_each_allocation([&] {
              of_graph graph = nullptr;
              const of_status status = capture_graph(handle_, to_handle(constant_.get()), &graph);
              EXPECT_EQ(graph != nullptr, status == OF_OK);
              of_graph_release(graph);
              return status;
            }),
            0);
}

TEST_F(GraphsOutOfHostMemoryTest, FirstRunsOfSessions) {
  EXPECT_GT(fail_at_each_allocation([&] {
              of_session session = nullptr;
              if (of_status failed = of_session_create(graph_, nullptr, &session)) return failed;
              const of_status status = run_session(session, handle_);
              of_session_release(session);
              return status;
            }),
            0);
}

TEST_F(GraphsOutOfHostMemoryTest, LaterRunsOfSessions) {
  of_session session = nullptr;
  ASSERT_EQ(of_session_create(graph_, nullptr, &session), OF_OK);
  ASSERT_EQ(run_session(session, handle_), OF_OK);
  EXPECT_GT(fail_at_each_allocation([&] { return run_session(session, handle_); }), 0);
  ASSERT_EQ(run_session(session, handle_), OF_OK);
  of_session_release(session);
}

TEST_F(GraphsOutOfHostMemoryTest, Optimizations) {
  of_graph once = nullptr;  // makes what is kept for the life of the process
  ASSERT_EQ(of_graph_optimize(graph_, nullptr, &once, nullptr), OF_OK);
  of_graph_release(once);
  EXPECT_GT(fail_at_each_allocation([&] {
              of_graph optimized = nullptr;
              of_report report = nullptr;
              const of_status status = of_graph_optimize(graph_, nullptr, &optimized, &report);
              EXPECT_EQ(optimized != nullptr, status == OF_OK);
              of_graph_release(optimized);
              of_report_release(report);
              return status;
            }),
            0);
}

TEST_F(GraphsOutOfHostMemoryTest, DescriptionsOfGraphs) {
  EXPECT_GT(fail_at_each_allocation([&] {
              of_graph expanded = nullptr;
              const of_status status = of_graph_expand(graph_, nullptr, 0, &expanded);
              of_graph_release(expanded);
              return status;
            }),
            0);
  EXPECT_GT(fail_at_each_allocation([&] {
              const of_size_value size{"n", 5};
              of_cost cost = nullptr;
              const of_status status = of_graph_get_cost(graph_, &size, 1, &cost);
              of_cost_release(cost);
              return status;
            }),
            0);
  EXPECT_GT(fail_at_each_allocation([&] {
              char* text = nullptr;
              const of_status status = of_graph_picture(graph_, &text);
              of_free(text);
              return status;
            }),
            0);
  EXPECT_GT(fail_at_each_allocation([&] {
              of_graph_call call{};
              call.struct_size = sizeof call;
              return of_graph_call_at(graph_, 0, &call);
            }),
            0);
}

TEST_F(GraphsOutOfHostMemoryTest, Profiles) {
  EXPECT_GT(fail_at_each_allocation([&] {
              of_profile profile = nullptr;
              if (of_status failed = of_profile_begin(&profile)) return failed;
              of_status status;
              of_value result = call("add", {handle_, handle_}, &status);
              of_value_release(&result);
              if (status == OF_OK) status = of_profile_end(profile);
              of_profile_release(profile);
              return status;
            }),
            0);
}

}  // namespace
}  // namespace oneflow
