#include "ops/fold.h"

#include "dispatch/launch.h"
#include "ops/iteration.h"

namespace oneflow {

namespace {

// Returns the dimensions to fold as a bit set: all if the call names none.
uint32_t folded_dims(const Call& call, const ReductionRule& rule, int rank) {
  const uint32_t all = rank == 0 ? 0 : ~uint32_t{0} >> (OF_MAX_RANK - rank);
  if (rule.dims_argument < 0 || !call.is_given(rule.dims_argument)) return all;
  const of_value& dims = call.arguments[rule.dims_argument];
  if (dims.kind == OF_VALUE_INT) return rank == 0 ? 0 : uint32_t{1} << dims.as.integer;
  if (dims.count == 0) return all;
  uint32_t folded = 0;
  for (const int64_t dim : call.integers(rule.dims_argument)) {
    if (folded >> dim & 1)
      fail(OF_INVALID_ARGUMENT, "%s names dimension %d twice", call.schema().arguments[rule.dims_argument].name,
           static_cast<int>(dim));
    folded |= uint32_t{1} << dim;
  }
  return rank == 0 ? 0 : folded;
}

void check_not_empty(const Call& call, const ReductionRule& rule, const Tensor& input, uint32_t folded) {
  const bool names_dims = rule.dims_argument >= 0 && call.is_given(rule.dims_argument);
  for (int d = 0; d < input.rank(); ++d) {
    if (!(folded >> d & 1) || input.size(d) != 0) continue;
    if (names_dims) fail(OF_SHAPE_ERROR, "cannot reduce dimension %d, which has size 0", d);
    fail(OF_SHAPE_ERROR, "cannot reduce a tensor without elements");
  }
}

// Builds the iteration space and runs the kernel. `strides` holds, for each output, its strides in the dimensions of
// the input: 0 in a dimension that is reduced. A scan has a result for each element of the input.
void fold(const Call& call, const DTypes& dtypes, const Tensor& input, std::span<const Shape> strides, uint32_t folded,
          bool is_scan) {
  const int result_count = call.schema().result_count;
  of_kernel_tensor outputs[kMaxResults];
  for (int i = 0; i < result_count; ++i) outputs[i] = kernel_output(*call.outputs[i]);
  of_kernel_tensor inputs[] = {kernel_input(input)};

  Iteration iteration(input.sizes());
  iteration.add(input.sizes(), input.strides());
  for (const Shape& each : strides) iteration.add(input.sizes(), each);
  iteration.merge(&folded);

  int64_t output_sizes[OF_MAX_RANK];
  for (int d = 0; d < iteration.rank(); ++d) output_sizes[d] = folded >> d & 1 ? 1 : iteration.sizes()[d];
  inputs[0].rank = iteration.rank();
  inputs[0].sizes = iteration.sizes();
  inputs[0].strides = iteration.strides(0);
  for (int i = 0; i < result_count; ++i) {
    outputs[i].rank = iteration.rank();
    outputs[i].sizes = is_scan ? iteration.sizes() : output_sizes;
    outputs[i].strides = iteration.strides(1 + i);
  }
  launch(call, {.variant = match_variant(call),
                .compute = dtypes.compute,
                .inputs = inputs,
                .outputs = {outputs, static_cast<size_t>(result_count)},
                .reduced = folded});
}

}  // namespace

void run_reduction(Call& call) {
  const auto& rule = rule_of<ReductionRule>(call.schema());
  const Tensor& input = call.tensor(0);
  const DTypes dtypes = resolve_dtypes(call);
  const uint32_t folded = folded_dims(call, rule, input.rank());
  if (!rule.allows_empty) check_not_empty(call, rule, input, folded);

  const bool keeps = rule.keepdim_argument >= 0 && call.boolean(rule.keepdim_argument);
  Shape sizes;
  for (int d = 0; d < input.rank(); ++d) {
    const bool is_folded = folded >> d & 1;
    if (!is_folded || keeps) sizes.push_back(is_folded ? 1 : input.size(d));
  }
  const int result_count = call.schema().result_count;
  for (int i = 0; i < result_count; ++i) prepare_result(call, i, sizes, dtypes.results[i], Aliasing::kForbidden);
  if (call.infer_only || call.outputs[0]->count() == 0) return;

  Shape strides[kMaxResults];
  for (int i = 0; i < result_count; ++i) {
    strides[i].resize(input.rank());
    for (int d = 0, own = 0; d < input.rank(); ++d) {
      const bool is_folded = folded >> d & 1;
      if (!is_folded) strides[i][d] = call.outputs[i]->stride(own);
      own += !is_folded || keeps;
    }
  }
  fold(call, dtypes, input, {strides, static_cast<size_t>(result_count)}, folded, false);
}

void run_scan(Call& call) {
  const auto& rule = rule_of<ScanRule>(call.schema());
  const Tensor& input = call.tensor(0);
  const DTypes dtypes = resolve_dtypes(call);
  const int result_count = call.schema().result_count;
  for (int i = 0; i < result_count; ++i) prepare_result(call, i, input.sizes(), dtypes.results[i], Aliasing::kAllowed);
  if (call.infer_only || input.count() == 0) return;

  Shape strides[kMaxResults];
  for (int i = 0; i < result_count; ++i) strides[i] = call.outputs[i]->strides();
  const uint32_t scanned = input.rank() == 0 ? 0 : uint32_t{1} << call.integer(rule.dim_argument);
  fold(call, dtypes, input, {strides, static_cast<size_t>(result_count)}, scanned, true);
}

void reduction_dimensions(Call& call, const Shape& result, DimensionMap& map) {
  const int rank = call.tensor(0).rank();
  const uint32_t folded = folded_dims(call, rule_of<ReductionRule>(call.schema()), rank);
  const bool keeps = result.rank() == rank;
  for (int d = 0, to = 0; d < rank; ++d) {
    const bool is_folded = folded >> d & 1;
    const bool has_result = !is_folded || keeps;
    map.add({0, d, has_result ? to : -1, is_folded ? Relation::kFolded : Relation::kSame});
    to += has_result;
  }
}

void scan_dimensions(Call& call, const Shape&, DimensionMap& map) {
  const int64_t scanned = call.integer(rule_of<ScanRule>(call.schema()).dim_argument);
  for (int d = 0; d < call.tensor(0).rank(); ++d)
    map.add({0, d, d, d == scanned ? Relation::kFolded : Relation::kSame});
}

}  // namespace oneflow
