// Advanced indexing: indexing with tensors, by NumPy's rules.
#include <algorithm>
#include <vector>

#include "dispatch/dispatch.h"
#include "dispatch/launch.h"
#include "ops/native.h"
#include "tensor/complex.h"
#include "tensor/overlap.h"
#include "tensor/transfer.h"

namespace oneflow::native {

namespace {

constinit const OperatorName kCast("cast");
constinit const OperatorName kClone("clone");
constinit const OperatorName kCountNonzero("count_nonzero");
constinit const OperatorName kIndex("index");
constinit const OperatorName kIndexPut("index_put_");
constinit const OperatorName kNonzero("nonzero");
constinit const OperatorName kSelect("select");
constinit const OperatorName kZeros("zeros");

// The index tensors of a call, as integers, and the dimensions of the input that they replace.
struct Positions {
  Shape sizes, strides;              // of the input, with an additional dimension of size 1 for each 0-d mask
  std::vector<int> dims;             // the indexed dimensions, ascending
  std::vector<int> caller_dims;      // the same dimensions, as the caller numbers them (without those of 0-d masks)
  std::vector<TensorRef> indices;    // an integer tensor for each of `dims`
  std::vector<Shape> index_strides;  // the strides of `indices`, broadcast to `shape`
  Shape shape;                       // the shape that all `indices` broadcast to
  int first_dim = 0;                 // the dimension of the result where `shape` begins

  bool replaces(int dim) const { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }
};

// Appends the integer tensors of one index tensor, and advances `dim` and `caller_dim` past the dimensions it indexes.
void add_index(const Call& call, Positions& positions, const Tensor& index, int& dim, int& caller_dim) {
  const auto append = [&](TensorRef tensor) {
    positions.dims.push_back(dim++);
    positions.caller_dims.push_back(caller_dim++);
    positions.indices.push_back(std::move(tensor));
  };
  if (index.dtype() == OF_INT64 || index.dtype() == OF_INT32) {
    // An index tensor that shares memory with the written tensor is cloned: the writes must not change it.
    const bool is_written = call.schema().arguments[0].is_written && overlap(call.tensor(0), index) != Overlap::kNone;
    return append(is_written ? Body(call).call(kClone, index) : share(index));
  }
  if (is_integral(index.dtype())) return append(Body(call).call(kCast, index, OF_INT64));
  if (index.dtype() != OF_BOOL)
    fail(OF_DTYPE_ERROR, "indices must be integer or bool tensors, got %s", dtype_name(index.dtype()));
  for (int d = 0; d < index.rank(); ++d) {
    if (dim + d >= positions.sizes.rank() || index.size(d) != positions.sizes[dim + d])
      fail(OF_INDEX_OUT_OF_RANGE, "mask of shape %s does not fit dimension %d of a tensor of shape %s",
           to_text(index.sizes()).c_str(), caller_dim + d, to_text(call.tensor(0).sizes()).c_str());
  }
  const TensorRef found = Body(call).call(kNonzero, index);
  if (index.rank() == 0) {
    // A 0-d mask selects everything or nothing: a new dimension of size 1 is indexed with one 0, or with no index.
    positions.sizes.insert(static_cast<int>(dim), 1);
    positions.strides.insert(static_cast<int>(dim), 0);
    append(Body(call).call(kZeros, Shape{found->size(0)}, OF_INT64, index.device()));
    --caller_dim;
    return;
  }
  for (int d = 0; d < index.rank(); ++d) append(Body(call).call(kSelect, found, 1, d));
}

Positions find_positions(const Call& call) {
  const Tensor& input = call.tensor(0);
  Positions positions;
  positions.sizes = input.sizes();
  positions.strides = input.strides();
  int dim = 0, caller_dim = 0;
  for (const of_tensor index : call.tensors(1)) {
    const bool is_scalar_mask = index && to_tensor(index)->dtype() == OF_BOOL && to_tensor(index)->rank() == 0;
    if (dim >= positions.sizes.rank() && !is_scalar_mask)
      fail(OF_INDEX_OUT_OF_RANGE, "too many indices: the tensor has %d dimension%s, got %zu", input.rank(),
           input.rank() == 1 ? "" : "s", call.tensors(1).size());
    if (index) {
      add_index(call, positions, *to_tensor(index), dim, caller_dim);
    } else {
      ++dim;
      ++caller_dim;
    }
  }
  for (const TensorRef& tensor : positions.indices)
    positions.shape = broadcast_shapes(positions.shape, tensor->sizes());
  for (const TensorRef& tensor : positions.indices)
    positions.index_strides.push_back(broadcast_strides(tensor->sizes(), tensor->strides(), positions.shape));
  if (count_elements(positions.shape) > 0) {
    // Kernels report an index that is out of range, but none runs for a result without elements.
    for (size_t i = 0; i < positions.dims.size(); ++i)
      if (positions.sizes[positions.dims[i]] == 0)
        fail(OF_INDEX_OUT_OF_RANGE, "dimension %d of size 0 has no element to index", positions.caller_dims[i]);
  }
  // The common shape replaces adjacent indexed dimensions; if they are not adjacent, it comes first.
  const bool are_neighbours = !positions.dims.empty() && positions.dims.back() - positions.dims.front() + 1 ==
                                                             static_cast<int>(positions.dims.size());
  positions.first_dim = are_neighbours ? positions.dims.front() : 0;
  return positions;
}

Shape result_shape(const Positions& positions) {
  Shape shape;
  for (int d = 0; d < positions.sizes.rank(); ++d)
    if (!positions.replaces(d)) shape.push_back(positions.sizes[d]);
  for (int d = 0; d < positions.shape.rank(); ++d) shape.insert(positions.first_dim + d, positions.shape[d]);
  return shape;
}

// Returns a list over the input's dimensions with the items of the indexed dimensions first.
Shape replaced_first(const Positions& positions, const Shape& list) {
  Shape result;
  for (const int dim : positions.dims) result.push_back(list[dim]);
  for (int d = 0; d < list.rank(); ++d)
    if (!positions.replaces(d)) result.push_back(list[d]);
  return result;
}

// Returns a list over the result's dimensions with the items of the common shape first.
Shape shape_first(const Positions& positions, Sizes list) {
  Shape result;
  const int begin = positions.first_dim, end = begin + positions.shape.rank();
  for (int d = begin; d < end; ++d) result.push_back(list[d]);
  for (int d = 0; d < static_cast<int>(list.size()); ++d)
    if (d < begin || d >= end) result.push_back(list[d]);
  return result;
}

of_kernel_tensor laid_out(of_kernel_tensor operand, const Shape& sizes, const Shape& strides) {
  operand.rank = sizes.rank();
  operand.sizes = sizes.data();
  operand.strides = strides.data();
  return operand;
}

// Runs the kernel, which copies between the indexed elements of `tensor` and `selected`, an operand in the shape of the
// result: the result of index, or the values of index_put. The kernel writes `tensor` if `writes_tensor`, else
// `selected`. Only the addresses and dtypes of both operands are used.
void run_kernel(const Call& call, of_dtype compute, const Positions& positions, of_kernel_tensor tensor,
                of_kernel_tensor selected, Sizes strides, bool writes_tensor) {
  const Shape tensor_sizes = replaced_first(positions, positions.sizes);
  const Shape tensor_strides = replaced_first(positions, positions.strides);
  const Shape selected_sizes = shape_first(positions, result_shape(positions));
  const Shape selected_strides = shape_first(positions, strides);
  tensor = laid_out(tensor, tensor_sizes, tensor_strides);
  selected = laid_out(selected, selected_sizes, selected_strides);

  std::vector<of_kernel_tensor> inputs = {tensor};
  for (size_t i = 0; i < positions.indices.size(); ++i)
    inputs.push_back(laid_out(kernel_input(*positions.indices[i]), positions.shape, positions.index_strides[i]));
  if (writes_tensor) inputs.push_back(selected);
  of_kernel_tensor outputs[] = {writes_tensor ? tensor : selected};

  // Instead of the indices, which are inputs, the kernel gets the dimensions that its error texts name.
  const Shape caller_dims = [&] {
    Shape dims;
    for (const int dim : positions.caller_dims) dims.push_back(dim);
    return dims;
  }();
  of_value arguments[kMaxArguments];
  std::copy_n(call.arguments, call.schema().arguments.size(), arguments);
  arguments[1] = to_value(caller_dims);
  launch(call, {.compute = compute, .inputs = inputs, .outputs = outputs, .arguments = arguments});
}

}  // namespace

void index(Call& call) {
  const Tensor& input = call.tensor(0);
  if (call.infer_only) {
    for (const of_tensor index : call.tensors(1))
      if (index && to_tensor(index)->dtype() == OF_BOOL)
        fail(OF_UNSUPPORTED, "the size of the result depends on the elements of a mask, so it cannot be inferred");
  }
  const Positions positions = find_positions(call);
  const Tensor& result = prepare_exact_result(call, 0, result_shape(positions), input.dtype());
  if (call.infer_only || result.count() == 0) return;
  if (is_complex(input.dtype()))
    return call_into(call, *view_as_real(result), kIndex, view_as_real(input), call.arguments[1]);
  const of_kernel_tensor selected = kernel_output(result);
  run_kernel(call, resolve_dtypes(call).compute, positions, kernel_input(input), selected, result.strides(), false);
}

namespace {

// Adds values to elements of float16 and bfloat16 in float32: many small ones would be lost if each sum were rounded.
void accumulate_in_float32(Call& call, const Tensor& input) {
  static const OperatorName copy("copy");
  Body body(call);
  const TensorRef wide = body.call(kCast, input, OF_FLOAT32);
  body.call(kIndexPut, wide, call.arguments[1], body.call(kCast, call.tensor(2), OF_FLOAT32), true);
  call_into(call, input, copy, share(input), wide);
}

}  // namespace

void index_put(Call& call) {
  const Tensor& input = call.tensor(0);
  const TensorRef target = share(input);
  set_result(call, 0, target);
  if (call.infer_only) return;
  const bool is_half = input.dtype() == OF_FLOAT16 || input.dtype() == OF_BFLOAT16;
  if (is_half && call.boolean(3)) return accumulate_in_float32(call, input);
  const Positions positions = find_positions(call);
  const Shape shape = result_shape(positions);
  TensorRef values = share(call.tensor(2));
  if (values->dtype() != input.dtype()) values = Body(call).call(kCast, values, input.dtype());
  if (overlap(input, *values) != Overlap::kNone) values = Body(call).call(kClone, values);
  const Shape strides = broadcast_strides(values->sizes(), values->strides(), shape);
  if (count_elements(shape) == 0) return;
  if (is_complex(input.dtype())) {
    Body(call).call(kIndexPut, view_as_real(input), call.arguments[1], view_as_real(*values), call.boolean(3));
    return;
  }
  const of_kernel_tensor written = kernel_tensor(input, input.mutable_data());
  run_kernel(call, resolve_dtypes(call).compute, positions, written, kernel_input(*values), strides, true);
}

void nonzero(Call& call) {
  const Tensor& input = call.tensor(0);
  const int64_t count = to_int64(item(*Body(call).call(kCountNonzero, input)));
  const Tensor& result = prepare_exact_result(call, 0, Shape{count, input.rank()}, OF_INT64);
  if (result.count() == 0) return;
  of_kernel_tensor outputs[] = {kernel_output(result)};
  of_kernel_tensor inputs[] = {kernel_input(input)};
  launch(call, {.compute = compute_type(input.dtype()), .inputs = inputs, .outputs = outputs});
}

}  // namespace oneflow::native
