// Tests that code of users may run at any point of a backward pass, on this thread and on others: it waits for no lock
// that the pass holds, and no gradient is lost. Each test ends after a time, because what it finds is a deadlock.
#include <gtest/gtest.h>
#include <oneflow/autograd.h>
#include <oneflow/front_end.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <thread>

#include "dispatch/dispatch.h"
#include "dispatch/operator.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

constinit const OperatorName kExp("exp");
constinit const OperatorName kMul("mul");

using Values = std::vector<double>;

// Runs code within the calls of an operator, or of all for null, as the memory-pressure callback of a front end does:
// at most `times` times, not within itself.
class Within {
 public:
  Within(const char* op, std::function<void()> code, int times = 1) : op_(op), code_(std::move(code)), left_(times) {
    EXPECT_EQ(of_layer_install(kLayer, OF_LAYER_ALL_CALLS, run, this), OF_OK) << of_last_error();
  }
  ~Within() {
    EXPECT_EQ(of_layer_remove(kLayer), OF_OK) << of_last_error();
    EXPECT_LE(left_, 0) << "the code has not run";
  }

 private:
  static constexpr of_layer kLayer = OF_LAYER_SHARDING;

  static of_status run(void* context, of_layer_call* call) {
    auto& self = *static_cast<Within*>(context);
    of_layer_call_info info{};
    info.struct_size = sizeof(info);
    EXPECT_EQ(of_layer_get_call(call, &info), OF_OK);
    const bool is_meant = !self.op_ || to_operator(info.op)->schema().name == std::string_view(self.op_);
    if (is_meant && self.left_.fetch_sub(1) > 0) self.code_();
    return of_layer_next(call, OF_BODY_SEEN);
  }

  const char* const op_;
  const std::function<void()> code_;
  std::atomic<int> left_;
};

class GradientLocks : public testing::Test {
 protected:
  void SetUp() override { alarm(120); }
  void TearDown() override { alarm(0); }
};

TensorRef leaf(const Values& elements) {
  TensorRef tensor = make_tensor({static_cast<int64_t>(elements.size())}, elements);
  EXPECT_EQ(of_tensor_set_requires_grad(to_handle(tensor.get()), true), OF_OK);
  return tensor;
}

TensorRef grad_of(const TensorRef& tensor) {
  of_tensor grad = nullptr;
  EXPECT_EQ(of_tensor_get_grad(to_handle(tensor.get()), &grad), OF_OK);
  return TensorRef::adopt(to_tensor(grad));
}

of_status backward(const TensorRef& tensor, const TensorRef& grad, bool retain_graph = false,
                   bool create_graph = false) {
  const of_tensor root = to_handle(tensor.get()), given = to_handle(grad.get());
  const of_backward_options options{sizeof(options), retain_graph, create_graph};
  return of_backward(&root, &given, 1, &options);
}

// Adds to the gradient of a leaf, by a pass that begins there.
void add(const TensorRef& leaf, double number, bool records = false) {
  EXPECT_EQ(
      backward(leaf, make_tensor(leaf->sizes(), Values(static_cast<size_t>(leaf->count()), number)), false, records),
      OF_OK)
      << of_last_error();
}

void in_another_thread(const std::function<void()>& work) { std::thread(work).join(); }

// How a gradient is added: it is copied, added in place, or recorded.
struct Form {
  const char* name;
  const char* op;
  bool is_first, records;
};

class GradientForms : public GradientLocks, public testing::WithParamInterface<Form> {
 protected:
  // Returns a leaf with the gradient 1, or without one.
  static TensorRef start() {
    const TensorRef x = leaf({5, 6});
    if (!GetParam().is_first) add(x, 1);
    return x;
  }
  static constexpr double kAdded = 10;
  // Adds 10 while `code` runs.
  static void add_while(const TensorRef& x, const std::function<void()>& code) {
    const TensorRef grad = make_tensor({2}, {kAdded, kAdded});  // is shared, so that the first one is copied
    const Within user(GetParam().op, code);
    EXPECT_EQ(backward(x, grad, false, GetParam().records), OF_OK) << of_last_error();
  }
  static double before() { return GetParam().is_first ? 0 : 1; }
};

TEST_P(GradientForms, AReaderDoesNotWaitForAnAddition) {
  const TensorRef x = start();
  bool had_gradient = false;
  add_while(x, [&] { in_another_thread([&] { had_gradient = static_cast<bool>(grad_of(x)); }); });
  EXPECT_EQ(had_gradient, !GetParam().is_first);
  EXPECT_EQ(values(*grad_of(x)), Values(2, before() + kAdded));
}

TEST_P(GradientForms, APassWithinAnAdditionAddsToTheSameLeaf) {
  const TensorRef x = start();
  add_while(x, [&] {
    add(x, 100);
    add(x, 1000, true);
  });
  EXPECT_EQ(values(*grad_of(x)), Values(2, before() + kAdded + 1100));
}

TEST_P(GradientForms, AGradientThatIsSetDuringAnAdditionStays) {
  const TensorRef x = start();
  const TensorRef replacement = make_tensor({2}, {3, 3});
  add_while(x, [&] { EXPECT_EQ(of_tensor_set_grad(to_handle(x.get()), to_handle(replacement.get())), OF_OK); });
  // What is added in place belongs to the gradient that was replaced.
  const bool is_in_place = !GetParam().is_first && !GetParam().records;
  EXPECT_EQ(values(*grad_of(x)), Values(2, is_in_place ? 3 : 3 + kAdded));
}

TEST_P(GradientForms, AnInterruptDoesNotEndAnAddition) {
  const TensorRef x = start(), grad = make_tensor({2}, {kAdded, kAdded});
  of_interrupt_check check = nullptr;
  void* context = nullptr;
  of_set_interrupt_check([](void*) { return true; }, nullptr, &check, &context);
  EXPECT_EQ(backward(x, grad, false, GetParam().records), OF_OK) << of_last_error();
  of_set_interrupt_check(check, context, nullptr, nullptr);
  EXPECT_EQ(values(*grad_of(x)), Values(2, before() + kAdded));
}

INSTANTIATE_TEST_SUITE_P(All, GradientForms,
                         testing::Values(Form{"copied", "clone", true, false}, Form{"in_place", "add", false, false},
                                         Form{"recorded", "add", false, true}),
                         [](const auto& info) { return info.param.name; });

TEST_F(GradientLocks, WhoHoldsAGradientSeesItGrow) {
  const TensorRef x = leaf({1, 2});
  add(x, 1);
  const TensorRef held = grad_of(x);
  add(x, 2);
  EXPECT_EQ(values(*held), (Values{3, 3}));
  EXPECT_EQ(grad_of(x).get(), held.get());
}

// The first pass was recorded, but its gradient has no history: it was stored without a copy, and added to in place.
TEST_F(GradientLocks, APassDoesNotChangeTheGradientThatAnEarlierOneWasGiven) {
  const TensorRef x = leaf({1, 2}), given = make_tensor({2}, {1, 1});
  EXPECT_EQ(backward(x, given, false, true), OF_OK) << of_last_error();
  add(x, 2);
  EXPECT_EQ(values(*given), (Values{1, 1}));
  EXPECT_EQ(values(*grad_of(x)), (Values{3, 3}));
}

TEST_F(GradientLocks, AFailureOfAnAdditionLosesNoOther) {
  const TensorRef x = leaf({1, 2});
  add(x, 1);
  const auto run = [](void* nested, of_layer_call* call) {
    auto& work = *static_cast<std::function<void()>*>(nested);
    if (const auto once = std::exchange(work, nullptr)) {
      once();
      return of_fail(OF_UNSUPPORTED, "not today");
    }
    return of_layer_next(call, OF_BODY_SEEN);
  };
  std::function<void()> nested = [&] { add(x, 10); };
  const TensorRef grad = make_tensor({2}, {100, 100});
  ASSERT_EQ(of_layer_install(OF_LAYER_SHARDING, OF_LAYER_ALL_CALLS, run, &nested), OF_OK);
  EXPECT_EQ(backward(x, grad), OF_UNSUPPORTED);
  ASSERT_EQ(of_layer_remove(OF_LAYER_SHARDING), OF_OK);
  EXPECT_EQ(values(*grad_of(x)), (Values{11, 11}));
  add(x, 1000);
  EXPECT_EQ(values(*grad_of(x)), (Values{1011, 1011}));
}

// Each of two threads is within an addition, from which it adds to the leaf of the other one.
TEST_F(GradientLocks, ThreadsWithinAdditionsDoNotWaitForEachOther) {
  const TensorRef leaves[] = {leaf({1}), leaf({2})};
  for (const TensorRef& each : leaves) add(each, 1);
  static thread_local int own;
  std::atomic<int> inside{0};
  {
    const Within user(
        "add",
        [&] {
          ++inside;
          while (inside < 2) std::this_thread::yield();
          add(leaves[1 - own], 10);
        },
        2);
    const auto work = [&](int number) {
      own = number;
      add(leaves[number], 100);
    };
    std::thread first(work, 0), second(work, 1);
    first.join();
    second.join();
  }
  for (const TensorRef& each : leaves) EXPECT_EQ(values(*grad_of(each)), Values{111});
}

TEST_F(GradientLocks, NoAdditionOfSeveralThreadsIsLost) {
  for (const bool records : {false, true}) {
    const TensorRef x = leaf(Values(300, 1));
    constexpr int kThreads = 4, kPasses = 100;
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < kPasses; ++i) {
          add(x, 1, records && (i + t) % 10 == 0);
          wrong += !grad_of(x);
        }
      });
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(values(*grad_of(x)), Values(300, kThreads * kPasses));
    EXPECT_EQ(wrong, 0);
  }
}

TEST_F(GradientLocks, ANodeIsRunAndFreedWhileItRuns) {
  const auto test = [](const std::function<void(const std::function<void()>&)>& run) {
    const TensorRef x = leaf({1}), one = make_tensor({1}, {1});
    const TensorRef y = call_operator(kExp, x);
    {
      const Within user(nullptr, [&] { run([&] { EXPECT_EQ(backward(y, one), OF_OK) << of_last_error(); }); });
      EXPECT_EQ(backward(y, one, true), OF_OK) << of_last_error();
    }
    EXPECT_NEAR(values(*grad_of(x))[0], 2 * std::exp(1.0), 1e-5);
    EXPECT_EQ(backward(y, one), OF_INVALID_ARGUMENT);
    EXPECT_NE(std::string(of_last_error()).find("was freed by an earlier backward pass"), std::string::npos);
  };
  test(in_another_thread);
  test([](const std::function<void()>& work) { work(); });
}

// A function whose context counts the threads that are in it, and what it was destroyed during.
struct Watched {
  std::atomic<int> inside{0}, destroyed{0}, destroyed_inside{0};

  static of_status run(void* context, const of_tensor* grads, size_t, const bool*, of_tensor* results, size_t) {
    auto& self = *static_cast<Watched*>(context);
    ++self.inside;
    std::this_thread::yield();
    results[0] = of_tensor_retain(grads[0]);
    --self.inside;
    return OF_OK;
  }
  static void destroy(void* context) {
    auto& self = *static_cast<Watched*>(context);
    ++self.destroyed;
    self.destroyed_inside += self.inside > 0;
  }
};

TEST_F(GradientLocks, AFunctionIsRunAndFreedBySeveralThreads) {
  for (int i = 0; i < 100; ++i) {
    Watched function;
    std::atomic<int> added{0}, others{0};
    const TensorRef x = leaf({1}), one = make_tensor({1}, {1});
    {
      const TensorRef y = make_tensor({1}, {2});
      const of_tensor input = to_handle(x.get()), output = to_handle(y.get());
      ASSERT_EQ(of_record_function("mine", &input, 1, &output, 1, Watched::run, &function, Watched::destroy), OF_OK);
      std::vector<std::thread> threads;
      for (int t = 0; t < 3; ++t)
        threads.emplace_back([&, t] {
          const of_status status = backward(y, one, t > 0);
          added += status == OF_OK;
          others += status != OF_OK && status != OF_INVALID_ARGUMENT;
        });
      for (std::thread& each : threads) each.join();
    }
    EXPECT_EQ(others, 0);
    EXPECT_EQ(function.destroyed, 1);
    EXPECT_EQ(function.destroyed_inside, 0);
    EXPECT_EQ(values(*grad_of(x)), Values{static_cast<double>(added)});
  }
}

// The deleter of foreign memory that a node has saved comes back to the node.
TEST_F(GradientLocks, SavedTensorsAreReleasedWithoutALock) {
  struct Owner {
    TensorRef y, one = make_tensor({1}, {1});
    float element = 3;
    of_status status = OF_OK;
  } owner;
  const TensorRef x = leaf({2});
  {
    const int64_t size = 1;
    of_tensor_source source{};
    source.struct_size = sizeof(source);
    source.dtype = OF_FLOAT32;
    source.rank = 1;
    source.sizes = &size;
    source.data = &owner.element;
    source.bytes = sizeof(float);
    source.deleter = [](void* context) {
      auto& own = *static_cast<Owner*>(context);
      own.status = backward(own.y, own.one);
    };
    source.deleter_context = &owner;
    of_tensor foreign = nullptr;
    ASSERT_EQ(of_tensor_create(&source, &foreign), OF_OK) << of_last_error();
    const TensorRef factor = TensorRef::adopt(to_tensor(foreign));
    owner.y = call_operator(kMul, x, factor);
  }
  ASSERT_EQ(backward(owner.y, owner.one), OF_OK) << of_last_error();
  EXPECT_EQ(owner.status, OF_INVALID_ARGUMENT);
  EXPECT_EQ(values(*grad_of(x)), Values{3});
}

// A leaf whose former gradient nobody wants becomes the result of a call, and the hook of the leaf asks about it.
TEST_F(GradientLocks, HooksAreDestroyedWithoutALock) {
  static TensorRef x;
  x = leaf({1});
  static int destroyed = 0;
  const auto pass_on = [](void*, of_tensor, of_tensor*) { return OF_OK; };
  const auto ask = [](void*) { destroyed += !of_tensor_is_leaf(to_handle(x.get())); };
  ASSERT_EQ(of_tensor_add_hook(to_handle(x.get()), pass_on, nullptr, ask, nullptr), OF_OK);
  ASSERT_EQ(of_tensor_set_requires_grad(to_handle(x.get()), false), OF_OK);
  const TensorRef factor = leaf({2});
  const of_value arguments[] = {to_value(x), to_value(factor)};
  of_value result = to_value(x);
  ASSERT_EQ(of_call(of_op_find("mul"), arguments, 2, &result, 1), OF_OK) << of_last_error();
  EXPECT_EQ(destroyed, 1);
  x = {};
}

TEST_F(GradientLocks, AForkedChildAddsAfterAnAdditionThatDoesNotGoOn) {
  const TensorRef x = leaf({1});
  add(x, 1);
  std::atomic<bool> is_inside{false}, is_over{false};
  const Within user("add", [&] {
    is_inside = true;
    while (!is_over) std::this_thread::yield();
  });
  std::thread adding([&] { add(x, 10); });
  while (!is_inside) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    add(x, 100);
    _exit(values(*grad_of(x)) == Values{101} ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  is_over = true;
  adding.join();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(values(*grad_of(x)), Values{11});
}

// The thread that forks goes on with its addition in the child.
TEST_F(GradientLocks, AForkWithinAnAddition) {
  const TensorRef x = leaf({1});
  add(x, 1);
  pid_t child = -1;
  {
    const Within user("add", [&] {
      child = fork();
      if (child == 0) alarm(20);
      add(x, 10);
    });
    add(x, 100);
  }
  const bool is_right = values(*grad_of(x)) == Values{111};
  if (child == 0) _exit(is_right ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(is_right);
}

}  // namespace
}  // namespace oneflow
