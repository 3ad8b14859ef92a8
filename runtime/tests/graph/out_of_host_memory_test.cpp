// Tests that captures, graphs and sessions in which any allocation on the host fails return OutOfMemory, and leak
// nothing.
#include <gtest/gtest.h>
#include <oneflow/profile.h>
#include <oneflow/session.h>

#include "tests/support/out_of_memory.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

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

class GraphsOutOfHostMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(capture_graph(handle_, to_handle(constant_.get()), &graph_), OF_OK);
    before_ = Tensor::live_count();
  }
  void TearDown() override {
    EXPECT_EQ(Tensor::live_count(), before_);
    of_graph_release(graph_);
  }

  const TensorRef matrix_ = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const of_tensor handle_ = to_handle(matrix_.get());
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
              const of_value arguments[] = {tensor_value(handle_), tensor_value(handle_)};
              of_value result{};
              of_status status = of_call(of_op_find("add"), arguments, 2, &result, 1);
              of_value_release(&result);
              if (status == OF_OK) status = of_profile_end(profile);
              of_profile_release(profile);
              return status;
            }),
            0);
}

}  // namespace
}  // namespace oneflow
