#include "ops/complex.h"

#include <algorithm>

#include "dispatch/program_body.h"
#include "ops/elementwise.h"
#include "ops/fold.h"
#include "ops/gather.h"
#include "ops/generator.h"
#include "ops/native.h"
#include "tensor/complex.h"
#include "tensor/create.h"

namespace oneflow {

namespace {

constinit const OperatorName kAny("any");
constinit const OperatorName kCast("cast");
constinit const OperatorName kClone("clone");
constinit const OperatorName kCopy("copy");
constinit const OperatorName kFill("fill");

TensorRef allocate(const Call& call, Sizes sizes, of_dtype dtype) {
  return call.infer_only ? Tensor::without_memory(sizes, dtype, call.device)
                         : Tensor::allocate(sizes, dtype, call.device);
}

// Returns a copy of a real tensor with complex dtype `dtype`.
TensorRef made_complex(const Call& call, const Tensor& real, of_dtype dtype) {
  TensorRef result = allocate(call, real.sizes(), dtype);
  if (call.infer_only || result->count() == 0) return result;
  const TensorRef parts[] = {part_of(*result, 0), part_of(*result, 1)};
  call_into(call, *parts[0], kCopy, parts[0], real);
  call_into(call, *parts[1], kFill, parts[1], 0);
  return result;
}

// Returns an operand, which may be a number, as a complex tensor of dtype `dtype`.
TensorRef complex_operand(const Call& call, int argument, of_dtype dtype) {
  if (!call.is_tensor(argument)) return scalar_tensor(call.number(argument), dtype, call.device);
  const Tensor& tensor = call.tensor(argument);
  if (tensor.dtype() == dtype) return share(tensor);
  return is_complex(tensor.dtype()) ? Body(call).call(kCast, tensor, dtype) : made_complex(call, tensor, dtype);
}

// Calls visit(argument) for each operand that takes part in promotion and is given.
template <class Visit>
void for_each_operand(const Call& call, Visit&& visit) {
  for (const uint8_t argument : call.op.promoted_arguments())
    if (call.is_given(argument)) visit(argument);
}

// Returns a newly computed tensor of parts as a complex tensor over the same storage.
TensorRef as_complex(const TensorRef& parts, of_dtype dtype) {
  Shape sizes = parts->sizes();
  sizes.resize(sizes.rank() - 1);
  if (!parts->has_memory()) return Tensor::without_memory(sizes, dtype, parts->device());
  return Tensor::over(parts->storage(), dtype, sizes, contiguous_strides(sizes), 0);
}

// Changes the arguments of a reduction so that it does not fold the dimension of the parts: the dims to fold are listed
// explicitly. A 0-d input gets a dimension of size 1 to fold. `dims` and `input` own what the arguments refer to.
void name_dims(const ReductionRule& rule, of_value* arguments, TensorRef& input, Shape& dims) {
  if (input->rank() == 1) {
    input = Tensor::view(*input, Shape{1, 2}, Shape{0, 1}, input->offset());
    arguments[0] = to_value(input);
    arguments[rule.keepdim_argument] = to_value(false);
  }
  of_value& named = arguments[rule.dims_argument];
  if (named.kind == OF_VALUE_INT || (named.kind == OF_VALUE_INT_LIST && named.count > 0)) return;
  for (int d = 0; d < input->rank() - 1; ++d) dims.push_back(d);
  named = to_value(dims);
}

// Runs an operator with a bool result on the truth values of the operands: a complex number is true if one of its parts
// is.
void run_by_truth(Call& call) {
  Body body(call);
  TensorRef truths[kMaxArguments];
  for_each_operand(call, [&](int argument) {
    if (!call.is_tensor(argument) || !is_complex(call.tensor(argument).dtype())) return;
    truths[argument] = body.call(kAny, view_as_real(call.tensor(argument)), Shape{-1}, false);
    call.arguments[argument] = to_value(truths[argument]);
  });
  call.schema().run(call);
}

void check_is_complex(of_dtype result) {
  if (!is_complex(result))
    fail(OF_DTYPE_ERROR, "a complex tensor does not become %s; take its real or imaginary part", dtype_name(result));
}

// Returns whether the device has a kernel that computes in complex numbers, and a given result has the result dtype, so
// that the kernel can write to it without conversion.
bool has_complex_kernel(Call& call, of_dtype dtype) {
  if (!call.schema().holds_for_complex || !call.op.kernel(match_variant(call), dtype, call.device)) return false;
  const of_value& given = call.results[0];
  return given.kind != OF_VALUE_TENSOR || to_tensor(given.as.tensor)->dtype() == resolve_dtypes(call).results[0];
}

// Runs an operator on the parts of its operands. `change(arguments, parts)` may change the arguments of the inner call
// and the first operand.
template <class Change>
void run_on_parts(Call& call, Change&& change) {
  const DTypeRule& rule = call.schema().dtype;
  const of_dtype dtype = resolve_dtypes(call).results[0];
  if (dtype == OF_BOOL) return run_by_truth(call);
  check_is_complex(dtype);
  of_value arguments[kMaxArguments];
  std::copy_n(call.arguments, call.schema().arguments.size(), arguments);
  const bool converts = rule.override_argument >= 0 && call.is_given(rule.override_argument);
  if (converts) arguments[rule.override_argument].as.dtype = part_dtype(dtype);
  TensorRef parts[kMaxArguments];
  for_each_operand(call, [&](int argument) {
    const bool is_whole = converts && call.is_tensor(argument) && is_complex(call.tensor(argument).dtype());
    parts[argument] = view_as_real(is_whole ? call.tensor(argument) : *complex_operand(call, argument, dtype));
    arguments[argument] = to_value(parts[argument]);
  });
  change(arguments, parts[0]);
  const auto run = [&](of_value result, bool infer_only) {
    call_inside(call.op, call.name, {arguments, call.schema().arguments.size()}, {&result, 1}, infer_only);
    return result;
  };
  const of_value& given = call.results[0];
  if (given.kind != OF_VALUE_TENSOR || call.infer_only)
    return set_result(call, 0, as_complex(TensorRef::adopt(to_tensor(run({}, call.infer_only).as.tensor)), dtype));
  const TensorRef shape = TensorRef::adopt(to_tensor(run({}, true).as.tensor));
  const Tensor& target = *to_tensor(given.as.tensor);
  check_destination(target, as_complex(shape, dtype)->sizes(), dtype);
  run(to_value(view_as_real(target)), false);
  set_result(call, 0, share(target));
}

}  // namespace

void run_by_parts(Call& call) {
  run_on_parts(call, [](of_value*, TensorRef&) {});
}

void run_reduction_by_parts(Call& call) {
  Shape dims;
  run_on_parts(call, [&](of_value* arguments, TensorRef& input) {
    name_dims(rule_of<ReductionRule>(call.schema()), arguments, input, dims);
  });
}

void run_gather_by_parts(Call& call) {
  const Tensor& input = call.tensor(0);
  if (input.rank() > 0) return run_by_parts(call);
  // The dimension of the parts must not take the place of the one that a tensor with 0 dimensions lacks: its only
  // element is selected, if the call is valid for one of its parts.
  of_value arguments[kMaxArguments], selected{};
  const size_t count = call.schema().arguments.size();
  std::copy_n(call.arguments, count, arguments);
  const TensorRef part = part_of(input, 0);
  arguments[0] = to_value(part);
  call_inside(call.op, call.name, {arguments, count}, {&selected, 1}, call.infer_only);
  of_value_release(&selected);
  ProgramBody body(call);
  body.give(body.call(kClone, input));
}

void run_complex_body(Call& call) {
  of_dtype dtype = promote_operands(call);
  if (!is_complex(dtype)) dtype = promote_types(dtype, OF_COMPLEX64);  // only the requested dtype is complex
  TensorRef operands[kMaxArguments];
  for_each_operand(call, [&](int argument) {
    operands[argument] = complex_operand(call, argument, dtype);
    call.arguments[argument] = to_value(operands[argument]);
  });
  if (has_complex_kernel(call, dtype)) return run_elementwise(call, dtype);
  ProgramBody body(call);
  call.schema().complex_body(body);
  const int override = call.schema().dtype.override_argument;
  if (override >= 0 && call.is_given(override)) body.give(body.call(kCast, call.outputs[0], call.arguments[override]));
}

void run_complex_generator(Call& call) {
  const DTypeRule& rule = call.schema().dtype;
  const of_dtype dtype = resolve_dtypes(call).results[0];
  of_value arguments[kMaxArguments];
  std::copy_n(call.arguments, call.schema().arguments.size(), arguments);
  TensorRef parts[kMaxArguments];
  for_each_operand(call, [&](int argument) {  // a tensor whose shape and dtype the result has, as in zeros_like
    if (!call.is_tensor(argument)) return;
    parts[argument] = part_of(call.tensor(argument), 0);
    arguments[argument] = to_value(parts[argument]);
  });
  if (rule.override_argument >= 0 && call.is_given(rule.override_argument))
    arguments[rule.override_argument].as.dtype = part_dtype(dtype);
  of_value result{};
  call_inside(call.op, call.name, {arguments, call.schema().arguments.size()}, {&result, 1}, call.infer_only, nullptr,
              call.box);
  const TensorRef real = TensorRef::adopt(to_tensor(result.as.tensor));
  set_result(call, 0, is_complex(dtype) ? made_complex(call, *real, dtype) : real);
}

namespace native {

void complex(Call& call) {
  const Tensor &real = call.tensor(0), &imaginary = call.tensor(1);
  const of_dtype dtype = promote_types(promote_operands(call), OF_COMPLEX64);
  const Shape sizes = broadcast_shapes(real.sizes(), imaginary.sizes());
  const Tensor& result = prepare_result(call, 0, sizes, dtype, Aliasing::kForbidden);
  if (call.infer_only || result.count() == 0) return;
  const TensorRef parts[] = {part_of(result, 0), part_of(result, 1)};
  call_into(call, *parts[0], kCopy, parts[0], real);
  call_into(call, *parts[1], kCopy, parts[1], imaginary);
}

}  // namespace native

}  // namespace oneflow
