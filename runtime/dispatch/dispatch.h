// The one way to an operator: checks arguments, passes the layers, runs the kind's function.
#ifndef ONEFLOW_DISPATCH_DISPATCH_H_
#define ONEFLOW_DISPATCH_DISPATCH_H_

#include <oneflow/oneflow.h>

#include <span>
#include <type_traits>

#include "dispatch/call.h"
#include "dispatch/values.h"

namespace oneflow {

// What of_call() does. Error texts begin with the operator's name. `results` is untouched by a failure.
void call(const Operator& op, std::span<const of_value> arguments, std::span<of_value> results);

// What of_infer() does.
void infer(const Operator& op, std::span<const of_value> arguments, std::span<of_value> results);

// A call inside of another operator: as call() or infer(), but error texts stay without a name, so that the operator
// that the user called gets its own put in front. `name`: that operator's, for errors that are found later; NULL stands
// for the name of `op`. `spare`: an operand that nobody reads afterwards, or NULL.
void call_inside(const Operator& op, const char* name, std::span<const of_value> arguments, std::span<of_value> results,
                 bool infer_only, const Tensor* spare = nullptr);

// What of_layer_next() does: goes on behind the layer that got `call`.
void next_layer(const of_layer_call& call, const Operator& op, std::span<const of_value> arguments,
                std::span<of_value> results);

// Releases what a result holds and sets it to ABSENT.
void release_value(of_value& value) noexcept;

// The operators that a kind's function or a composite's body calls on behalf of `call`.
class Body {
 public:
  explicit Body(const Call& call) : call_(call) {}

  // The arguments of the operator itself.
  const of_value& argument(int position) const { return call_.arguments[position]; }
  // Which of the bodies the matched attribute picks.
  int variant() const { return match_variant(call_); }

  // An operator with one tensor as its result. A tensor that is handed over may become the result.
  template <class... Values>
  TensorRef call(const OperatorName& name, Values&&... values) {
    const of_value arguments[] = {to_value(values)...};
    of_value result{};
    const Tensor* spare = nullptr;
    (..., see_spare<Values>(values, spare));
    call_inside(*name, call_.name, arguments, {&result, 1}, call_.infer_only, spare);
    return TensorRef::adopt(to_tensor(result.as.tensor));
  }

 private:
  // Notes the first tensor that is handed over.
  template <class Value>
  static void see_spare(const std::remove_reference_t<Value>& value, const Tensor*& spare) {
    constexpr bool is_given_up = !std::is_lvalue_reference_v<Value>;
    if constexpr (is_given_up && std::is_same_v<std::remove_cvref_t<Value>, TensorRef>)
      spare = spare ? spare : value.get();
  }

  const Call& call_;
};

// The same outside of any call: error texts begin with the name of the operator called.
template <class... Values>
TensorRef call_operator(const OperatorName& name, const Values&... values) {
  const of_value arguments[] = {to_value(values)...};
  of_value result{};
  call(*name, arguments, {&result, 1});
  return TensorRef::adopt(to_tensor(result.as.tensor));
}

// Calls an operator so that it writes into `result`: on behalf of the one that `caller` names, or of `call`.
template <class... Values>
void call_into(const char* caller, const Tensor& result, const Operator& op, const Values&... values) {
  const of_value arguments[] = {to_value(values)...};
  of_value value = to_value(result);
  call_inside(op, caller, arguments, {&value, 1}, false);
}
template <class... Values>
void call_into(const Call& call, const Tensor& result, const OperatorName& name, const Values&... values) {
  call_into(call.name, result, *name, values...);
}

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_DISPATCH_H_
