// Tests plans: what a trace records, and the memory of runs that repeat it.
#include "graph/session/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "dispatch/dispatch.h"
#include "graph/capture/capture.h"
#include "graph/graph.h"
#include "graph/session/session.h"
#include "tensor/host_elements.h"
#include "tests/support/failing_new.h"
#include "tests/support/test_tensors.h"

namespace oneflow::graph {
namespace {

constinit const OperatorName kAdd("add"), kExp("exp"), kMatmul("matmul"), kRand("rand_like"), kNeg("neg");

TensorRef filled(const Shape& sizes, float value) {
  TensorRef tensor = Tensor::allocate(sizes, OF_FLOAT32, kHost);
  auto* data = static_cast<float*>(tensor->mutable_data());
  for (int64_t i = 0; i < tensor->count(); ++i) data[i] = value;
  return tensor;
}

template <class Function>
Ref<Graph> capture(const std::vector<TensorRef>& examples, Function&& function) {
  std::vector<ExampleInput> inputs;
  for (const TensorRef& example : examples) inputs.push_back({std::to_string(inputs.size()), example, {}});
  std::string structure = "[";
  for (size_t i = 0; i < examples.size(); ++i) structure += i ? ",0" : "0";
  Capture capture(std::move(inputs), structure + "]", {});
  while (auto tensors = capture.begin()) {
    const std::vector<TensorRef> outputs = function(*tensors);
    std::vector<std::string> names;
    std::string nested = "[";
    for (size_t i = 0; i < outputs.size(); ++i) {
      names.push_back(std::to_string(i));
      nested += i ? ",0" : "0";
    }
    capture.end(std::move(names), outputs, nested + "]");
  }
  return Graph::create(capture.finish());
}

std::vector<TensorRef> run(const Session& session, const std::vector<TensorRef>& inputs, size_t outputs) {
  std::vector<of_tensor> handles;
  for (const TensorRef& input : inputs) handles.push_back(to_handle(input.get()));
  std::vector<of_value> values(outputs);
  session.run(handles, values, nullptr);
  std::vector<TensorRef> results;
  for (const of_value& value : values) results.push_back(TensorRef::adopt(to_tensor(value.as.tensor)));
  return results;
}

float first_of(const TensorRef& tensor) { return *static_cast<const float*>(tensor->data()); }

TEST(Plan, ALongChainNeedsTheMemoryOfFewResults) {
  const Ref<Session> session = Session::create(capture({filled({64, 64}, 1)}, [](const std::vector<TensorRef>& inputs) {
    TensorRef x = inputs[0];
    for (int i = 0; i < 20; ++i) x = call_operator(kMatmul, x, inputs[0]);
    return std::vector{x};
  }));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(first_of(run(*session, {filled({64, 64}, 1.0f / 64)}, 1)[0]), 1.0f / 64);
  EXPECT_EQ(session->info().plan_count, 1u);
  EXPECT_LE(session->info().memory, 2u * 64 * 64 * sizeof(float));
}

TEST(Plan, PointwiseWorkIsDoneInTheMemoryOfTheOutput) {
  const auto function = [](const std::vector<TensorRef>& inputs) {
    const TensorRef product = call_operator(kMatmul, inputs[0], inputs[0]);
    return std::vector{call_operator(kNeg, call_operator(kAdd, product, inputs[1]))};
  };
  const std::vector<TensorRef> inputs{filled({64, 64}, 1), filled({64}, 1)};
  const Ref<Session> session = Session::create(capture(inputs, function));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(first_of(run(*session, inputs, 1)[0]), -65);
  EXPECT_EQ(session->info().memory, 0u);
}

TEST(Plan, ResultsOfOneRunSurviveTheNext) {
  const Ref<Session> session = Session::create(capture({filled({100}, 1)}, [](const std::vector<TensorRef>& inputs) {
    return std::vector{call_operator(kExp, call_operator(kNeg, inputs[0])), call_operator(kAdd, inputs[0], 1)};
  }));
  run(*session, {filled({100}, 0)}, 2);
  const auto kept = run(*session, {filled({100}, 0)}, 2);
  run(*session, {filled({100}, 5)}, 2);
  EXPECT_EQ(first_of(kept[0]), 1);
  EXPECT_EQ(first_of(kept[1]), 1);
}

TEST(Plan, OutputsOfTheCallerAreWrittenDirectlyUnlessTheyOverlap) {
  const Ref<Session> session = Session::create(capture({filled({100}, 1)}, [](const std::vector<TensorRef>& inputs) {
    return std::vector{call_operator(kExp, call_operator(kNeg, inputs[0])), call_operator(kAdd, inputs[0], 1)};
  }));
  const TensorRef first = filled({100}, 9), second = filled({100}, 9);
  for (const float value : {0.0f, 1.0f, 2.0f}) {
    const TensorRef input = filled({100}, value);
    // At the end, the input is the place of an output: it is read before.
    const TensorRef& last = value == 2 ? input : second;
    const of_tensor handle = to_handle(input.get());
    of_value outputs[] = {to_value(first), to_value(last)};
    session->run({&handle, 1}, outputs, nullptr);
    EXPECT_NEAR(first_of(first), std::exp(-value), 1e-6);
    EXPECT_EQ(first_of(last), value + 1);
  }
  const TensorRef wrong = filled({99}, 0), input = filled({100}, 0);
  const of_tensor handle = to_handle(input.get());
  of_value outputs[] = {to_value(first), to_value(wrong)};
  EXPECT_THROW(session->run({&handle, 1}, outputs, nullptr), Error);
}

TEST(Plan, TilesThatFailWithoutMemoryForAnErrorAreErrors) {
  static constinit const OperatorName floor_divide("floor_divide");
  const auto integers = [](int64_t value) {
    return make_tensor({300, 300}, std::vector<double>(300 * 300, static_cast<double>(value)), OF_INT64);
  };
  const std::vector<TensorRef> inputs{integers(6), integers(2)};
  const Ref<Session> session = Session::create(capture(inputs, [](const std::vector<TensorRef>& given) {
    return std::vector{call_operator(kNeg, call_operator(floor_divide, given[0], given[1]))};
  }));
  run(*session, inputs, 1);
  const TensorRef zeros = integers(0);
  const of_tensor handles[] = {to_handle(inputs[0].get()), to_handle(zeros.get())};
  for (int allowed = 0; allowed < 40; ++allowed) {
    of_value output{};
    allow_allocations(allowed);
    const of_status status = guard([&] { session->run(handles, {&output, 1}, nullptr); });
    allow_allocations(-1);
    EXPECT_TRUE(status == OF_OUT_OF_MEMORY || status == OF_INVALID_ARGUMENT) << of_last_error();
    EXPECT_EQ(output.kind, OF_VALUE_ABSENT);
  }
  EXPECT_EQ(values(*run(*session, inputs, 1)[0])[0], -3);
}

TEST(Plan, ThreadsRunSessionsWithInputsOfManyLayouts) {
  const auto twice = [](const std::vector<TensorRef>& inputs) {
    return std::vector{call_operator(kAdd, inputs[0], 1)};
  };
  Capture capture({{"0", filled({4}, 1), {0}}}, "[0]", {{"n", 4}});
  while (auto tensors = capture.begin()) capture.end({"0"}, twice(*tensors), "[0]");
  const Ref<Graph> graph = Graph::create(capture.finish());
  const Ref<Session> shared = Session::create(graph);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      const Ref<Session> own = Session::create(graph);
      for (int i = 0; i < 300; ++i)
        for (const Session* session : {shared.get(), own.get()}) {
          // More sizes than plans: some are replaced while others use them.
          const int64_t size = 1 + (i * (thread + 1)) % 11;
          const auto value = static_cast<float>(i);
          const TensorRef found = run(*session, {filled({size}, value)}, 1)[0];
          wrong += found->size(0) != size || first_of(found) != value + 1;
        }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(shared->info().plan_count, 8u);
}

TEST(Plan, ThreadsRunChainsOfOneSession) {
  const Ref<Session> session =
      Session::create(capture({filled({300, 300}, 1), filled({300}, 1)}, [](const std::vector<TensorRef>& inputs) {
        const TensorRef sum = call_operator(kAdd, inputs[0], inputs[1]);
        return std::vector{call_operator(kAdd, call_operator(kNeg, sum), 1), call_operator(kNeg, inputs[0])};
      }));
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 20; ++i) {
        const auto value = static_cast<float>(10 * thread + i);
        const std::vector<TensorRef> found = run(*session, {filled({300, 300}, value), filled({300}, 2)}, 2);
        const auto* sums = static_cast<const float*>(found[0]->data());
        failures += std::count(sums, sums + 300 * 300, -value - 1) != 300 * 300 || first_of(found[1]) != -value;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

TEST(Plan, RandomNumbersAreNotPlanned) {
  const Ref<Session> session = Session::create(capture({filled({100}, 1)}, [](const std::vector<TensorRef>& inputs) {
    return std::vector{call_operator(kRand, inputs[0])};
  }));
  const float first = first_of(run(*session, {filled({100}, 0)}, 1)[0]);
  EXPECT_NE(first, first_of(run(*session, {filled({100}, 0)}, 1)[0]));
  EXPECT_EQ(session->info().plan_count, 0u);
}

TEST(Plan, ATraceNotesWhatItCannotRepeat) {
  const Ref<Graph> graph = capture({filled({4}, 1)}, [](const std::vector<TensorRef>& inputs) {
    return std::vector{call_operator(kNeg, inputs[0])};
  });
  const TensorRef input = filled({4}, 1), other = filled({4}, 1);
  const of_tensor handle = to_handle(input.get());
  const auto is_complete = [&](auto&& work) {
    Trace trace(graph->program(), {&handle, 1}, 0);
    work();
    trace.stop();
    return trace.is_complete();
  };
  EXPECT_TRUE(is_complete([&] { call_operator(kNeg, input); }));
  EXPECT_FALSE(is_complete([&] { call_operator(kNeg, other); })) << "the memory is not known";
  EXPECT_FALSE(is_complete([&] { HostElements elements(*input); }));
  EXPECT_FALSE(is_complete([&] { call_operator(kRand, input); }));
  EXPECT_EQ(work_observer, nullptr);
}

TEST(Plan, ALimitEndsATrace) {
  const Ref<Session> session = Session::create(capture({filled({64, 64}, 1)}, [](const std::vector<TensorRef>& inputs) {
    return std::vector{call_operator(kMatmul, call_operator(kExp, inputs[0]), inputs[0])};
  }));
  session->set_memory_limit(20'000);
  EXPECT_THROW(run(*session, {filled({64, 64}, 1)}, 1), Error);
  EXPECT_EQ(work_observer, nullptr);
  session->set_memory_limit(40'000);
  for (int i = 0; i < 3; ++i) run(*session, {filled({64, 64}, 1)}, 1);
  session->set_memory_limit(20'000);
  EXPECT_THROW(run(*session, {filled({64, 64}, 1)}, 1), Error);
}

}  // namespace
}  // namespace oneflow::graph
