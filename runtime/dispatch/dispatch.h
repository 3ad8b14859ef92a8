// The one way to an operator: checks arguments, passes the layers, runs the kind's function.
#ifndef ONEFLOW_DISPATCH_DISPATCH_H_
#define ONEFLOW_DISPATCH_DISPATCH_H_

#include <oneflow/oneflow.h>

#include <initializer_list>
#include <span>

#include "dispatch/call.h"

namespace oneflow {

// What of_call() does. Error texts begin with the operator's name. `results` is untouched by a failure.
void call(const Operator& op, std::span<const of_value> arguments, std::span<of_value> results);

// What of_infer() does.
void infer(const Operator& op, std::span<const of_value> arguments, std::span<of_value> results);

// A call inside of another operator: as call() or infer(), but error texts stay without a name, so that the operator
// that the user called gets its own put in front.
void call_inside(const Operator& op, std::span<const of_value> arguments, std::span<of_value> results, bool infer_only);

// What of_layer_next() does: goes on behind the layer that got `call`.
void next_layer(const of_layer_call& call, const Operator& op, std::span<const of_value> arguments,
                std::span<of_value> results);

// Releases what a result holds and sets it to ABSENT.
void release_value(of_value& value) noexcept;

// Values for calls from C++.
inline of_value to_value(const of_value& value) { return value; }
inline of_value to_value(bool value) {
  of_value v{OF_VALUE_BOOL, 0, {}};
  v.as.boolean = value;
  return v;
}
inline of_value to_value(int64_t value) {
  of_value v{OF_VALUE_INT, 0, {}};
  v.as.integer = value;
  return v;
}
inline of_value to_value(int value) { return to_value(static_cast<int64_t>(value)); }
inline of_value to_value(double value) {
  of_value v{OF_VALUE_FLOAT, 0, {}};
  v.as.real = value;
  return v;
}
inline of_value to_value(const char* text) {
  of_value v{OF_VALUE_STRING, static_cast<int32_t>(std::char_traits<char>::length(text)), {}};
  v.as.string = text;
  return v;
}
inline of_value to_value(Sizes integers) {
  of_value v{OF_VALUE_INT_LIST, static_cast<int32_t>(integers.size()), {}};
  v.as.integers = integers.data();
  return v;
}
inline of_value to_value(const Shape& integers) { return to_value(Sizes(integers)); }
inline of_value to_value(of_dtype dtype) {
  of_value v{OF_VALUE_DTYPE, 0, {}};
  v.as.dtype = dtype;
  return v;
}
inline of_value to_value(const Tensor& tensor) {
  of_value v{OF_VALUE_TENSOR, 0, {}};
  v.as.tensor = to_handle(const_cast<Tensor*>(&tensor));
  return v;
}
inline of_value to_value(const TensorRef& tensor) { return to_value(*tensor); }
inline of_value to_value(std::span<of_tensor> tensors) {
  of_value v{OF_VALUE_TENSOR_LIST, static_cast<int32_t>(tensors.size()), {}};
  v.as.tensors = tensors.data();
  return v;
}
// The default, in the place of an argument.
inline constexpr of_value kDefault{OF_VALUE_ABSENT, 0, {}};
inline constexpr of_value kNone{OF_VALUE_NONE, 0, {}};

// The operators that a kind's function or a composite's body calls on behalf of `call`.
class Body {
 public:
  explicit Body(const Call& call) : call_(call) {}

  // The arguments of the operator itself.
  const of_value& argument(int position) const { return call_.arguments[position]; }

  // An operator with one tensor as its result.
  template <class... Values>
  TensorRef call(const OperatorName& name, const Values&... values) {
    const of_value arguments[] = {to_value(values)...};
    of_value result{};
    call_inside(*name, arguments, {&result, 1}, call_.infer_only);
    return TensorRef::adopt(to_tensor(result.as.tensor));
  }

 private:
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

// Calls an operator so that it writes into `result`.
template <class... Values>
void call_into(const Tensor& result, const OperatorName& name, const Values&... values) {
  const of_value arguments[] = {to_value(values)...};
  of_value value = to_value(result);
  call_inside(*name, arguments, {&value, 1}, false);
}

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_DISPATCH_H_
