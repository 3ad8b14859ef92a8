// Tests which generator a call draws from, and how many numbers it draws.
#include "tensor/generator.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "dispatch/dispatch.h"
#include "parallel/local/workers.h"
#include "tests/support/own_thread_state.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

constinit const OperatorName kRand("rand");
constinit const OperatorName kRandint("randint");
constinit const OperatorName kRandperm("randperm");

using Values = std::vector<double>;

Values rand(int64_t count, const of_value& generator = kDefault) {
  return values(*call_operator(kRand, Shape{count}, kDefault, kDefault, generator));
}
Values rand(int64_t count, const Ref<Generator>& generator) { return rand(count, to_value(generator)); }

// The position of the process's generator, which is restored at the end of the object's life.
class KeptProcessGenerator {
 public:
  ~KeptProcessGenerator() { Generator::of_process().set_state(before); }
  const RandomState before = Generator::of_process().state();
};

TEST(Generators, GiveTheSequenceOfTheirSeed) {
  const KeptProcessGenerator kept;
  const Ref<Generator> own = Generator::create(7);
  const Values first = rand(5, own), second = rand(3, own);
  EXPECT_EQ(own->state().offset, 8u);
  EXPECT_EQ(Generator::of_process().state().offset, kept.before.offset) << "the other generator is not used";
  Generator::of_process().set_state({7, 0});
  EXPECT_EQ(rand(5), first);
  EXPECT_EQ(rand(3, kNone), second);
  own->set_state({7, 5});
  EXPECT_EQ(rand(3, own), second) << "a state can be restored";
}

TEST(Generators, AreIndependent) {
  const Ref<Generator> a = Generator::create(7), b = Generator::create(7), c = Generator::create(8);
  const Values of_a = rand(4, a);
  EXPECT_NE(rand(4, c), of_a);
  EXPECT_EQ(rand(4, b), of_a);
}

TEST(Generators, CountTheNumbersOfEveryOperator) {
  const Ref<Generator> own = Generator::create(7);
  call_operator(kRandint, 5, Shape{2, 3}, kDefault, kDefault, own);
  EXPECT_EQ(own->state().offset, 6u);
  call_operator(kRandperm, 4, kDefault, kDefault, own);
  EXPECT_EQ(own->state().offset, 10u);
  call_operator(kRand, Shape{0}, kDefault, kDefault, own);
  EXPECT_EQ(own->state().offset, 10u);
}

TEST(Generators, AreNotUsedByInferenceAndFailures) {
  const Ref<Generator> own = Generator::create(7);
  const Shape sizes{3}, negative{-1};
  of_value result{};
  const of_value good[] = {to_value(sizes), kDefault, kDefault, to_value(own)};
  EXPECT_EQ(of_infer(of_op_find("rand"), good, 4, &result, 1), OF_OK);
  of_value_release(&result);
  const of_value bad[] = {to_value(negative), kDefault, kDefault, to_value(own)};
  EXPECT_EQ(of_call(of_op_find("rand"), bad, 4, &result, 1), OF_SHAPE_ERROR);
  const TensorRef small = make_tensor({2}, {1, 2});
  result = to_value(small);
  EXPECT_EQ(of_call(of_op_find("rand"), good, 4, &result, 1), OF_SHAPE_ERROR);
  EXPECT_EQ(own->state().offset, 0u);
}

TEST(Generators, AreChecked) {
  of_value result{};
  const Shape sizes{3};
  of_value arguments[] = {to_value(sizes), kDefault, kDefault, to_value(5)};
  EXPECT_EQ(of_call(of_op_find("rand"), arguments, 4, &result, 1), OF_TYPE_MISMATCH);
  EXPECT_STREQ(of_last_error(), "rand: generator must be Generator?, got int");
  arguments[3] = {OF_VALUE_GENERATOR, 0, {}};
  EXPECT_EQ(of_call(of_op_find("rand"), arguments, 4, &result, 1), OF_INVALID_ARGUMENT);
  const Ref<Generator> own = Generator::create(1);
  const of_value two[] = {to_value(own), to_value(own)};
  EXPECT_EQ(of_call(of_op_find("add"), two, 2, &result, 1), OF_TYPE_MISMATCH);
  EXPECT_STREQ(of_last_error(), "add: input must be Tensor|Number, got Generator");
}

TEST(Generators, PassLayers) {
  const auto count = [](void* seen, of_layer_call* call) {
    of_layer_call_info info{};
    info.struct_size = sizeof(info);
    EXPECT_EQ(of_layer_get_call(call, &info), OF_OK);
    EXPECT_EQ(info.args[3].kind, OF_VALUE_GENERATOR);
    *static_cast<of_generator*>(seen) = info.args[3].as.generator;
    return of_layer_forward(call, OF_BODY_HIDDEN, info.op, info.args, info.arg_count);
  };
  const Ref<Generator> own = Generator::create(7);
  const Values expected = rand(3, Generator::create(7));
  of_generator seen = nullptr;
  ASSERT_EQ(of_layer_install(OF_LAYER_CAPTURE, OF_LAYER_ALL_CALLS, count, &seen), OF_OK);
  of_value result{};
  const Shape sizes{3};
  const of_value arguments[] = {to_value(sizes), kDefault, kDefault, to_value(own)};
  EXPECT_EQ(of_call(of_op_find("rand"), arguments, 4, &result, 1), OF_OK) << of_last_error();
  of_layer_remove(OF_LAYER_CAPTURE);
  EXPECT_EQ(seen, to_handle(own.get()));
  EXPECT_EQ(values(*to_tensor(result.as.tensor)), expected);
  EXPECT_EQ(own->state().offset, 3u);
  of_value_release(&result);
}

// ---------------------------------------------------------------- threads

TEST(Generators, GiveEachNumberToOneThread) {
  constexpr int kThreads = 4, kCalls = 200, kCount = 3;
  const Ref<Generator> own = Generator::create(7);
  std::vector<Values> found(kThreads);
  std::vector<std::thread> threads;
  for (Values& each : found)
    threads.emplace_back([&] {
      for (int i = 0; i < kCalls; ++i)
        for (double value : rand(kCount, own)) each.push_back(value);
    });
  for (std::thread& each : threads) each.join();
  std::multiset<double> drawn;
  for (const Values& each : found) drawn.insert(each.begin(), each.end());
  const Values all = rand(kThreads * kCalls * kCount, Generator::create(7));
  EXPECT_EQ(drawn, std::multiset<double>(all.begin(), all.end()));
}

TEST(Generators, MayBelongToAThread) {
  const Ref<Generator> own = Generator::create(7);
  const Values expected = rand(4, Generator::create(7));
  const RandomState before = Generator::of_process().state();
  {
    OwnThreadState state;
    state.state.generator = to_handle(own.get());
    state.set();
    EXPECT_EQ(rand(4), expected);
    std::thread([] { rand(1); }).join();
    EXPECT_EQ(own->state().offset, 4u) << "other threads do not have it";
  }
  EXPECT_EQ(Generator::of_process().state().offset, before.offset + 1);
  EXPECT_TRUE(own->is_unique()) << "the thread has released it";
}

TEST(ThreadState, TravelsToTheThreadsOfAPool) {
  const Ref<Generator> own = Generator::create(7);
  OwnThreadState state;
  state.state.generator = to_handle(own.get());
  state.state.has_device = true;
  state.state.device = {0, 0};
  state.state.asked_layers = 2;
  state.set();
  std::atomic<int> same{0};
  collective::run_on_threads(3, [&] {
    const ThreadContext found = ThreadContext::current();
    same += found.defaults.generator.get() == own.get() && found.defaults.device &&
            *found.defaults.device == of_device{0, 0} && found.layers.asked_layers == 2;
  });
  EXPECT_EQ(same, 3);
}

TEST(ThreadState, HasADefaultDevice) {
  {
    OwnThreadState state;
    state.state.has_device = true;
    state.state.device = far_device();
    state.set();
    EXPECT_TRUE(of_default_device() == far_device());
    EXPECT_TRUE(call_operator(kRand, Shape{2})->device() == far_device());
    std::thread([] { EXPECT_FALSE(of_default_device() == far_device()); }).join();
    state.state.device = {99, 0};
    EXPECT_EQ(of_thread_set_state(&state.state), OF_DEVICE_ERROR);
    EXPECT_TRUE(of_default_device() == far_device()) << "a failure changes nothing";
  }
  EXPECT_FALSE(of_default_device() == far_device());
}

TEST(ThreadState, MayBeThatOfAnOlderProgram) {
  const OwnThreadState state;
  struct {
    uint32_t struct_size = 12, asked_layers = 0, open_layers = 0, guard = 77;
  } older;
  ASSERT_EQ(of_thread_get_state(reinterpret_cast<of_thread_state*>(&older)), OF_OK);
  EXPECT_EQ(older.open_layers, ~uint32_t{0});
  EXPECT_EQ(older.guard, 77u);
  ASSERT_EQ(of_thread_set_state(reinterpret_cast<of_thread_state*>(&older)), OF_OK);
}

TEST(Generators, WorkInForkedChildren) {
  const Ref<Generator> own = Generator::create(7);
  std::atomic<bool> is_over{false};
  std::thread busy([&] {
    while (!is_over) own->reserve(1);
  });
  int failures = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);  // ends a child that waits for a mutex
      own->set_state({7, 0});
      _exit(own->reserve(2).offset == 0 && own->state().offset == 2 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    failures += status != 0;
  }
  is_over = true;
  busy.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace oneflow
