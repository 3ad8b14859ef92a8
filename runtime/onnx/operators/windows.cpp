// Convolutions and pooling.
#include <algorithm>
#include <array>
#include <limits>
#include <oneflow/oneflow.hpp>

#include "onnx/arranging.h"
#include "onnx/operators.h"

namespace oneflow::onnx {

namespace {

using Sizes = std::vector<int64_t>;

// The places of a kernel along each dimension, as attributes give them.
struct Windows {
  Sizes kernel, strides, dilations, before, after;

  size_t rank() const { return kernel.size(); }
  bool is_symmetric() const { return before == after; }
  int64_t extent(size_t dim) const { return (kernel[dim] - 1) * dilations[dim] + 1; }
};

// Larger numbers are refused, so that no product of two overflows.
constexpr int64_t kLargest = int64_t{1} << 30;

// Checks how many numbers an attribute has, and that they are between `least` and kLargest.
Sizes checked(Sizes numbers, size_t count, const char* name, int64_t least) {
  if (numbers.size() != count) throw InvalidArgument(std::string(name) + " must have a number per dimension");
  for (const int64_t number : numbers)
    if (number < least || number > kLargest)
      throw InvalidArgument(std::string(name) + " must be at least " + std::to_string(least) + ", and not above " +
                            std::to_string(kLargest) + ", got " + std::to_string(number));
  return numbers;
}

// Checks the sizes of an input after the first two.
void check_sizes(const Tensor& x) {
  const Sizes sizes(x.sizes().begin() + 2, x.sizes().end());
  checked(sizes, sizes.size(), "the sizes of the input", 0);
}

Windows windows_of(const NodeCall& node, const Tensor& x, Sizes kernel) {
  const size_t rank = kernel.size();
  if (x.rank() != static_cast<int64_t>(rank) + 2)
    throw ShapeError("the input must have rank " + std::to_string(rank + 2) + ", got " + std::to_string(x.rank()));
  check_sizes(x);
  Windows found;
  found.kernel = checked(std::move(kernel), rank, "the sizes of the kernel", 0);
  found.strides = checked(node.integers("strides", Sizes(rank, 1)), rank, "strides", 1);
  found.dilations = checked(node.integers("dilations", Sizes(rank, 1)), rank, "dilations", 1);
  const Sizes pads = checked(node.integers("pads", Sizes(2 * rank, 0)), 2 * rank, "pads", -kLargest);
  found.before.assign(pads.begin(), pads.begin() + static_cast<int64_t>(rank));
  found.after.assign(pads.begin() + static_cast<int64_t>(rank), pads.end());
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic.empty()) return found;
  for (size_t i = 0; i < rank; ++i) {
    found.before[i] = found.after[i] = 0;
    if (automatic == "VALID") continue;
    const int64_t size = x.size(static_cast<int64_t>(i) + 2), stride = found.strides[i];
    const int64_t total = std::max<int64_t>(((size + stride - 1) / stride - 1) * stride + found.extent(i) - size, 0);
    (automatic == "SAME_LOWER" ? found.after : found.before)[i] = total / 2;
    (automatic == "SAME_LOWER" ? found.before : found.after)[i] = total - total / 2;
  }
  return found;
}

// Pads a tensor with a number around its last dimensions.
Tensor padded(const Tensor& x, const Sizes& before, const Sizes& after, double value) {
  Sizes amounts;
  for (size_t dim = before.size(); dim-- > 0;) {
    amounts.push_back(before[dim]);
    amounts.push_back(after[dim]);
  }
  return pad(x, amounts, "constant", value);
}

Sizes kernel_of(const NodeCall& node, const Tensor& weight) {
  return node.integers("kernel_shape",
                       Sizes(weight.sizes().begin() + std::min<int64_t>(2, weight.rank()), weight.sizes().end()));
}

std::vector<Tensor> convolve(NodeCall& node) {
  Tensor x = node.tensor(0);
  const Tensor& weight = node.tensor(1);
  Windows windows = windows_of(node, x, kernel_of(node, weight));
  if (!windows.is_symmetric()) {
    x = padded(x, windows.before, windows.after, 0);
    windows.before.assign(windows.rank(), 0);
  }
  return {convolution(x, weight, node.optional_tensor(2), windows.strides, windows.before, windows.dilations, false,
                      Sizes(windows.rank(), 0), node.integer("group", 1))};
}

std::vector<Tensor> convolve_transposed(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const Tensor& weight = node.tensor(1);
  const Sizes kernel = kernel_of(node, weight);
  const size_t rank = kernel.size();
  if (x.rank() != static_cast<int64_t>(rank) + 2) throw ShapeError("the input and the weight must have the same rank");
  check_sizes(x);
  checked(kernel, rank, "the sizes of the kernel", 0);
  const Sizes strides = checked(node.integers("strides", Sizes(rank, 1)), rank, "strides", 1);
  const Sizes dilations = checked(node.integers("dilations", Sizes(rank, 1)), rank, "dilations", 1);
  Sizes extra = checked(node.integers("output_padding", Sizes(rank, 0)), rank, "output_padding", 0);
  const Sizes pads = checked(node.integers("pads", Sizes(2 * rank, 0)), 2 * rank, "pads", -kLargest);
  const auto wanted = node.integers("output_shape");
  // Some models give the first two sizes, too.
  if (wanted) checked(*wanted, wanted->size() == rank + 2 ? rank + 2 : rank, "output_shape", 0);
  const std::string automatic = node.text("auto_pad", "NOTSET");
  // The whole result is computed without padding, and what is padding is cut off, unless both sides have the same.
  Sizes before(rank, 0), after(rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = x.size(static_cast<int64_t>(i) + 2);
    const int64_t full = strides[i] * (size - 1) + extra[i] + (kernel[i] - 1) * dilations[i] + 1;
    before[i] = pads[i];
    after[i] = pads[rank + i];
    std::optional<int64_t> target;
    if (wanted)
      target = (*wanted)[wanted->size() - rank + i];
    else if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
      target = size * strides[i];
    if (!target) {
      if (automatic == "VALID") before[i] = after[i] = 0;
      continue;
    }
    // Negative padding extends the result by zeros, as output_padding does.
    const int64_t total = full - *target;
    if (total < 0) {
      extra[i] -= total;
      before[i] = after[i] = 0;
    } else {
      before[i] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      after[i] = total - before[i];
    }
  }
  const int64_t groups = node.integer("group", 1);
  const Tensor bias = node.optional_tensor(2);
  const auto is_allowed = [&] {
    for (size_t i = 0; i < rank; ++i)
      if (extra[i] >= std::max(strides[i], dilations[i])) return false;
    return before == after;
  };
  if (is_allowed()) return {convolution(x, weight, bias, strides, before, dilations, true, extra, groups)};
  Tensor result = convolution(x, weight, Tensor(), strides, Sizes(rank, 0), dilations, true, Sizes(rank, 0), groups);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t dim = static_cast<int64_t>(i) + 2, end = result.size(dim) + extra[i] - after[i];
    result = range_of_dim(result, dim, before[i], end);
  }
  if (bias.is_empty_handle()) return {result};
  Sizes shape(rank + 1, 1);
  shape[0] = bias.size(0);
  return {add(result, reshape(bias, shape))};
}

// Returns how far the last windows of pooling reach over the padded input, if sizes are rounded up.
Sizes overhang(const Windows& windows, const Tensor& x, bool rounds_up) {
  Sizes found(windows.rank(), 0);
  for (size_t i = 0; rounds_up && i < windows.rank(); ++i) {
    const int64_t size = x.size(static_cast<int64_t>(i) + 2), stride = windows.strides[i];
    const int64_t room = size + windows.before[i] + windows.after[i] - windows.extent(i);
    int64_t count = (room + stride - 1) / stride + 1;
    if ((count - 1) * stride >= size + windows.before[i]) --count;  // no window begins in the padding after the input
    found[i] = std::max<int64_t>((count - 1) * stride - room, 0);
  }
  return found;
}

bool fits_our_padding(const Windows& windows) {
  for (size_t i = 0; i < windows.rank(); ++i)
    if (2 * windows.before[i] > windows.kernel[i]) return false;
  return windows.is_symmetric();
}

double least_of(DType dtype) {
  return dtype == uint8 ? 0 : dtype == int8 ? -128 : -std::numeric_limits<double>::infinity();
}

std::vector<Tensor> max_pooled(NodeCall& node) {
  Tensor x = node.tensor(0);
  Windows windows = windows_of(node, x, node.integers("kernel_shape", {}));
  const auto rank = static_cast<int64_t>(windows.rank());
  bool rounds_up = node.flag("ceil_mode");
  Sizes removed(windows.rank(), 0);
  const Tensor original = x;
  if (!fits_our_padding(windows) ||
      (rounds_up && std::ranges::any_of(windows.dilations, [](int64_t d) { return d != 1; }))) {
    const Sizes over = overhang(windows, x, rounds_up);
    removed = windows.before;
    for (size_t i = 0; i < windows.rank(); ++i) windows.after[i] += over[i];
    x = padded(x, windows.before, windows.after, least_of(x.dtype()));
    windows.before.assign(windows.rank(), 0);
    rounds_up = false;
  }
  if (!node.wants(1))
    return {max_pool(x, rank, windows.kernel, windows.strides, windows.before, windows.dilations, rounds_up)};
  auto [values, indices] =
      max_pool_with_indices(x, rank, windows.kernel, windows.strides, windows.before, windows.dilations, rounds_up);
  // Our indices are those in one plane of the padded input; ONNX's are those in the whole input.
  Tensor position = zeros_like(indices), rest = indices;
  int64_t step = 1;
  const bool by_columns = node.flag("storage_order");
  Sizes places(windows.rank());
  for (size_t i = windows.rank(); i-- > 0;) {
    const int64_t size = x.size(static_cast<int64_t>(i) + 2);
    const Tensor coordinate = sub(remainder(rest, size), removed[i]);
    rest = floor_divide(rest, size);
    int64_t stride = 1;
    if (by_columns) {
      for (size_t j = 0; j < i; ++j) stride *= original.size(static_cast<int64_t>(j) + 2);
    } else {
      stride = step;
      step *= original.size(static_cast<int64_t>(i) + 2);
    }
    position = add(position, mul(coordinate, stride));
  }
  int64_t plane = 1;
  for (size_t i = 0; i < windows.rank(); ++i) plane *= original.size(static_cast<int64_t>(i) + 2);
  Sizes shape(windows.rank() + 2, 1);
  shape[0] = original.size(0);
  shape[1] = original.size(1);
  const Tensor planes = reshape(mul(arange(shape[0] * shape[1], int64, original.device()), plane), shape);
  return {values, add(position, planes)};
}

std::vector<Tensor> average_pooled(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  Windows windows = windows_of(node, x, node.integers("kernel_shape", {}));
  const bool rounds_up = node.flag("ceil_mode"), counts_padding = node.flag("count_include_pad");
  const bool is_dense = std::ranges::all_of(windows.dilations, [](int64_t d) { return d == 1; });
  if (fits_our_padding(windows) && is_dense && windows.rank() <= 3)
    return {avg_pool(x, windows.kernel, windows.strides, windows.before, rounds_up, counts_padding)};
  // A mean is a sum over windows, divided by how many elements count.
  const Sizes over = overhang(windows, x, rounds_up);
  Sizes after = windows.after;
  for (size_t i = 0; i < windows.rank(); ++i) after[i] += over[i];
  Sizes plane(x.sizes().begin(), x.sizes().end());
  plane[0] = plane[1] = 1;
  const Sizes none(windows.rank(), 0);
  const auto sum_windows = [&](const Tensor& tensor) {
    Sizes kernel_shape = windows.kernel;
    kernel_shape.insert(kernel_shape.begin(), {tensor.size(1), 1});
    return convolution(tensor, ones(kernel_shape, tensor.dtype(), tensor.device()), Tensor(), windows.strides, none,
                       windows.dilations, false, none, tensor.size(1));
  };
  const Tensor counted = ones(plane, x.dtype(), x.device());
  const Tensor counts = counts_padding ? padded(padded(counted, windows.before, windows.after, 1), none, over, 0)
                                       : padded(counted, windows.before, after, 0);
  return {div(sum_windows(padded(x, windows.before, after, 0)), sum_windows(counts))};
}

// Returns the mean of p-th powers of absolute values in windows, as their root of a sum.
std::vector<Tensor> lp_pooled(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  Windows windows = windows_of(node, x, node.integers("kernel_shape", {}));
  const double p = node.opset() < 2 ? node.real("p", 2) : static_cast<double>(node.integer("p", 2));
  const Sizes over = overhang(windows, x, node.flag("ceil_mode")), none(windows.rank(), 0);
  for (size_t i = 0; i < windows.rank(); ++i) windows.after[i] += over[i];
  Sizes kernel_shape = windows.kernel;
  kernel_shape.insert(kernel_shape.begin(), {x.size(1), 1});
  const Tensor powers = padded(pow(abs(x), p), windows.before, windows.after, 0);
  return {pow(convolution(powers, ones(kernel_shape, x.dtype(), x.device()), Tensor(), windows.strides, none,
                          windows.dilations, false, none, x.size(1)),
              1 / p)};
}

Sizes spatial(const Tensor& x) {
  Sizes dims;
  for (int64_t dim = 2; dim < x.rank(); ++dim) dims.push_back(dim);
  return dims;
}

std::vector<Tensor> global_average(NodeCall& node) { return {mean(node.tensor(0), spatial(node.tensor(0)), true)}; }

std::vector<Tensor> global_max(NodeCall& node) { return {amax(node.tensor(0), spatial(node.tensor(0)), true)}; }

std::vector<Tensor> global_lp(NodeCall& node) {
  return {norm(node.tensor(0), static_cast<double>(node.integer("p", 2)), spatial(node.tensor(0)), true)};
}

// Puts elements back to the places that MaxPool has taken them from.
std::vector<Tensor> max_unpooled(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const Windows windows = windows_of(node, x, node.integers("kernel_shape", {}));
  Sizes inferred{x.size(0), x.size(1)};
  for (size_t i = 0; i < windows.rank(); ++i)
    inferred.push_back((x.size(static_cast<int64_t>(i) + 2) - 1) * windows.strides[i] + windows.kernel[i] -
                       windows.before[i] - windows.after[i]);
  const Sizes target =
      checked(node.has(2) ? node.integers(2) : inferred, inferred.size(), "the sizes of the result", 0);
  const int64_t source_count = count_elements(inferred), count = count_elements(target);
  Tensor places = reshape(node.tensor(1), {-1});
  if (source_count != count) {
    // The indices are those in a tensor of the inferred sizes.
    Tensor rest = places, moved = zeros_like(places);
    int64_t step = 1;
    for (size_t i = inferred.size(); i-- > 0;) {
      moved = add(moved, mul(remainder(rest, inferred[i]), step));
      rest = floor_divide(rest, inferred[i]);
      step *= target[i];
    }
    places = moved;
  }
  return {reshape(scatter(zeros({count}, x.dtype(), x.device()), 0, places, reshape(x, {-1})), target)};
}

std::vector<Tensor> columns_to_image(NodeCall& node) {
  const Tensor& x = node.tensor(0);
  const Sizes image = node.integers(1);
  const size_t rank = image.size();
  checked(image, rank, "the sizes of the image", 0);
  const Sizes block = checked(node.integers(2), rank, "the sizes of a block", 1);
  const Sizes strides = checked(node.integers("strides", Sizes(rank, 1)), rank, "strides", 1);
  const Sizes dilations = checked(node.integers("dilations", Sizes(rank, 1)), rank, "dilations", 1);
  const Sizes pads = checked(node.integers("pads", Sizes(2 * rank, 0)), 2 * rank, "pads", 0);
  const int64_t area = count_elements(block);
  if (x.rank() != 3 || x.size(1) % area != 0) throw ShapeError("the input does not have blocks of this size");
  // A transposed convolution with a weight that moves each element of a block to its place.
  Sizes counts, weight_shape{area, 1}, padded_size;
  for (size_t i = 0; i < rank; ++i) {
    counts.push_back((image[i] + pads[i] + pads[rank + i] - dilations[i] * (block[i] - 1) - 1) / strides[i] + 1);
    weight_shape.push_back(block[i]);
  }
  const int64_t channels = x.size(1) / area;
  Sizes blocks{x.size(0) * channels, area};
  blocks.insert(blocks.end(), counts.begin(), counts.end());
  const Tensor weight = reshape(eye(area, std::nullopt, x.dtype(), x.device()), weight_shape);
  Tensor result =
      convolution(reshape(x, blocks), weight, Tensor(), strides, Sizes(rank, 0), dilations, true, Sizes(rank, 0), 1);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t dim = static_cast<int64_t>(i) + 2, end = pads[i] + image[i];
    result = range_of_dim(result, dim, pads[i], end);
  }
  Sizes shape{x.size(0), channels};
  shape.insert(shape.end(), image.begin(), image.end());
  return {reshape(result, shape)};
}

constexpr std::array kOperators{
    Operator{"AveragePool", 1, average_pooled},
    Operator{"Col2Im", 18, columns_to_image},
    Operator{"Conv", 1, convolve},
    Operator{"ConvTranspose", 1, convolve_transposed},
    Operator{"GlobalAveragePool", 1, global_average},
    Operator{"GlobalLpPool", 1, global_lp},
    Operator{"GlobalMaxPool", 1, global_max},
    Operator{"LpPool", 1, lp_pooled},
    Operator{"MaxPool", 1, max_pooled},
    Operator{"MaxUnpool", 9, max_unpooled},
};

}  // namespace

std::span<const Operator> window_operators() { return kOperators; }

}  // namespace oneflow::onnx
