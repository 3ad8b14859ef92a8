// Computes the dtypes of a call by the dtype rule of the operator's record, and the matched variant.
#include <bit>
#include <string>

#include "base/characters.h"
#include "dispatch/call.h"
#include "dispatch/values.h"
#include "tensor/defaults.h"

namespace oneflow {

namespace {

// Returns the dtype of the operands if all are tensors of the same dtype; OF_DTYPE_NONE otherwise.
of_dtype single_dtype(const Call& call) {
  of_dtype found = OF_DTYPE_NONE;
  for (const uint8_t argument : call.op.promoted_arguments()) {
    const of_value& value = call.arguments[argument];
    if (value.kind != OF_VALUE_TENSOR) return OF_DTYPE_NONE;
    const of_dtype dtype = to_tensor(value.as.tensor)->dtype();
    if (found != OF_DTYPE_NONE && found != dtype) return OF_DTYPE_NONE;
    found = dtype;
  }
  return found;
}

}  // namespace

of_dtype promote_operands(const Call& call) {
  if (const of_dtype dtype = single_dtype(call); dtype != OF_DTYPE_NONE) return dtype;
  Promotion promotion;
  const auto add_tensor = [&](const Tensor& tensor) { promotion.add_tensor(tensor.dtype(), tensor.rank() > 0); };
  for (const uint8_t argument : call.op.promoted_arguments()) {
    const of_value& value = call.arguments[argument];
    if (value.kind == OF_VALUE_TENSOR) {
      add_tensor(*to_tensor(value.as.tensor));
    } else if (value.kind == OF_VALUE_TENSOR_LIST) {
      for (int i = 0; i < value.count; ++i)
        if (value.as.tensors[i]) add_tensor(*to_tensor(value.as.tensors[i]));
    } else if (is_number(value)) {
      promotion.add_number(scalar_of(value).kind, default_dtype());
    }
  }
  return promotion.result();
}

namespace {

// Returns the dtype of the first operand if it is a tensor or a list of tensors, else that of all operands.
of_dtype first_dtype(const Call& call) {
  const auto arguments = call.op.tensor_arguments();
  if (!arguments.empty()) {
    const of_value& value = call.arguments[arguments[0]];
    if (value.kind == OF_VALUE_TENSOR) return to_tensor(value.as.tensor)->dtype();
    if (value.kind == OF_VALUE_TENSOR_LIST && value.count > 0 && value.as.tensors[0])
      return to_tensor(value.as.tensors[0])->dtype();
  }
  return promote_operands(call);
}

of_dtype apply(const Call& call, ResultRule rule) {
  switch (rule) {
    case ResultRule::kPromote:
      return promote_operands(call);
    case ResultRule::kSame:
      return first_dtype(call);
    case ResultRule::kLast:
      return call.tensor(call.op.tensor_arguments().back()).dtype();
    case ResultRule::kFloating: {
      const of_dtype dtype = promote_operands(call);
      return category(dtype) >= Category::kFloating ? dtype : default_dtype();
    }
    case ResultRule::kBool:
      return OF_BOOL;
    case ResultRule::kInt64:
      return OF_INT64;
    case ResultRule::kAccumulate: {
      const of_dtype dtype = promote_operands(call);
      return category(dtype) >= Category::kFloating ? dtype : OF_INT64;
    }
    case ResultRule::kNumbers:
      return category(promote_operands(call)) >= Category::kFloating ? OF_FLOAT64 : OF_INT64;
  }
  return OF_FLOAT32;
}

// Throws InvalidArgument if a number that becomes an element of the result does not fit in its dtype. Rounds it to a
// dtype of 16 bits: kernels compute in float32, and to round it to that first would round twice.
void convert_held_numbers(Call& call, of_dtype result) {
  for (uint32_t left = call.schema().dtype.held_arguments; left != 0; left &= left - 1) {
    const int argument = std::countr_zero(left);
    of_value& value = call.arguments[argument];
    if (!is_number(value)) continue;
    check_fits(scalar_of(value), result, call.schema().arguments[argument].name);
    if (result == OF_FLOAT16 || result == OF_BFLOAT16) value = to_value(to_double(rounded(scalar_of(value), result)));
  }
}

}  // namespace

of_dtype compute_type(of_dtype dtype) {
  switch (dtype) {
    case OF_BOOL:
      return OF_BOOL;
    case OF_INT64:
    case OF_UINT32:
    case OF_UINT64:
      return OF_INT64;
    case OF_FLOAT64:
    case OF_COMPLEX128:
      return OF_FLOAT64;
    case OF_COMPLEX64:
      return OF_FLOAT32;
    default:
      return is_floating(dtype) ? OF_FLOAT32 : OF_INT32;
  }
}

DTypes dtypes_of(const Call& call) {
  const DTypeRule& rule = call.schema().dtype;
  DTypes dtypes;
  for (int i = 0; i < call.schema().result_count; ++i) {
    if (i == 0 && rule.override_argument >= 0 && call.is_given(rule.override_argument)) {
      dtypes.results[0] = call.arguments[rule.override_argument].as.dtype;
      if (rule.floating_only && !is_floating(dtypes.results[0]))
        fail(OF_DTYPE_ERROR, "%s must be a floating-point type, got %s",
             call.schema().arguments[rule.override_argument].name, dtype_name(dtypes.results[0]));
    } else {
      dtypes.results[i] = apply(call, rule.results[i]);
    }
  }
  // If the rule may give a floating-point compute type, a floating-point result determines it.
  const bool may_be_floating = rule.compute == ResultRule::kFloating || rule.compute == ResultRule::kNumbers;
  const bool computes_result = rule.computes_result || (may_be_floating && is_floating(dtypes.results[0]));
  dtypes.compute = compute_type(computes_result ? dtypes.results[0] : apply(call, rule.compute));
  // Narrow integers are computed as such, but numbers are not truth values.
  if (rule.compute == ResultRule::kNumbers && dtypes.compute == OF_INT64 && dtypes.results[0] != OF_BOOL)
    dtypes.compute = compute_type(dtypes.results[0]);
  return dtypes;
}

DTypes resolve_dtypes(Call& call) {
  const DTypes dtypes = dtypes_of(call);
  convert_held_numbers(call, dtypes.results[0]);
  return dtypes;
}

int match_variant(const Call& call) {
  const Match& match = call.schema().match;
  if (match.argument < 0) return 0;
  std::string_view value = call.is_given(match.argument) ? "given" : "none";
  if (call.arguments[match.argument].kind == OF_VALUE_STRING) value = call.string(match.argument);
  if (call.arguments[match.argument].kind == OF_VALUE_BOOL) value = call.boolean(match.argument) ? "true" : "false";
  for (size_t i = 0; i < match.values.size(); ++i) {
    if (value == match.values[i]) return static_cast<int>(i);
  }
  std::string known;
  for (size_t i = 0; i < match.values.size(); ++i)
    known.append(i == 0                        ? ""
                 : i + 1 < match.values.size() ? ", "
                                               : " or ")
        .append("'")
        .append(match.values[i])
        .append("'");
  fail(OF_INVALID_ARGUMENT, "%s must be %s, got '%s'", call.schema().arguments[match.argument].name, known.c_str(),
       printable(value).c_str());
}

}  // namespace oneflow
