// Tests tensors whose elements are computed when they are first needed: once, by one thread, or again after a failure.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "dispatch/dispatch.h"
#include "tests/support/own_thread_state.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

constinit const OperatorName kAdd("add");
constinit const OperatorName kRand("rand");

using Values = std::vector<double>;

// A deferred tensor of three float32 elements.
class Lazy {
 public:
  using Make = std::function<of_status(of_tensor*)>;

  explicit Lazy(Make make, const Shape& sizes = {3}) : make_(std::move(make)) {
    const of_make call = [](void* self, of_tensor* result) {
      ++static_cast<Lazy*>(self)->made;
      return static_cast<Lazy*>(self)->make_(result);
    };
    of_tensor tensor = nullptr;
    EXPECT_EQ(of_tensor_defer(
                  sizes.rank(), sizes.data(), OF_FLOAT32, {}, call,
                  [](void* self) { ++static_cast<Lazy*>(self)->destroyed; }, this, &tensor),
              OF_OK)
        << of_last_error();
    handle = TensorRef::adopt(to_tensor(tensor));
  }
  Lazy(const Lazy&) = delete;
  Lazy& operator=(const Lazy&) = delete;

  // Reads the first element through the C API.
  of_status read(double* element) const {
    float elements[3] = {};
    const of_status status = of_tensor_read(to_handle(handle.get()), elements, sizeof(elements));
    *element = elements[0];
    return status;
  }

  TensorRef handle;
  std::atomic<int> made{0}, destroyed{0};

 private:
  Make make_;
};

of_status give(TensorRef tensor, of_tensor* result) {
  *result = to_handle(tensor.detach());
  return OF_OK;
}

of_status give_123(of_tensor* result) { return give(make_tensor({3}, {1, 2, 3}), result); }

TEST(Deferred, IsComputedOnceWhenItIsRead) {
  Lazy lazy(give_123);
  of_tensor_info info{};
  info.struct_size = sizeof(info);
  EXPECT_EQ(of_tensor_get_info(to_handle(lazy.handle.get()), &info), OF_OK);
  EXPECT_EQ(of_tensor_memory(to_handle(lazy.handle.get())), 12u);
  EXPECT_EQ(info.storage_bytes, 12u);
  EXPECT_EQ(lazy.made, 0) << "properties do not need the elements";
  EXPECT_EQ(values(*call_operator(kAdd, lazy.handle, lazy.handle)), (Values{2, 4, 6}));
  EXPECT_EQ(values(*lazy.handle), (Values{1, 2, 3}));
  EXPECT_EQ(lazy.made, 1);
  EXPECT_EQ(lazy.destroyed, 1);
  lazy.handle = {};
  EXPECT_EQ(lazy.destroyed, 1);
}

TEST(Deferred, IsDestroyedWithoutBeingComputed) {
  Lazy lazy(give_123);
  const TensorRef view = Tensor::view(*lazy.handle, Shape{2}, Shape{1}, 1);
  lazy.handle = {};
  EXPECT_EQ(lazy.destroyed, 0);
  EXPECT_EQ(values(*view), (Values{2, 3}));
  EXPECT_EQ(lazy.destroyed, 1);
  Lazy unread(give_123);
  unread.handle = {};
  EXPECT_EQ(unread.made, 0);
  EXPECT_EQ(unread.destroyed, 1);
}

TEST(Deferred, IsWrittenAfterItsComputation) {
  Lazy lazy(give_123);
  of_value result = to_value(lazy.handle);
  const of_value arguments[] = {to_value(lazy.handle), to_value(1)};
  ASSERT_EQ(of_call(of_op_find("add"), arguments, 2, &result, 1), OF_OK) << of_last_error();
  EXPECT_EQ(values(*lazy.handle), (Values{2, 3, 4}));
}

TEST(Deferred, TakesAnyLayoutAndSharesNoMemory) {
  const TensorRef column = make_tensor({3, 2}, {1, 9, 2, 9, 3, 9});
  const TensorRef plain = make_tensor({3}, {1, 2, 3});
  Lazy strided([&](of_tensor* result) { return give(Tensor::view(*column, Shape{3}, Shape{2}, 0), result); });
  Lazy shared([&](of_tensor* result) { return give(plain, result); });
  Lazy nested([&](of_tensor* result) { return give(shared.handle, result); });
  for (const Lazy* each : {&strided, &nested, &shared}) {
    EXPECT_EQ(values(*each->handle), (Values{1, 2, 3}));
    *static_cast<float*>(each->handle->mutable_data()) = 5;
    EXPECT_EQ(values(*each->handle), (Values{5, 2, 3}));
  }
  EXPECT_EQ(values(*plain), (Values{1, 2, 3}));
  EXPECT_EQ(values(*column), (Values{1, 9, 2, 9, 3, 9}));
}

TEST(Deferred, TellsTheReaderOfItsFailureAndTriesAgain) {
  bool fails = true;
  Lazy lazy([&](of_tensor* result) { return fails ? of_fail(OF_SHAPE_ERROR, "not today") : give_123(result); });
  const uint64_t version = lazy.handle->storage()->version();
  double element = 0;
  EXPECT_EQ(lazy.read(&element), OF_SHAPE_ERROR);
  EXPECT_STREQ(of_last_error(), "read: not today");
  void* data = nullptr;
  EXPECT_EQ(of_tensor_mutable_data(to_handle(lazy.handle.get()), &data), OF_SHAPE_ERROR);
  EXPECT_EQ(lazy.handle->storage()->version(), version) << "a write that fails is not counted";
  EXPECT_EQ(lazy.destroyed, 0);
  fails = false;
  EXPECT_EQ(lazy.read(&element), OF_OK);
  EXPECT_EQ(element, 1);
  EXPECT_EQ(lazy.made, 3);
  EXPECT_EQ(lazy.destroyed, 1);
}

TEST(Deferred, RefusesATensorOfAnotherShapeTypeOrWithoutElements) {
  const Shape sizes{3};
  for (const TensorRef& wrong : {make_tensor({4}, {1, 2, 3, 4}), make_tensor({3}, {1, 2, 3}, OF_INT32), TensorRef(),
                                 Tensor::without_memory(sizes, OF_FLOAT32, {})}) {
    Lazy lazy([&](of_tensor* result) { return give(wrong, result); });
    double element = 0;
    EXPECT_EQ(lazy.read(&element), OF_INVALID_ARGUMENT);
    EXPECT_STREQ(
        of_last_error(),
        "read: the function that computes a deferred tensor must give one of type float32, shape [3], on cpu:0");
  }
  of_tensor made = nullptr;
  const int64_t negative = -1;
  const of_make none = [](void*, of_tensor*) { return OF_OK; };
  EXPECT_EQ(of_tensor_defer(1, &negative, OF_FLOAT32, {}, none, nullptr, nullptr, &made), OF_SHAPE_ERROR);
  EXPECT_EQ(of_tensor_defer(33, &negative, OF_FLOAT32, {}, none, nullptr, nullptr, &made), OF_SHAPE_ERROR);
  EXPECT_EQ(of_tensor_defer(0, nullptr, OF_FLOAT32, {}, nullptr, nullptr, nullptr, &made), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_tensor_defer(0, nullptr, OF_FLOAT32, {9, 9}, none, nullptr, nullptr, &made), OF_DEVICE_ERROR);
}

TEST(Deferred, IsComputedOnceForSeveralThreads) {
  std::atomic<int> started{0};
  constexpr int kThreads = 6;
  Lazy lazy([&](of_tensor* result) {
    while (started < kThreads) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return give_123(result);
  });
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      ++started;
      double element = 0;
      right += lazy.read(&element) == OF_OK && element == 1;
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(right, kThreads);
  EXPECT_EQ(lazy.made, 1);
}

TEST(Deferred, FailsIfItNeedsItself) {
  const Lazy* self = nullptr;
  Lazy lazy([&](of_tensor* result) {
    double element = 0;
    const of_status status = self->read(&element);
    return status == OF_OK ? give_123(result) : status;
  });
  self = &lazy;
  double element = 0;
  EXPECT_EQ(lazy.read(&element), OF_INTERNAL_ERROR);
  EXPECT_NE(std::string(of_last_error()).find("needs these elements"), std::string::npos) << of_last_error();
}

TEST(Deferred, FailsIfTwoThreadsWouldWaitForEachOther) {
  const Lazy *first = nullptr, *second = nullptr;
  std::atomic<int> inside{0};
  const auto needing = [&](const Lazy*& other) {
    return [&](of_tensor* result) {
      ++inside;
      while (inside < 2) std::this_thread::yield();
      double element = 0;
      const of_status status = other->read(&element);
      return status == OF_OK ? give_123(result) : status;
    };
  };
  Lazy a(needing(second)), b(needing(first));
  first = &a;
  second = &b;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (const Lazy* each : {&a, &b})
    threads.emplace_back([&failures, each] {
      double element = 0;
      failures += each->read(&element) == OF_INTERNAL_ERROR;
    });
  for (std::thread& each : threads) each.join();
  EXPECT_GE(failures, 1);
}

TEST(Deferred, IsComputedWithTheStateOfTheThreadThatDeferredIt) {
  const Ref<Generator> generator = Generator::create(5);
  const auto make = [](of_tensor* result) { return give(call_operator(kRand, Shape{3}), result); };
  std::unique_ptr<Lazy> lazy;
  {
    OwnThreadState own;
    own.state.generator = to_handle(generator.get());
    own.set();
    lazy = std::make_unique<Lazy>(make);
  }
  const RandomState before = Generator::of_process().state();
  std::thread([&] { values(*lazy->handle); }).join();
  EXPECT_EQ(Generator::of_process().state().offset, before.offset);
  EXPECT_EQ(generator->state().offset, 3u);
  EXPECT_EQ(values(*lazy->handle), values(*call_operator(kRand, Shape{3}, kDefault, kDefault, Generator::create(5))));
}

TEST(Deferred, IsComputedInAForkedChildWhileAnotherThreadComputesIt) {
  std::atomic<bool> is_inside{false}, may_leave{false};
  std::atomic<pid_t> parent{getpid()};
  Lazy lazy([&](of_tensor* result) {
    if (getpid() == parent) {
      is_inside = true;
      while (!may_leave) std::this_thread::yield();
    }
    return give_123(result);
  });
  std::thread reader([&] {
    double element = 0;
    EXPECT_EQ(lazy.read(&element), OF_OK);
  });
  while (!is_inside) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // ends a child that waits
    double element = 0;
    const of_status status = lazy.read(&element);
    _exit(status == OF_OK && element == 1 && lazy.destroyed == 1 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  may_leave = true;
  reader.join();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(lazy.made, 1);
  EXPECT_EQ(lazy.destroyed, 1);
}

}  // namespace
}  // namespace oneflow
