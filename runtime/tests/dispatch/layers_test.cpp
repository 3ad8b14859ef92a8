// Tests which layers a call enters, and what it keeps on its way: its name, its form, its donated operand, its errors.
#include "dispatch/layers.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "capi/dlpack.h"
#include "dispatch/dispatch.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

constinit const OperatorName kAdd("add");
constinit const OperatorName kAddAlpha("add.alpha");
constinit const OperatorName kMul("mul");
constinit const OperatorName kNeg("neg");
constinit const OperatorName kNonzero("nonzero");
constinit const OperatorName kLogsumexp("logsumexp");
constinit const OperatorName kSum("sum");

constexpr of_layer kBottom = OF_LAYER_FALLBACK + 4;
constexpr of_layer kMiddle = OF_LAYER_AUTOGRAD + 1;  // autograd itself is installed by other tests

using Log = std::vector<std::string>;
using Values = std::vector<double>;

of_layer_call_info info_of(const of_layer_call* call) {
  of_layer_call_info info{};
  info.struct_size = sizeof(info);
  EXPECT_EQ(of_layer_get_call(call, &info), OF_OK);
  return info;
}

const char* name_of(const of_layer_call_info& info) { return to_operator(info.op)->schema().name; }

// A layer whose function is a std::function, installed for as long as the object lives.
class Layer {
 public:
  using Function = std::function<of_status(of_layer_call*)>;

  Layer(of_layer number, Function function, of_layer_scope scope = OF_LAYER_ALL_CALLS)
      : number_(number), function_(std::move(function)) {
    const auto run = [](void* layer, of_layer_call* call) { return static_cast<Layer*>(layer)->function_(call); };
    EXPECT_EQ(of_layer_install(number, scope, run, this), OF_OK) << of_last_error();
  }
  ~Layer() { EXPECT_EQ(of_layer_remove(number_), OF_OK) << of_last_error(); }

 private:
  of_layer number_;
  Function function_;
};

// Returns the function of a layer that logs its calls as "<number> <operator>", and passes them on.
Layer::Function logging(Log& log, int number, of_layer_body body) {
  return [&log, number, body](of_layer_call* call) {
    log.push_back(std::to_string(number) + " " + name_of(info_of(call)));
    return of_layer_next(call, body);
  };
}

// The text of the failure of a call of the C API.
template <class... Values>
std::string failure_of(const OperatorName& name, const Values&... values) {
  const of_value arguments[] = {to_value(values)...};
  of_value result{};
  EXPECT_NE(of_call(to_handle(&*name), arguments, std::size(arguments), &result, 1), OF_OK);
  EXPECT_EQ(result.kind, OF_VALUE_ABSENT) << "a failure must not change the results";
  return of_last_error();
}

TEST(Layers, AreEnteredFromTheLowestNumberInAnyOrderOfInstallation) {
  Log log;
  const Layer sharding(OF_LAYER_SHARDING, logging(log, OF_LAYER_SHARDING, OF_BODY_HIDDEN));
  const Layer profile(OF_LAYER_PROFILE, logging(log, OF_LAYER_PROFILE, OF_BODY_HIDDEN));
  const Layer last(OF_LAYER_LIMIT - 1, logging(log, OF_LAYER_LIMIT - 1, OF_BODY_HIDDEN));
  const Layer first(0, logging(log, 0, OF_BODY_HIDDEN));
  const TensorRef x = make_tensor({2}, {1, 2});
  EXPECT_EQ(values(*call_operator(kAdd, x, x)), (Values{2, 4}));
  EXPECT_EQ(log, (Log{"0 add", "4 add", "16 add", "31 add"}));
}

TEST(Layers, SeeTheBodyOfAnOperatorIfTheyAskForIt) {
  Log log;
  {
    const Layer profile(OF_LAYER_PROFILE, logging(log, OF_LAYER_PROFILE, OF_BODY_SEEN));
    call_operator(kLogsumexp, make_tensor({2}, {1, 2}), 0);
  }
  ASSERT_GT(log.size(), 2u);
  EXPECT_EQ(log.front(), "4 logsumexp");
  log.clear();
  const Layer profile(OF_LAYER_PROFILE, logging(log, OF_LAYER_PROFILE, OF_BODY_HIDDEN));
  call_operator(kLogsumexp, make_tensor({2}, {1, 2}), 0);
  EXPECT_EQ(log, Log{"4 logsumexp"});
}

TEST(Layers, SeeTheBodyWhateverTheLayersBelowDo) {
  Log log;
  const Layer profile(OF_LAYER_PROFILE, logging(log, OF_LAYER_PROFILE, OF_BODY_SEEN));
  const Layer middle(kMiddle, logging(log, kMiddle, OF_BODY_HIDDEN));
  const Layer bottom(kBottom, logging(log, kBottom, OF_BODY_SEEN));
  call_operator(kLogsumexp, make_tensor({2}, {1, 2}), 0);
  ASSERT_GT(log.size(), 5u);
  EXPECT_EQ((Log{log.begin(), log.begin() + 3}), (Log{"4 logsumexp", "9 logsumexp", "24 logsumexp"}));
  for (size_t i = 3; i < log.size(); i += 2) {
    EXPECT_EQ(log[i].substr(0, 2), "4 ");
    EXPECT_EQ(log[i + 1], "24" + log[i].substr(1));
  }
}

TEST(Layers, CallOperatorsThatEnterOnlyLayersBelow) {
  Log log;
  const Layer profile(OF_LAYER_PROFILE, logging(log, OF_LAYER_PROFILE, OF_BODY_SEEN));
  const Layer middle(kMiddle, [&](of_layer_call* call) {
    call_operator(kNeg, make_tensor({1}, {1}));
    return of_layer_next(call, OF_BODY_SEEN);
  });
  const Layer capture(OF_LAYER_CAPTURE, logging(log, OF_LAYER_CAPTURE, OF_BODY_SEEN));
  call_operator(kMul, 2.0, make_tensor({1}, {1}));
  EXPECT_EQ(log, (Log{"4 mul", "12 neg", "12 mul"}));
}

TEST(Layers, AreEnteredByTensorsThatCarryTheirData) {
  Log log;
  const Layer middle(kMiddle, logging(log, kMiddle, OF_BODY_HIDDEN), OF_LAYER_ON_REQUEST);
  const TensorRef plain = make_tensor({2}, {1, 2}), carrier = make_tensor({2}, {3, 4});
  int data = 0;
  ASSERT_EQ(of_tensor_set_extension(to_handle(carrier.get()), kMiddle, &data, nullptr), OF_OK);
  call_operator(kAdd, plain, plain);
  EXPECT_EQ(log, Log{});
  call_operator(kAdd, plain, carrier);
  of_tensor list[] = {to_handle(plain.get()), to_handle(carrier.get())};
  of_value result{};
  const of_value arguments[] = {to_value(std::span<of_tensor>(list))};
  ASSERT_EQ(of_call(of_op_find("cat"), arguments, 1, &result, 1), OF_OK) << of_last_error();
  of_value_release(&result);
  const of_value two[] = {to_value(plain), to_value(plain)};
  result = to_value(carrier);
  ASSERT_EQ(of_call(of_op_find("add"), two, 2, &result, 1), OF_OK) << of_last_error();
  EXPECT_EQ(log, (Log{"9 add", "9 cat", "9 add"}));
}

TEST(Layers, AreEnteredByThreadsThatAskForThem) {
  Log log;
  const Layer capture(OF_LAYER_CAPTURE, logging(log, OF_LAYER_CAPTURE, OF_BODY_HIDDEN), OF_LAYER_ON_REQUEST);
  const TensorRef x = make_tensor({1}, {1});
  of_thread_state state{};
  state.struct_size = sizeof(state);
  ASSERT_EQ(of_thread_get_state(&state), OF_OK);
  const of_thread_state before = state;
  state.asked_layers = 1u << OF_LAYER_CAPTURE;
  ASSERT_EQ(of_thread_set_state(&state), OF_OK);
  call_operator(kNeg, x);
  std::thread([&] { call_operator(kAdd, x, x); }).join();
  std::thread([&] {
    ASSERT_EQ(of_thread_set_state(&state), OF_OK);
    call_operator(kMul, x, x);
  }).join();
  state.open_layers = ~(1u << OF_LAYER_CAPTURE);
  ASSERT_EQ(of_thread_set_state(&state), OF_OK);
  call_operator(kNeg, x);
  ASSERT_EQ(of_thread_set_state(&before), OF_OK);
  EXPECT_EQ(log, (Log{"12 neg", "12 mul"}));
}

TEST(Layers, MayStoreTheResultsThemselves) {
  const TensorRef mine = make_tensor({1}, {42});
  const Layer capture(OF_LAYER_CAPTURE, [&](of_layer_call* call) {
    info_of(call).results[0] = to_value(share(*mine));
    mine->retain();
    return OF_OK;
  });
  EXPECT_EQ(values(*call_operator(kAdd, mine, mine)), Values{42});
}

TEST(Layers, MayForwardToAnotherOperator) {
  Log log;
  const Layer capture(OF_LAYER_CAPTURE, [&](of_layer_call* call) {
    const of_layer_call_info info = info_of(call);
    const of_value arguments[] = {info.args[0], info.args[1], to_value(10.0)};
    return of_layer_forward(call, OF_BODY_HIDDEN, to_handle(&*kAddAlpha), arguments, 3);
  });
  const Layer bottom(kBottom, logging(log, kBottom, OF_BODY_HIDDEN));
  const TensorRef x = make_tensor({1}, {1}), out = make_tensor({1}, {0});
  EXPECT_EQ(values(*call_operator(kAdd, x, x)), Values{11});
  call_into("mine", *out, *kAdd, x, x);
  EXPECT_EQ(values(*out), Values{11});
  EXPECT_EQ(log, (Log{"24 add.alpha", "24 add.alpha"}));
}

TEST(Layers, MustLeaveResults) {
  const TensorRef x = make_tensor({1}, {1});
  const Layer capture(OF_LAYER_CAPTURE, [](of_layer_call*) { return OF_OK; });
  EXPECT_EQ(failure_of(kAdd, x, x), "add: layer 12 has left no result");
  const uint64_t before = Tensor::live_count();
  const of_value arguments[] = {to_value(x), to_value(0)};
  of_value results[2] = {};
  EXPECT_EQ(of_call(of_op_find("max.dim"), arguments, 2, results, 2), OF_INTERNAL_ERROR);
  EXPECT_EQ(Tensor::live_count(), before);
}

TEST(Layers, LeaveNoResultsOfAFailure) {
  const TensorRef x = make_tensor({1}, {1});
  const Layer capture(OF_LAYER_CAPTURE, [](of_layer_call* call) {
    EXPECT_EQ(of_layer_next(call, OF_BODY_HIDDEN), OF_OK);
    return of_fail(OF_UNSUPPORTED, "not here");
  });
  const uint64_t before = Tensor::live_count();
  EXPECT_EQ(failure_of(kAdd, x, x), "add: not here");
  EXPECT_EQ(Tensor::live_count(), before);
}

TEST(Layers, PassACallOnOnlyOnceButAgainAfterAFailure) {
  Log log;
  int failures = 1;
  const Layer middle(kMiddle, [&](of_layer_call* call) {
    EXPECT_EQ(of_layer_next(call, OF_BODY_HIDDEN), OF_UNSUPPORTED);
    EXPECT_EQ(of_layer_next(call, OF_BODY_HIDDEN), OF_OK);
    EXPECT_EQ(of_layer_next(call, OF_BODY_HIDDEN), OF_INVALID_ARGUMENT);
    return OF_OK;
  });
  of_fail(OF_SHAPE_ERROR, "an earlier failure");
  const Layer bottom(kBottom, [&](of_layer_call* call) {
    return failures-- > 0 ? of_fail(OF_UNSUPPORTED, "no") : of_layer_next(call, OF_BODY_HIDDEN);
  });
  EXPECT_EQ(values(*call_operator(kNeg, make_tensor({1}, {1}))), Values{-1});
  EXPECT_EQ(failures, -1);
  EXPECT_STREQ(of_last_error(), "an earlier failure") << "a call that succeeds leaves the text";
}

TEST(Layers, ReceiveCheckedArgumentsWithDefaultsAndTheForm) {
  const TensorRef x = make_tensor({2, 2}, {1, 2, 3, 4}), out = make_tensor({2}, {0, 0});
  std::vector<of_call_form> forms;
  const Layer middle(kMiddle, [&](of_layer_call* call) {
    const of_layer_call_info info = info_of(call);
    forms.push_back(info.form);
    if (info.op == to_handle(&*kSum)) {
      EXPECT_EQ(info.arg_count, 4u);
      EXPECT_EQ(info.args[1].kind, OF_VALUE_INT_LIST);
      EXPECT_EQ(info.args[1].as.integers[0], 1);
      EXPECT_EQ(info.args[2].kind, OF_VALUE_BOOL);
      EXPECT_EQ(info.args[3].kind, OF_VALUE_NONE);
    }
    return of_layer_next(call, OF_BODY_HIDDEN);
  });
  EXPECT_EQ(values(*call_operator(kSum, x, -1)), (Values{3, 7}));
  call_into("sum", *out, *kSum, x, -1);
  call_into("neg", *out, *kNeg, out);
  EXPECT_EQ(forms, (std::vector{OF_FORM_NEW, OF_FORM_OUT, OF_FORM_IN_PLACE}));
}

TEST(Layers, KeepTheDonatedOperandAndTheCallersName) {
  Log callers;
  const void* donated = nullptr;
  const Layer profile(OF_LAYER_PROFILE, [&](of_layer_call* call) {
    callers.push_back(info_of(call).caller);
    if (info_of(call).donated) donated = to_tensor(info_of(call).donated)->data();
    return of_layer_next(call, OF_BODY_SEEN);
  });
  const TensorRef x = make_tensor({2}, {1, 2});
  call_operator(kLogsumexp, x, 0);
  ASSERT_GT(callers.size(), 2u);
  for (const std::string& caller : callers) EXPECT_EQ(caller, "logsumexp");
  TensorRef free = make_tensor({2}, {1, 2});
  const void* memory = free->data();
  const of_value arguments[] = {to_value(free), to_value(1.0)};
  of_value result{};
  call_inside(*kAdd, nullptr, arguments, {&result, 1}, false, free.get());
  EXPECT_EQ(donated, memory);
  EXPECT_EQ(TensorRef::adopt(to_tensor(result.as.tensor))->data(), memory) << "the result takes the donated memory";
}

TEST(Layers, SeeInference) {
  Log log;
  const Layer profile(OF_LAYER_PROFILE, [&](of_layer_call* call) {
    log.push_back(std::string(info_of(call).infer ? "infer " : "call ") + name_of(info_of(call)));
    return of_layer_next(call, OF_BODY_HIDDEN);
  });
  const TensorRef input = Tensor::without_memory(Shape{2, 3}, OF_FLOAT32, {});
  const of_value arguments[] = {to_value(input), to_value(1)};
  of_value result{};
  ASSERT_EQ(of_infer(to_handle(&*kSum), arguments, 2, &result, 1), OF_OK) << of_last_error();
  EXPECT_FALSE(to_tensor(result.as.tensor)->has_memory());
  of_value_release(&result);
  EXPECT_EQ(log, Log{"infer sum"});
}

TEST(Layers, StandBeforeTheComparisonOfDevices) {
  const TensorRef here = make_tensor({2}, {1, 2}), far = make_tensor({2}, {3, 4}, OF_FLOAT64, far_device(0));
  {
    const Layer sharding(OF_LAYER_SHARDING, [&](of_layer_call* call) {
      const of_layer_call_info info = info_of(call);
      if (info.op != to_handle(&*kAdd)) return of_layer_next(call, OF_BODY_HIDDEN);
      of_tensor moved = nullptr;
      EXPECT_EQ(of_tensor_to_device(info.args[1].as.tensor, of_device{}, &moved), OF_OK);
      const TensorRef other = TensorRef::adopt(to_tensor(moved));
      const of_value arguments[] = {info.args[0], to_value(other)};
      return of_layer_forward(call, OF_BODY_HIDDEN, info.op, arguments, 2);
    });
    EXPECT_EQ(values(*call_operator(kAdd, here, far)), (Values{4, 6}));
  }
  EXPECT_EQ(failure_of(kAdd, here, far),
            "add: other must be on cpu:0, as input is, got a tensor on " + device_name(far_device(0)));
}

TEST(Layers, SeeIndexingAndOutForms) {
  Log log;
  const Layer profile(OF_LAYER_PROFILE, logging(log, OF_LAYER_PROFILE, OF_BODY_SEEN));
  const TensorRef x = make_tensor({3}, {1, 2, 3});
  of_index part{};
  part.kind = OF_INDEX_SLICE;
  part.has_start = true;
  part.start = 1;
  part.step = 1;
  of_tensor view = nullptr;
  ASSERT_EQ(of_tensor_index(to_handle(x.get()), &part, 1, &view), OF_OK);
  of_tensor_release(view);
  const of_value one = to_value(1.0);
  ASSERT_EQ(of_tensor_set_index(to_handle(x.get()), &part, 1, &one), OF_OK);
  EXPECT_EQ(values(*x), (Values{1, 1, 1}));
  call_into("add", *x, *kAdd, x, x);
  EXPECT_EQ(log, (Log{"4 slice", "4 slice", "4 fill", "4 add"}));
}

// Tests that reads by code outside of operators pass the layers, which may refuse them or decide what is read.
TEST(Layers, SeeReadsClonesAndMoves) {
  Log log;
  const TensorRef x = make_tensor({1}, {7}, OF_FLOAT32);
  {
    const Layer profile(OF_LAYER_PROFILE, [&](of_layer_call* call) {
      log.push_back(std::string(info_of(call).caller) + ": " + name_of(info_of(call)));
      return of_layer_next(call, OF_BODY_HIDDEN);
    });
    of_scalar item{};
    double real = 0, imaginary = 0;
    float number = 0;
    const void* data = nullptr;
    char* text = nullptr;
    bool is_equal = false;
    of_tensor made = nullptr;
    DLManagedTensor* managed = nullptr;
    EXPECT_EQ(of_tensor_item(to_handle(x.get()), &item), OF_OK);
    EXPECT_EQ(of_tensor_complex_item(to_handle(x.get()), &real, &imaginary), OF_OK);
    EXPECT_EQ(of_tensor_read(to_handle(x.get()), &number, sizeof(number)), OF_OK);
    EXPECT_EQ(of_tensor_data(to_handle(x.get()), &data), OF_OK);
    EXPECT_EQ(data, x->data());
    EXPECT_EQ(of_tensor_format(to_handle(x.get()), nullptr, &text), OF_OK);
    of_free(text);
    EXPECT_EQ(of_tensor_equal(to_handle(x.get()), to_handle(x.get()), &is_equal), OF_OK);
    EXPECT_EQ(of_tensor_lazy_clone(to_handle(x.get()), &made), OF_OK);
    of_tensor_release(made);
    EXPECT_EQ(of_tensor_to_device(to_handle(x.get()), of_device{}, &made), OF_OK);
    of_tensor_release(made);
    EXPECT_EQ(of_tensor_to_dlpack(to_handle(x.get()), &managed), OF_OK);
    managed->deleter(managed);
    EXPECT_EQ(real + number + static_cast<double>(is_equal), 15);
  }
  EXPECT_EQ(log, (Log{"item: lazy_clone", "item: lazy_clone", "read: lazy_clone", "data: lazy_clone",
                      "format: lazy_clone", "equal: lazy_clone", "equal: lazy_clone", "lazy_clone: lazy_clone",
                      "to_device: to_device", "to_dlpack: lazy_clone"}));
  const Layer capture(OF_LAYER_CAPTURE, [](of_layer_call*) { return of_fail(OF_UNSUPPORTED, "has no value yet"); });
  of_scalar item{};
  EXPECT_EQ(of_tensor_item(to_handle(x.get()), &item), OF_UNSUPPORTED);
  EXPECT_STREQ(of_last_error(), "item: has no value yet");
}

// ---------------------------------------------------------------- installation and removal

TEST(Layers, HaveOneFunctionPerNumber) {
  const Layer profile(OF_LAYER_PROFILE, [](of_layer_call* call) { return of_layer_next(call, OF_BODY_SEEN); });
  const auto function = [](void*, of_layer_call*) { return OF_OK; };
  EXPECT_EQ(of_layer_install(OF_LAYER_PROFILE, OF_LAYER_ALL_CALLS, function, nullptr), OF_INVALID_ARGUMENT);
  EXPECT_STREQ(of_last_error(), "of_layer_install: layer 4 is installed already");
}

TEST(Layers, CannotBeRemovedFromWithinTheirOwnCalls) {
  of_status status = OF_OK;
  const Layer profile(OF_LAYER_PROFILE, [&](of_layer_call* call) {
    status = of_layer_remove(OF_LAYER_PROFILE);
    return of_layer_next(call, OF_BODY_HIDDEN);
  });
  call_operator(kNeg, make_tensor({1}, {1}));
  EXPECT_EQ(status, OF_INVALID_ARGUMENT);
}

TEST(Layers, AreRemovedOnceTheirLastCallHasLeft) {
  std::atomic<bool> is_inside{false}, may_leave{false}, has_left{false};
  const auto function = [](void* stop, of_layer_call* call) {
    (*static_cast<std::function<void()>*>(stop))();
    return of_layer_next(call, OF_BODY_HIDDEN);
  };
  std::function<void()> stop = [&] {
    is_inside = true;
    while (!may_leave) std::this_thread::yield();
    has_left = true;
  };
  ASSERT_EQ(of_layer_install(OF_LAYER_PROFILE, OF_LAYER_ALL_CALLS, function, &stop), OF_OK);
  std::thread caller([] { call_operator(kNeg, make_tensor({1}, {1})); });
  while (!is_inside) std::this_thread::yield();
  std::thread releaser([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    may_leave = true;
  });
  EXPECT_EQ(of_layer_remove(OF_LAYER_PROFILE), OF_OK);
  EXPECT_TRUE(has_left) << "the removal must wait for the call";
  caller.join();
  releaser.join();
}

TEST(Layers, CanBeRemovedInAForkedChildOfAProcessWithCallsInside) {
  std::atomic<bool> is_inside{false}, may_leave{false};
  const Layer profile(OF_LAYER_PROFILE, [&](of_layer_call* call) {
    is_inside = true;
    while (!may_leave) std::this_thread::yield();
    return of_layer_next(call, OF_BODY_HIDDEN);
  });
  std::thread caller([] { call_operator(kNeg, make_tensor({1}, {1})); });
  while (!is_inside) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(of_layer_remove(OF_LAYER_PROFILE) == OF_OK ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  may_leave = true;
  caller.join();
}

// For ThreadSanitizer: threads call operators while others install and remove layers.
TEST(Layers, ComeAndGoWhileThreadsCall) {
  std::atomic<bool> is_over{false};
  std::atomic<int> seen{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&] {
      const TensorRef x = make_tensor({2}, {1, 2});
      while (!is_over) EXPECT_EQ(values(*call_operator(kSum, call_operator(kNeg, x), 0)), Values{-3});
    });
  for (int i = 0; i < 200; ++i) {
    const of_layer number = i % 2 ? OF_LAYER_PROFILE : kBottom;
    const Layer layer(number, [&](of_layer_call* call) {
      ++seen;
      return of_layer_next(call, OF_BODY_SEEN);
    });
    call_operator(kNeg, make_tensor({1}, {1}));
  }
  is_over = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_GE(seen, 200);
}

// ---------------------------------------------------------------- extensions

TEST(Extensions, BelongToOneLayerEach) {
  TensorRef x = make_tensor({1}, {1});
  static int freed = 0;
  freed = 0;
  const auto free_number = [](void* number) { freed += *static_cast<int*>(number); };
  int ten = 10, one = 1;
  EXPECT_EQ(of_tensor_set_extension(to_handle(x.get()), kMiddle, &ten, free_number), OF_OK);
  EXPECT_EQ(of_tensor_set_extension(to_handle(x.get()), OF_LAYER_SHARDING, &one, free_number), OF_OK);
  EXPECT_EQ(of_tensor_set_extension(to_handle(x.get()), OF_LAYER_SHARDING, &ten, free_number), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_tensor_get_extension(to_handle(x.get()), kMiddle), &ten);
  EXPECT_EQ(of_tensor_get_extension(to_handle(x.get()), OF_LAYER_SHARDING), &one);
  EXPECT_EQ(of_tensor_get_extension(to_handle(x.get()), OF_LAYER_CAPTURE), nullptr);
  EXPECT_EQ(x->carried_layers(), (1u << kMiddle) | (1u << OF_LAYER_SHARDING));
  x = {};
  EXPECT_EQ(freed, 11);
}

TEST(Extensions, OfALongChainAreFreedInConstantStack) {
  const uint64_t before = Tensor::live_count();
  TensorRef last = make_tensor({1}, {1});
  for (int i = 0; i < 1000000; ++i) {
    TensorRef next = Tensor::without_memory({}, OF_FLOAT32, {});
    const auto release = [](void* tensor) { of_tensor_release(static_cast<Tensor*>(tensor)); };
    ASSERT_EQ(of_tensor_set_extension(to_handle(next.get()), kMiddle, last.detach(), release), OF_OK);
    last = std::move(next);
  }
  last = {};
  EXPECT_EQ(Tensor::live_count(), before);
}

TEST(Extensions, AreAddedByManyThreadsAtOnce) {
  for (int round = 0; round < 50; ++round) {
    const TensorRef x = make_tensor({1}, {1});
    int data = 0;
    std::atomic<int> added{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int layer = 0; layer < OF_LAYER_LIMIT; ++layer)
          added += of_tensor_set_extension(to_handle(x.get()), layer, &data, nullptr) == OF_OK;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(added, OF_LAYER_LIMIT);
    EXPECT_EQ(x->carried_layers(), ~0u);
  }
}

}  // namespace
}  // namespace oneflow
