// Sessions in C++, and what only programs in C can do wrong.
#include <gtest/gtest.h>

#include <memory>
#include <oneflow/session.hpp>

namespace flow = oneflow;

namespace {

flow::Graph doubled() {
  return flow::capture({flow::ones({2, 3})},
                       [](const std::vector<flow::Tensor>& inputs) { return std::vector{(inputs[0] + 1) * 2}; });
}

TEST(Session, RunsOnAnotherThread) {
  const flow::Session session(doubled());
  std::vector<std::future<std::vector<flow::Tensor>>> runs;
  for (int i = 0; i < 8; ++i) runs.push_back(session.run_async({flow::ones({2, 3}) * i}));
  for (size_t i = 0; i < runs.size(); ++i)
    EXPECT_EQ(runs[i].get()[0].to_vector<float>(), std::vector<float>(6, 2 * (static_cast<float>(i) + 1)));
}

TEST(Session, AsynchronousRunsReportErrors) {
  const flow::Session session(doubled());
  std::future<std::vector<flow::Tensor>> run = session.run_async({flow::ones({2, 4})});
  EXPECT_THROW(run.get(), flow::ShapeError);
  EXPECT_EQ(of_session_run_async(session.get(), nullptr, 0, nullptr, 0, nullptr, nullptr, nullptr),
            OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_session_run_async(nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr, nullptr), OF_INVALID_ARGUMENT);
}

TEST(Session, WarmUpAndMemory) {
  flow::Session session(doubled());
  EXPECT_EQ(session.info().plan_count, 0u);
  session.warm_up();
  EXPECT_EQ(session.info().plan_count, 1u);
  EXPECT_THROW(session.warm_up({1}), flow::InvalidArgument);
  session.set_memory_limit(8);
  EXPECT_EQ(session.info().memory_limit, 8u);
  EXPECT_THROW(session.run({flow::ones({2, 3})}), flow::OutOfMemory);
  session.set_memory_limit(0);
  EXPECT_EQ(session.run({flow::ones({2, 3})})[0].to_vector<float>(), std::vector<float>(6, 4));
}

// What a program computes while it is captured can be limited: see of_capture_limit().
TEST(Capture, LimitsWhatItsProgramComputes) {
  of_file_node nodes[2]{};
  nodes[0].kind = OF_NODE_LIST;
  nodes[0].count = 1;
  const flow::Tensor example = flow::ones({2});
  nodes[1].as.tensor = example.get();
  of_capture handle = nullptr;
  flow::check(of_capture_create(nodes, 2, nullptr, &handle));
  const std::unique_ptr<of_capture_object, decltype(&of_capture_release)> capture(handle, of_capture_release);
  EXPECT_EQ(of_capture_limit(handle, 1000, nullptr), OF_INVALID_ARGUMENT) << "no run has begun";
  of_tensor input = nullptr;
  bool has_begun = false;
  flow::check(of_capture_begin(handle, &input, &has_begun));
  const flow::Tensor owned(input);
  flow::check(of_capture_pause(handle, true));
  flow::check(of_capture_limit(handle, 1000, nullptr));
  EXPECT_EQ(flow::ones({100}).count(), 100);
  EXPECT_THROW(flow::ones({200}), flow::OutOfMemory);
  uint64_t allocated = 0;
  flow::check(of_capture_limit(handle, UINT64_MAX, &allocated));
  EXPECT_EQ(allocated, 1200u);
  EXPECT_EQ(flow::ones({1000}).count(), 1000);
  flow::check(of_capture_limit(handle, 1000, &allocated));
  flow::check(of_capture_pause(handle, false));
  flow::check(of_capture_cancel(handle));
  EXPECT_EQ(flow::ones({1000}).count(), 1000) << "the run has ended";
}

}  // namespace
