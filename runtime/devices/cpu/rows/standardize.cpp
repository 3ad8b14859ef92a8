#include <algorithm>
#include <cmath>

#include "plugin/emitted.h"
#include "rows/contiguous_rows.h"
#include "rows/rows.h"
#include "rows/standardize_loops.h"
#include "threads/scratch.h"

namespace oneflow::cpu {
namespace {

// The rows whose gradients of the weight are added up by themselves: fixed parts, so that sums do not depend on the
// number of threads.
constexpr int64_t kParts = 64, kPartElements = 4 * 1024 * 1024;

template <class T>
const StandardizeLoops<T>& loops_of();
template <>
const StandardizeLoops<float>& loops_of() {
  return OF_BEST_ISA(kFloatStandardize);
}
template <>
const StandardizeLoops<double>& loops_of() {
  return OF_BEST_ISA(kDoubleStandardize);
}

uint64_t bits_of(const of_value& dims) {
  uint64_t bits = 0;
  for (int32_t i = 0; i < dims.count; ++i) bits |= uint64_t{1} << dims.as.integers[i];
  return bits;
}

// Returns whether an optional weight is absent, or has an element for each of a row, which `dims` form.
bool fits_rows(const of_kernel_context& context, const of_value& argument, const of_kernel_tensor& weight,
               const of_kernel_tensor& input, uint64_t dims, const Rows& rows) {
  if (!given(argument)) return true;
  // As many elements along other dimensions are elements for each row.
  for (int32_t d = 0; d < weight.rank; ++d)
    if (weight.sizes[d] != 1 && (dims >> (d + input.rank - weight.rank) & 1) == 0) return false;
  return is_plain(context, weight, rows.length);
}

// Slices along one dimension of a contiguous tensor, each of which is normalised by itself: `pieces` pieces of `length`
// elements, `stride` elements apart.
struct Slices {
  int32_t dim = -1;
  int64_t count = 0, pieces = 0, length = 0, stride = 0;
  explicit operator bool() const { return count > 0; }
  int64_t size() const { return pieces * length; }

  // Copies slice `i`, which is read several times: its pieces may map to the same sets of a cache.
  template <class T>
  void gather(const T* from, int64_t i, T* to) const {
    for (int64_t piece = 0; piece < pieces; ++piece, to += length)
      std::copy_n(from + i * length + piece * stride, length, to);
  }
  // Calls run(position, offset) with the position of the first element of each piece of slice `i`, and in its copy.
  template <class Run>
  void for_each_piece(int64_t i, Run run) const {
    for (int64_t piece = 0; piece < pieces; ++piece) run(i * length + piece * stride, piece * length);
  }
};

// Returns the slices along the only dimension that `dims` does not name. Returns none if it names others, or a tensor
// is not contiguous or not of the compute type.
Slices slices_of(const of_kernel_context& context, Tensors tensors, uint64_t dims) {
  const of_kernel_tensor& first = **tensors.begin();
  Slices slices{-1, 0, 1, 1, 0};
  if (!are_plain(context, tensors)) return {};
  for (int32_t d = 0; d < first.rank; ++d) {
    if ((dims >> d & 1) == 0) {
      if (slices.dim >= 0) return {};
      slices.dim = d;
      slices.count = first.sizes[d];
    } else {
      (slices.dim < 0 ? slices.pieces : slices.length) *= first.sizes[d];
    }
  }
  slices.stride = slices.count * slices.length;
  return slices;
}

// Returns whether an optional weight is absent, or has an element for each slice.
bool fits_slices(const of_kernel_context& context, const of_value& argument, const of_kernel_tensor& weight,
                 const of_kernel_tensor& input, const Slices& slices) {
  if (!given(argument)) return true;
  const int32_t dim = slices.dim - (input.rank - weight.rank);
  const bool has_dim = dim >= 0 && dim < weight.rank && weight.sizes[dim] == slices.count;
  return has_dim && is_plain(context, weight, slices.count);
}

// Returns the map from the elements of a slice to their normalised values.
template <class T>
Affine<T> normal_of(const StandardizeLoops<T>& loops, const T* slice, int64_t count, double eps) {
  const double n = static_cast<double>(count);
  const T mean = static_cast<T>(loops.sum(slice, count) / n);
  const T variance = static_cast<T>(loops.sum_of_squares(slice, mean, count) / n);
  const T scale = T(1) / std::sqrt(variance + static_cast<T>(eps));
  return {mean, in_range(scale, slice, mean, count, eps), T(0)};
}

template <class T>
T element_or(const of_value& argument, const of_kernel_tensor& tensor, int64_t i, T otherwise) {
  return given(argument) ? data_of<T>(tensor)[i] : otherwise;
}

of_status standardize_slices(const of_kernel_context& context) {
  const of_kernel_tensor &input = context.inputs[0], &weight = context.inputs[1], &bias = context.inputs[2];
  const of_value* const arguments = context.arguments;
  const Slices slices = slices_of(context, {&input, &context.outputs[0]}, bits_of(arguments[1]));
  if (!slices || !fits_slices(context, arguments[2], weight, input, slices) ||
      !fits_slices(context, arguments[3], bias, input, slices))
    return OF_UNSUPPORTED;
  return with_type(context, [&](auto type) {
    using T = decltype(type);
    const StandardizeLoops<T>& loops = loops_of<T>();
    const T* const from = data_of<T>(input);
    T* const to = data_of<T>(context.outputs[0]);
    parallel_for(slices.count, [&](int64_t i) {
      const ScratchArray<T> slice(slices.size());
      slices.gather(from, i, slice.data());
      Affine<T> map = normal_of(loops, slice.data(), slices.size(), number<double>(arguments[4]));
      map.factor *= element_or(arguments[2], weight, i, T(1));
      map.shift = element_or(arguments[3], bias, i, T(0));
      slices.for_each_piece(
          i, [&](int64_t at, int64_t offset) { loops.map(slice.data() + offset, map, to + at, slices.length); });
    });
    return OF_OK;
  });
}

of_status standardize_slices_gradient(const of_kernel_context& context) {
  const of_kernel_tensor &grad = context.inputs[0], &input = context.inputs[1];
  const of_kernel_tensor &weight = context.inputs[2], &bias = context.inputs[3];
  const of_value* const arguments = context.arguments;
  const Slices slices = slices_of(context, {&input, &grad, &context.outputs[0]}, bits_of(arguments[2]));
  if (!slices || !fits_slices(context, arguments[3], weight, input, slices) ||
      !fits_slices(context, arguments[4], bias, input, slices))
    return OF_UNSUPPORTED;
  return with_type(context, [&](auto type) {
    using T = decltype(type);
    const StandardizeLoops<T>& loops = loops_of<T>();
    const T *const grads = data_of<T>(grad), *const from = data_of<T>(input);
    T* const to = data_of<T>(context.outputs[0]);
    parallel_for(slices.count, [&](int64_t i) {
      const ScratchArray<T> slice(2 * slices.size());
      T *const inputs = slice.data(), *const own_grads = inputs + slices.size();
      slices.gather(from, i, inputs);
      slices.gather(grads, i, own_grads);
      const Affine<T> normal = normal_of(loops, inputs, slices.size(), number<double>(arguments[5]));
      const GradientSums sums = loops.gradient_sums(own_grads, inputs, normal, slices.size());
      const double n = static_cast<double>(slices.size());
      const T factor = normal.factor * element_or(arguments[3], weight, i, T(1));
      const T of_mean = static_cast<T>(sums.of_grad / n), of_variance = static_cast<T>(sums.of_products / n);
      slices.for_each_piece(i, [&](int64_t at, int64_t offset) {
        loops.map_gradient(own_grads + offset, inputs + offset, normal, factor, of_mean, of_variance, to + at,
                           slices.length);
      });
      if (given(arguments[3])) data_of<T>(context.outputs[1])[i] = static_cast<T>(sums.of_products);
      if (given(arguments[4])) data_of<T>(context.outputs[2])[i] = static_cast<T>(sums.of_grad);
    });
    return OF_OK;
  });
}

// A row's place in an array of parts, or null if the sum is not wanted.
template <class T>
T* part_of(const ScratchArray<T>& parts, bool is_wanted, int64_t part, int64_t length) {
  return is_wanted ? parts.data() + part * length : nullptr;
}

}  // namespace

// standardize(input, dim, weight, bias, eps)
of_status standardize(const of_kernel_context& context) {
  const of_kernel_tensor &input = context.inputs[0], &weight = context.inputs[1], &bias = context.inputs[2];
  const of_value* const arguments = context.arguments;
  const uint64_t dims = bits_of(arguments[1]);
  const Rows rows = rows_of(context, {&input, &context.outputs[0]}, dims, static_cast<int>(arguments[1].count));
  if (!rows || !fits_rows(context, arguments[2], weight, input, dims, rows) ||
      !fits_rows(context, arguments[3], bias, input, dims, rows))
    return standardize_slices(context);
  return with_type(context, [&](auto type) {
    using T = decltype(type);
    const double eps = number<double>(arguments[4]);
    for_each_row(rows, [&](int64_t at) {
      loops_of<T>().standardize(data_of<T>(input) + at, data_of<T>(weight), data_of<T>(bias), eps,
                                data_of<T>(context.outputs[0]) + at, rows.length);
    });
    return OF_OK;
  });
}

// standardize.gradient_input_weight_bias(grad, input, dim, weight, bias, eps)
of_status standardize_gradient(const of_kernel_context& context) {
  const of_kernel_tensor &grad = context.inputs[0], &input = context.inputs[1];
  const of_kernel_tensor &weight = context.inputs[2], &bias = context.inputs[3];
  const of_value* const arguments = context.arguments;
  const uint64_t dims = bits_of(arguments[2]);
  const Rows rows = rows_of(context, {&input, &grad, &context.outputs[0]}, dims, static_cast<int>(arguments[2].count));
  for (const of_kernel_tensor* output : {&context.outputs[1], &context.outputs[2]})
    if (!is_contiguous(layout_of(*output))) return OF_UNSUPPORTED;
  if (!rows || !fits_rows(context, arguments[3], weight, input, dims, rows) ||
      !fits_rows(context, arguments[4], bias, input, dims, rows))
    return standardize_slices_gradient(context);
  return with_type(context, [&](auto type) {
    using T = decltype(type);
    const StandardizeLoops<T>& loops = loops_of<T>();
    const bool has_weight = given(arguments[3]), has_bias = given(arguments[4]);
    const int64_t most = std::max<int64_t>(1, kPartElements / rows.length);
    const int64_t parts = std::min({rows.count, kParts, most});
    const ScratchArray<T> of_weights(has_weight ? parts * rows.length : 0);
    const ScratchArray<T> of_biases(has_bias ? parts * rows.length : 0);
    const double eps = number<double>(arguments[5]);
    parallel_for(parts, [&](int64_t i) {
      T* const of_weight = part_of(of_weights, has_weight, i, rows.length);
      T* const of_bias = part_of(of_biases, has_bias, i, rows.length);
      for (T* sum : {of_weight, of_bias})
        if (sum) std::fill_n(sum, rows.length, T(0));
      const Range range = part(rows.count, i, parts);
      for (int64_t row = range.begin; row < range.begin + range.count; ++row) {
        const int64_t at = row * rows.length;
        loops.standardize_gradient({data_of<T>(grad) + at, data_of<T>(input) + at, data_of<T>(weight),
                                    data_of<T>(context.outputs[0]) + at, of_weight, of_bias, rows.length, eps});
      }
    });
    const auto add_up = [&](const ScratchArray<T>& sums, const of_kernel_tensor& result) {
      std::fill_n(data_of<T>(result), rows.length, T(0));
      for (int64_t i = 0; i < parts; ++i) loops.add(sums.data() + i * rows.length, data_of<T>(result), rows.length);
    };
    if (has_weight) add_up(of_weights, context.outputs[1]);
    if (has_bias) add_up(of_biases, context.outputs[2]);
    return OF_OK;
  });
}

}  // namespace oneflow::cpu
