#include "ops/unsigned_order.h"

#include <algorithm>

#include "base/dtype.h"
#include "dispatch/dispatch.h"
#include "tensor/create.h"

namespace oneflow {

namespace {

constinit const OperatorName kCast("cast");
constinit const OperatorName kBitwiseXor("bitwise_xor");

constexpr int64_t kHighestBit = INT64_MIN;

// Returns whether an operand may have elements above the range of int64.
bool has_unsigned_operand(const Call& call) {
  const auto arguments = call.op.promoted_arguments();
  return std::any_of(arguments.begin(), arguments.end(), [&](uint8_t argument) {
    return call.arguments[argument].kind == OF_VALUE_UINT ||
           (call.is_tensor(argument) && call.tensor(argument).dtype() == OF_UINT64);
  });
}

// Returns a tensor of integers with the highest bits inverted, as a tensor of dtype `dtype`, int64 or uint64.
TensorRef inverted(const Call& call, const Tensor& tensor, of_dtype dtype) {
  Body body(call);
  const bool is_narrow = tensor.dtype() != OF_INT64 && tensor.dtype() != OF_UINT64;
  const TensorRef wide = is_narrow ? body.call(kCast, tensor, OF_INT64) : share(tensor);
  const TensorRef bits = body.call(kBitwiseXor, wide, kHighestBit);
  return Tensor::over(bits->storage(), dtype, bits->sizes(), bits->strides(), bits->offset());
}

// Returns a tensor of zeros with the sizes of another one, which all are one element.
TensorRef zeros(const Call& call, const Tensor& tensor) {
  Shape strides;
  strides.resize(tensor.rank());
  std::fill(strides.begin(), strides.end(), 0);
  return Tensor::view(*scalar_tensor(int_scalar(0), OF_INT64, call.device), tensor.sizes(), strides, 0);
}

// Returns a number that compares with 0 as `value` does with every element of an integer dtype, if it is outside of the
// range of the dtype; NONE otherwise.
of_value beyond(const of_value& value, of_dtype dtype) {
  if (value.kind == OF_VALUE_UINT && dtype != OF_UINT64) return to_value(INT64_MAX);
  if (value.kind == OF_VALUE_INT && dtype == OF_UINT64 && value.as.integer < 0) return value;
  return kNone;
}

}  // namespace

bool compare_unsigned(Call& call, Comparison comparison) {
  if (call.infer_only || !has_unsigned_operand(call)) return false;
  const of_dtype dtype = promote_operands(call);
  if (!is_integral(dtype)) return false;
  const DTypes dtypes = resolve_dtypes(call);
  const auto operands = call.op.promoted_arguments();
  const bool is_one_sided = std::any_of(operands.begin(), operands.end(), [&](uint8_t argument) {
    return beyond(call.arguments[argument], dtype).kind != OF_VALUE_NONE;
  });
  if (!is_one_sided && (comparison == Comparison::kEquality || dtype != OF_UINT64)) return false;

  of_value arguments[kMaxArguments];
  const size_t count = call.schema().arguments.size();
  std::copy_n(call.arguments, count, arguments);
  TensorRef changed[kMaxArguments];
  for (const uint8_t argument : operands) {
    of_value& value = arguments[argument];
    if (call.is_tensor(argument)) {
      const Tensor& tensor = call.tensor(argument);
      changed[argument] = is_one_sided ? zeros(call, tensor) : inverted(call, tensor, OF_INT64);
      value = to_value(changed[argument]);
    } else if (is_one_sided) {
      value = beyond(value, dtype);
    } else if (is_number(value)) {
      value = to_value(to_int64(scalar_of(value)) ^ kHighestBit);
    }
  }
  of_value results[kMaxResults]{};
  call_inside(call.op, call.name, {arguments, count}, {results, call.results.size()}, false);
  for (size_t i = 0; i < call.results.size(); ++i) {
    TensorRef result = TensorRef::adopt(to_tensor(results[i].as.tensor));
    if (dtypes.results[i] == OF_UINT64) result = inverted(call, *result, OF_UINT64);
    set_result(call, static_cast<int>(i), std::move(result));
  }
  return true;
}

}  // namespace oneflow
