#include "ops/selection_adjoint.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/shape.h"
#include "dispatch/dispatch.h"
#include "dispatch/program_body.h"
#include "tensor/complex.h"

namespace oneflow {

namespace {

constinit const OperatorName kAdd("add");
constinit const OperatorName kArange("arange");
constinit const OperatorName kCopy("copy");
constinit const OperatorName kFill("fill");
constinit const OperatorName kIndexPut("index_put_");
constinit const OperatorName kReshape("reshape");
constinit const OperatorName kSum("sum");

// Calls the operator whose gradient is computed, with `source` in place of the argument that it selects from.
TensorRef select(const Call& call, const AdjointRule& rule, const Tensor& source) {
  const Operator& of = *find_operator(rule.of);
  of_value arguments[kMaxArguments];
  const size_t count = of.schema().arguments.size();
  std::copy_n(call.arguments + 1, count, arguments);
  arguments[rule.argument] = to_value(source);
  of_value result{};
  call_inside(of, call.name, {arguments, count}, {&result, 1}, false);
  return TensorRef::adopt(to_tensor(result.as.tensor));
}

// The dimensions of a view in which its elements share memory.
struct Overlapping {
  Shape dims;             // without them, no elements do
  int64_t positions = 1;  // the number of combinations of their indices
};

// Returns few dimensions of the view, of small sizes, so that no elements share memory along the others.
Overlapping overlapping_dims(const Tensor& view) {
  std::vector<int> by_size(static_cast<size_t>(view.rank()));
  std::iota(by_size.begin(), by_size.end(), 0);
  std::stable_sort(by_size.begin(), by_size.end(), [&](int a, int b) { return view.size(a) < view.size(b); });
  Shape kept = view.sizes();
  const auto overlaps = [&] { return overlaps_itself(kept, view.strides()); };
  std::vector<int> removed;
  for (auto dim = by_size.begin(); overlaps(); ++dim) {
    kept[*dim] = 1;
    removed.push_back(*dim);
  }
  Overlapping found;
  for (const int dim : removed) {
    kept[dim] = view.size(dim);
    if (!overlaps()) continue;
    kept[dim] = 1;
    found.dims.push_back(dim);
    if (__builtin_mul_overflow(found.positions, view.size(dim), &found.positions)) found.positions = INT64_MAX;
  }
  return found;
}

// Returns a tensor at one index of each of some dimensions, which have size 1 in it. `position` counts the combinations
// of these indices.
TensorRef at_position(const Tensor& tensor, Sizes dims, int64_t position) {
  Shape sizes = tensor.sizes();
  int64_t offset = tensor.offset();
  for (const int64_t each : dims) {
    const int dim = static_cast<int>(each);
    offset += position % sizes[dim] * tensor.stride(dim);
    position /= sizes[dim];
    sizes[dim] = 1;
  }
  return Tensor::view(tensor, sizes, tensor.strides(), offset);
}

// Adds the gradient to a view of which several elements share memory: what repeats one element is summed first.
void add_to_view(const Call& call, ProgramBody& body, const Tensor& view, TensorRef grad) {
  Shape sizes = view.sizes(), repeated;
  for (int d = 0; d < view.rank(); ++d)
    if (view.stride(d) == 0 && sizes[d] > 1) {
      repeated.push_back(d);
      sizes[d] = 1;
    }
  if (!repeated.empty()) grad = body.call(kSum, grad, repeated, true);
  const TensorRef part = Tensor::view(view, sizes, view.strides(), view.offset());
  const Overlapping overlapping = overlapping_dims(*part);
  for (int64_t position = 0; position < overlapping.positions; ++position) {
    const TensorRef target = at_position(*part, overlapping.dims, position);
    call_into(call, *target, kAdd, target, at_position(*grad, overlapping.dims, position));
  }
}

// Adds the gradient to the elements of `result` at the positions that are selected from a tensor of all positions.
void add_at_positions(Call& call, const AdjointRule& rule, const Tensor& grad, const Tensor& result) {
  ProgramBody body(call);
  const TensorRef all = body.call(kReshape, body.call(kArange, result.count(), OF_INT64, call.device), result.sizes());
  const std::array<int64_t, 1> flat = {-1};
  const TensorRef positions = body.call(kReshape, select(call, rule, *all), flat);
  const std::array<of_tensor, 1> indices = {to_handle(positions.get())};
  TensorRef to = body.call(kReshape, result, flat), added = body.call(kReshape, grad, flat);
  if (is_complex(grad.dtype())) {
    to = view_as_real(*to);
    added = view_as_real(*added);
  }
  body.call(kIndexPut, to, indices, added, true);
}

}  // namespace

void run_selection_adjoint(Call& call) {
  const auto& rule = rule_of<AdjointRule>(call.schema());
  const Tensor& grad = call.tensor(0);
  const Tensor& result = prepare_exact_result(call, 0, call.tensor(1 + rule.argument).sizes(), grad.dtype());
  if (call.infer_only || result.count() == 0) return;
  call_into(call, result, kFill, share(result), 0);
  if (grad.count() == 0) return;
  const TensorRef part = select(call, rule, result);
  const bool is_view = part->storage().get() == result.storage().get();
  if (!is_view) return add_at_positions(call, rule, grad, result);
  if (!overlaps_itself(part->sizes(), part->strides())) return call_into(call, *part, kCopy, share(*part), grad);
  ProgramBody body(call);
  add_to_view(call, body, *part, share(grad));
}

}  // namespace oneflow
