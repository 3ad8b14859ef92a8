// Sessions in C++, and what only programs in C can do wrong.
#include <gtest/gtest.h>

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

}  // namespace
