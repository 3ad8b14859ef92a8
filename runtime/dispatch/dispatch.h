// Calls operators: checks the arguments, enters the layers, and runs the function of the operator's kind.
#ifndef ONEFLOW_DISPATCH_DISPATCH_H_
#define ONEFLOW_DISPATCH_DISPATCH_H_

#include <oneflow/oneflow.h>

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "dispatch/call.h"
#include "dispatch/call_work.h"
#include "dispatch/values.h"

namespace oneflow {

// Implements of_call(). Error texts begin with the operator's name. A failure leaves `results` unchanged.
void call(const Operator& op, std::span<const of_value> arguments, std::span<of_value> results);

// Rethrows the current exception with the operator's name before its text, unless the text is complete.
[[noreturn]] void rethrow_with_name(const Schema& schema);

// Calls work(), and returns its result. Error texts begin with the operator's name.
template <class Work>
auto with_name(const Schema& schema, Work&& work) {
  try {
    return work();
  } catch (...) {
    rethrow_with_name(schema);
  }
}

// Implements of_call_box().
void call_box(const Operator& op, std::span<const of_value> arguments, const of_box& box, std::span<of_value> results);

// Implements of_infer().
void infer(const Operator& op, std::span<const of_value> arguments, std::span<of_value> results);

// Calls an operator within another one, like call() or infer(), but without its name in error texts: they get the name
// of the operator that the user called. `name` is the name of that operator, for deferred errors; null stands for the
// name of `op`. `donated` is an operand that is not used after the call, or null; `box` the part of the result to
// compute, or null.
void call_inside(const Operator& op, const char* name, std::span<const of_value> arguments, std::span<of_value> results,
                 bool infer_only, const Tensor* donated = nullptr, const of_box* box = nullptr);

// Makes a call compute only a part of its result. Throws Unsupported unless the operator can.
void set_box(Call& call, const of_box& box);

// Checks the arguments and the results of a call, and stores the arguments in it.
void check_call(Call& call, std::span<const of_value> arguments);

// Releases the tensors of a result, and the list if it is one, and makes it ABSENT.
void release_value(of_value& value) noexcept;

// Releases the results of a call that were absent before, at the end of its life, unless they are kept.
class NewResults {
 public:
  explicit NewResults(std::span<of_value> results) : results_(results) {
    for (size_t i = 0; i < results.size(); ++i) is_new_[i] = results[i].kind == OF_VALUE_ABSENT;
  }
  NewResults(const NewResults&) = delete;
  NewResults& operator=(const NewResults&) = delete;
  ~NewResults() {
    for (size_t i = 0; i < results_.size(); ++i)
      if (is_new_[i]) release_value(results_[i]);
  }
  void keep() { results_ = {}; }

 private:
  std::span<of_value> results_;
  bool is_new_[kMaxResults];
};

// The results of a call, of which those that are not taken are released.
struct OwnedResults {
  OwnedResults() = default;
  OwnedResults(const OwnedResults&) = delete;
  OwnedResults& operator=(const OwnedResults&) = delete;
  ~OwnedResults() {
    for (of_value& value : values) release_value(value);
  }
  // Takes the result at a position, which is a tensor.
  TensorRef take(size_t position) {
    return TensorRef::adopt(to_tensor(std::exchange(values[position].as.tensor, nullptr)));
  }

  of_value values[kMaxResults]{};
};

// Returns the tensor whose elements code outside of operators may read on behalf of `caller`. It is `tensor`, unless a
// layer wants to see the read: it then sees `lazy_clone`, and decides what is read.
TensorRef readable(const Tensor& tensor, const char* caller);

// Sees, while it lives, which tensors the bodies of this thread's calls for inference would write to.
class ForeseenWrites {
 public:
  ForeseenWrites();
  ForeseenWrites(const ForeseenWrites&) = delete;
  ForeseenWrites& operator=(const ForeseenWrites&) = delete;
  ~ForeseenWrites();

  bool contains(const Tensor& tensor) const;
  // Notes a write that is left out, if there is an object.
  static void note(const Tensor& tensor);

 private:
  ForeseenWrites* const outer_;
  std::vector<const Tensor*> tensors_;
};

// Calls operators on behalf of another one, for the functions of kinds.
class Body {
 public:
  explicit Body(const Call& call) : call_(call) {}

  // Calls an operator with one result. A TensorRef that is passed as an rvalue is donated: the result may reuse its
  // memory.
  template <class... Values>
  TensorRef call(const OperatorName& name, Values&&... values) {
    const of_value arguments[] = {to_value(values)...};
    if ((*name).writes_arguments()) [[unlikely]]
      prepare_writes(call_);
    of_value result{};
    const Tensor* donated = nullptr;
    (..., find_donated<Values>(values, donated));
    call_inside(*name, call_.name, arguments, {&result, 1}, call_.infer_only, donated);
    return TensorRef::adopt(to_tensor(result.as.tensor));
  }

  // Calls an operator that writes its results to `targets`. Inference writes nothing.
  template <size_t count, class... Values>
  void call_into(const OperatorName& name, const std::array<of_tensor, count>& targets, const Values&... values) {
    const of_value arguments[] = {to_value(values)...};
    of_value results[count];
    for (size_t i = 0; i < count; ++i) results[i] = to_value(*to_tensor(targets[i]));
    if (!call_.infer_only) {
      prepare_writes(call_);
      return call_inside(*name, call_.name, arguments, results, false);
    }
    for (const of_tensor target : targets) ForeseenWrites::note(*to_tensor(target));
    WorkCounter::count_left_out(*name, call_.name, arguments);
  }

  // Calls an operator that writes its result to the argument `written`, which it returns. Inference writes nothing.
  template <int written, class... Values>
  TensorRef call_in_place(const OperatorName& name, const Values&... values) {
    const of_value arguments[] = {to_value(values)...};
    const TensorRef target = share(*to_tensor(arguments[written].as.tensor));
    of_value result = to_value(target);
    if (!call_.infer_only) {
      prepare_writes(call_);
      call_inside(*name, call_.name, arguments, {&result, 1}, false);
      return target;
    }
    ForeseenWrites::note(*target);
    WorkCounter::count_left_out(*name, call_.name, arguments);
    return target;
  }

 private:
  // Sets `donated` to the tensor if the value is an rvalue TensorRef, and the first one.
  template <class Value>
  static void find_donated(const std::remove_reference_t<Value>& value, const Tensor*& donated) {
    constexpr bool is_rvalue = !std::is_lvalue_reference_v<Value>;
    if constexpr (is_rvalue && std::is_same_v<std::remove_cvref_t<Value>, TensorRef>)
      donated = donated ? donated : value.get();
  }

  const Call& call_;
};

// Calls an operator with one result outside any call: error texts begin with its name.
template <class... Values>
TensorRef call_operator(const OperatorName& name, const Values&... values) {
  const of_value arguments[] = {to_value(values)...};
  of_value result{};
  call(*name, arguments, {&result, 1});
  return TensorRef::adopt(to_tensor(result.as.tensor));
}

// Calls an operator that writes its result to `result`. `caller` is the name of the operator that the user called.
template <class... Values>
void call_into(const char* caller, const Tensor& result, const Operator& op, const Values&... values) {
  const of_value arguments[] = {to_value(values)...};
  of_value value = to_value(result);
  call_inside(op, caller, arguments, {&value, 1}, false);
}
// Overload for calls on behalf of the operator of `call`.
template <class... Values>
void call_into(const Call& call, const Tensor& result, const OperatorName& name, const Values&... values) {
  call_into(call.name, result, *name, values...);
}

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_DISPATCH_H_
