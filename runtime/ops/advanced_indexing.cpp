// Indexing with tensors, by NumPy's rules.
#include <algorithm>
#include <vector>

#include "dispatch/dispatch.h"
#include "dispatch/launch.h"
#include "ops/native.h"
#include "ops/view_functions.h"
#include "tensor/overlap.h"
#include "tensor/transfer.h"

namespace oneflow::native {

namespace {

constinit const OperatorName kCast("cast");
constinit const OperatorName kClone("clone");
constinit const OperatorName kCountNonzero("count_nonzero");
constinit const OperatorName kExpand("expand");
constinit const OperatorName kIndex("index");
constinit const OperatorName kNonzero("nonzero");
constinit const OperatorName kSelect("select");
constinit const OperatorName kZeros("zeros");

// The integer positions that take the place of some dimensions of a tensor.
struct Positions {
  Shape sizes, strides;            // of the tensor; a 0-d mask has given it a dimension of size 1
  std::vector<int> dims;           // the dimensions that positions replace, ascending
  std::vector<int> caller_dims;    // what the caller calls them
  std::vector<TensorRef> tensors;  // one for each of them
  std::vector<Shape> spread;       // their strides over the common shape
  Shape shape;                     // the common shape
  int place = 0;                   // where it stands in the result

  bool replaces(int dim) const { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }
};

// Appends the positions that one index stands for; `dim` moves behind the dimensions that it takes.
void add_index(const Call& call, Positions& positions, const Tensor& index, int& dim, int& caller_dim) {
  const auto take = [&](TensorRef tensor) {
    positions.dims.push_back(dim++);
    positions.caller_dims.push_back(caller_dim++);
    positions.tensors.push_back(std::move(tensor));
  };
  if (index.dtype() == OF_INT64 || index.dtype() == OF_INT32) {
    // Positions in memory that is about to be written must not change under way.
    const bool is_written = call.schema().arguments[0].is_written && overlap(call.tensor(0), index) != Overlap::kNone;
    return take(is_written ? Body(call).call(kClone, index) : share(index));
  }
  if (index.dtype() != OF_BOOL)
    fail(OF_DTYPE_ERROR, "indices must be int64, int32 or bool tensors, got %s", dtype_name(index.dtype()));
  for (int d = 0; d < index.rank(); ++d) {
    if (dim + d >= positions.sizes.rank() || index.size(d) != positions.sizes[dim + d])
      fail(OF_INDEX_OUT_OF_RANGE, "mask of shape %s does not fit dimension %d of a tensor of shape %s",
           to_text(index.sizes()).c_str(), caller_dim + d, to_text(call.tensor(0).sizes()).c_str());
  }
  const TensorRef found = Body(call).call(kNonzero, index);
  if (index.rank() == 0) {
    // It picks all or nothing: a new dimension of size 1 is indexed with a zero, or with nothing.
    positions.sizes = insert(positions.sizes, dim, 1);
    positions.strides = insert(positions.strides, dim, 0);
    take(Body(call).call(kZeros, Shape{found->size(0)}, OF_INT64, index.device()));
    --caller_dim;
    return;
  }
  for (int d = 0; d < index.rank(); ++d) take(Body(call).call(kSelect, found, 1, d));
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
  for (const TensorRef& tensor : positions.tensors)
    positions.shape = broadcast_shapes(positions.shape, tensor->sizes());
  for (const TensorRef& tensor : positions.tensors)
    positions.spread.push_back(broadcast_strides(tensor->sizes(), tensor->strides(), positions.shape));
  if (count_elements(positions.shape) > 0) {
    // No kernel runs for a result without elements, so that this is the place to say it.
    for (size_t i = 0; i < positions.dims.size(); ++i)
      if (positions.sizes[positions.dims[i]] == 0)
        fail(OF_INDEX_OUT_OF_RANGE, "dimension %d of size 0 has no element to index", positions.caller_dims[i]);
  }
  // Neighbouring indices leave their shape where they stood, others put it in front.
  const bool are_neighbours = !positions.dims.empty() && positions.dims.back() - positions.dims.front() + 1 ==
                                                             static_cast<int>(positions.dims.size());
  positions.place = are_neighbours ? positions.dims.front() : 0;
  return positions;
}

Shape result_shape(const Positions& positions) {
  Shape shape;
  for (int d = 0; d < positions.sizes.rank(); ++d)
    if (!positions.replaces(d)) shape.push_back(positions.sizes[d]);
  for (int d = 0; d < positions.shape.rank(); ++d) shape.insert(positions.place + d, positions.shape[d]);
  return shape;
}

// The members of a list over the tensor's dimensions, those that positions replace in front.
Shape replaced_first(const Positions& positions, const Shape& list) {
  Shape result;
  for (const int dim : positions.dims) result.push_back(list[dim]);
  for (int d = 0; d < list.rank(); ++d)
    if (!positions.replaces(d)) result.push_back(list[d]);
  return result;
}

// The members of a list over the result's dimensions, those of the common shape in front.
Shape shape_first(const Positions& positions, Sizes list) {
  Shape result;
  const int begin = positions.place, end = begin + positions.shape.rank();
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

// Runs the kernel over the tensor's elements and those at the result's places. `tensor` and `places` have addresses;
// `place_strides` are those of the places in the shape of the result.
void run_kernel(const Call& call, of_dtype compute, const Positions& positions, of_kernel_tensor tensor,
                of_kernel_tensor places, Sizes place_strides, bool writes_tensor) {
  const Shape tensor_sizes = replaced_first(positions, positions.sizes);
  const Shape tensor_strides = replaced_first(positions, positions.strides);
  const Shape place_sizes = shape_first(positions, result_shape(positions));
  const Shape strides = shape_first(positions, place_strides);
  tensor = laid_out(tensor, tensor_sizes, tensor_strides);
  places = laid_out(places, place_sizes, strides);

  std::vector<of_kernel_tensor> inputs = {tensor};
  for (size_t i = 0; i < positions.tensors.size(); ++i)
    inputs.push_back(laid_out(kernel_input(*positions.tensors[i]), positions.shape, positions.spread[i]));
  if (writes_tensor) inputs.push_back(places);
  of_kernel_tensor outputs[] = {writes_tensor ? tensor : places};

  // In the place of the indices, kernels find the dimensions that an error names.
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
        fail(OF_UNSUPPORTED,
             "the size of the result depends on the data of a mask, so that it cannot be known without");
  }
  const Positions positions = find_positions(call);
  const Tensor& result = prepare_exact_result(call, 0, result_shape(positions), input.dtype());
  if (call.infer_only || result.count() == 0) return;
  const of_kernel_tensor places = kernel_output(result);
  run_kernel(call, resolve_dtypes(call).compute, positions, kernel_input(input), places, result.strides(), false);
}

void index_put(Call& call) {
  const Tensor& input = call.tensor(0);
  const TensorRef target = share(input);
  set_result(call, 0, target);
  if (call.infer_only) return;
  const Positions positions = find_positions(call);
  const Shape shape = result_shape(positions);
  TensorRef values = share(call.tensor(2));
  if (values->dtype() != input.dtype()) values = Body(call).call(kCast, values, input.dtype());
  if (overlap(input, *values) != Overlap::kNone) values = Body(call).call(kClone, values);
  const Shape strides = broadcast_strides(values->sizes(), values->strides(), shape);
  if (count_elements(shape) == 0) return;
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

void masked_select(Call& call) {
  Body body(call);
  const Shape shape = broadcast_shapes(call.tensor(0).sizes(), call.tensor(1).sizes());
  const TensorRef input = body.call(kExpand, call.tensor(0), shape);
  const TensorRef mask = body.call(kExpand, call.tensor(1), shape);
  of_tensor indices[] = {to_handle(mask.get())};
  set_result(call, 0, body.call(kIndex, input, std::span<of_tensor>(indices)));
}

}  // namespace oneflow::native
