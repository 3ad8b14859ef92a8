#include "ops/gather.h"

#include "dispatch/dispatch.h"
#include "dispatch/launch.h"
#include "tensor/transfer.h"

namespace oneflow {

namespace {

Sizes gathered_dims(const Call& call, const GatherRule& rule) {
  const of_value& dims = call.arguments[rule.dims_argument];
  return dims.kind == OF_VALUE_INT ? Sizes(&dims.as.integer, 1) : call.integers(rule.dims_argument);
}

void check_dims(const Call& call, const GatherRule& rule, Sizes dims) {
  const auto name = [&](int argument) { return call.schema().arguments[argument].name; };
  uint32_t seen = 0;
  for (const int64_t dim : dims) {
    if (seen >> dim & 1)
      fail(OF_INVALID_ARGUMENT, "%s names dimension %d twice", name(rule.dims_argument), static_cast<int>(dim));
    seen |= uint32_t{1} << dim;
  }
  if (rule.per_dim_argument < 0) return;
  const size_t count = call.integers(rule.per_dim_argument).size();
  if (count != dims.size())
    fail(OF_INVALID_ARGUMENT, "%s and %s must have the same length, got %zu and %zu", name(rule.per_dim_argument),
         name(rule.dims_argument), count, dims.size());
}

// Returns the shape of an index that is read at the whole coordinate of a result element, which is the shape of the
// result. Throws ShapeError unless it has the rank of the input and, except along `dim`, is at most as large.
Shape whole_index_shape(const Call& call, const GatherRule& rule, const Tensor& input, int64_t dim) {
  const Tensor& index = call.tensor(rule.index_argument);
  const char* name = call.schema().arguments[rule.index_argument].name;
  if (index.rank() != input.rank())
    fail(OF_SHAPE_ERROR, "%s must have %d dimension%s, as input has, got %d", name, input.rank(),
         input.rank() == 1 ? "" : "s", index.rank());
  for (int d = 0; d < input.rank(); ++d) {
    if (d != dim && index.size(d) > input.size(d))
      fail(OF_SHAPE_ERROR, "%s of shape %s is larger than input of shape %s in dimension %d", name,
           to_text(index.sizes()).c_str(), to_text(input.sizes()).c_str(), d);
  }
  return index.sizes();
}

Shape result_shape(const Call& call, const GatherRule& rule, const Tensor& input, Sizes dims) {
  if (rule.index_has_result_shape) return whole_index_shape(call, rule, input, dims[0]);
  if (rule.index_argument >= 0 && call.tensor(rule.index_argument).rank() > 1)
    fail(OF_SHAPE_ERROR, "%s must have 1 dimension, got %d", call.schema().arguments[rule.index_argument].name,
         call.tensor(rule.index_argument).rank());
  Shape shape = input.sizes();
  if (!rule.size) return shape;
  const int64_t size = rule.size(SizeBody(call));
  if (shape.empty()) {
    if (size != 1)
      fail(OF_SHAPE_ERROR, "a tensor with 0 dimensions has 1 element to select, not %lld",
           static_cast<long long>(size));
    return shape;
  }
  for (const int64_t dim : dims) shape[static_cast<int>(dim)] = size;
  return shape;
}

// Checks the indices of a result without elements, for which no kernel runs. Throws the error of the kernels.
void check_unused_indices(const Call& call, const GatherRule& rule, const Tensor& input, int64_t dim) {
  if (rule.index_argument < 0 || rule.index_has_result_shape) return;
  static const OperatorName amin("amin"), amax("amax");
  const Tensor& index = call.tensor(rule.index_argument);
  if (index.count() == 0) return;
  Body body(call);
  const int64_t size = input.rank() == 0 ? 1 : input.size(static_cast<int>(dim));
  const int64_t lowest = to_int64(item(*body.call(amin, index))), highest = to_int64(item(*body.call(amax, index)));
  if (lowest < 0 || highest >= size)
    fail(OF_INDEX_OUT_OF_RANGE, "index %lld is out of range for dimension %lld of size %lld",
         static_cast<long long>(lowest < 0 ? lowest : highest), static_cast<long long>(dim),
         static_cast<long long>(size));
}

}  // namespace

void run_gather(Call& call) {
  const auto& rule = rule_of<GatherRule>(call.schema());
  const Tensor& input = call.tensor(0);
  const DTypes dtypes = resolve_dtypes(call);
  const Sizes dims = gathered_dims(call, rule);
  check_dims(call, rule, dims);
  const Shape shape = result_shape(call, rule, input, dims);

  Tensor& output = prepare_exact_result(call, 0, shape, dtypes.results[0]);
  if (call.infer_only) return;
  if (output.count() == 0) return check_unused_indices(call, rule, input, dims[0]);
  of_kernel_tensor outputs[] = {with_a_dimension(kernel_output(output))};
  of_kernel_tensor inputs[kMaxArguments];
  size_t count = 0;
  for (const uint8_t argument : call.op.tensor_arguments())
    inputs[count++] = with_a_dimension(kernel_input(call.tensor(argument)));
  launch(call,
         {.variant = match_variant(call), .compute = dtypes.compute, .inputs = {inputs, count}, .outputs = outputs});
}

void gather_dimensions(Call& call, const Shape& result, DimensionMap& map) {
  const auto& rule = rule_of<GatherRule>(call.schema());
  uint32_t gathered = 0;
  for (const int64_t dim : gathered_dims(call, rule)) gathered |= uint32_t{1} << dim;
  const auto input_relation = [&](int d, int64_t size) {
    if (gathered >> d & 1) return Relation::kIndexed;
    return size == result[d] ? Relation::kSame : Relation::kWindowed;
  };
  for_each_tensor(call, [&](int operand, int argument, const Tensor& tensor) {
    for (int d = 0; d < tensor.rank(); ++d) {
      if (argument == 0)
        map.add({operand, d, d, input_relation(d, tensor.size(d))});
      else if (rule.index_has_result_shape)
        map.add({operand, d, d, Relation::kSame});
      else
        map.add({operand, d, result.empty() ? -1 : static_cast<int>(gathered_dims(call, rule)[0]), Relation::kSame});
    }
  });
}

}  // namespace oneflow
