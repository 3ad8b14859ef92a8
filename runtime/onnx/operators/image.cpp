// Operators that sample images.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <oneflow/oneflow.hpp>

#include "onnx/operators.h"
#include "side/printable.h"

namespace oneflow::onnx {

namespace {

using Sizes = std::vector<int64_t>;

constexpr int64_t kLargest = int64_t{1} << 31;  // of sizes and coordinates

// How one dimension is resized.
struct Resizing {
  int64_t from, to;
  double scale;               // of the result to the input
  bool is_ratio = false;      // whether the scale follows from both sizes
  double start = 0, end = 1;  // the region of the input, of tf_crop_and_resize
  double cubic = -0.75;
  std::string mode, coordinates, nearest;
  bool excludes_outside = false, is_antialiased = false;
};

// Returns the coordinate in the input of an element of the result, by the formulas of ONNX.
double formula(const Resizing& resizing, int64_t position) {
  const auto x = static_cast<double>(position);
  const double from = static_cast<double>(resizing.from), to = from * resizing.scale;
  const std::string& kind = resizing.coordinates;
  if (kind == "half_pixel") return (x + 0.5) / resizing.scale - 0.5;
  if (kind == "pytorch_half_pixel") return to > 1 ? (x + 0.5) / resizing.scale - 0.5 : 0;
  if (kind == "align_corners") return to > 1 ? x * (from - 1) / (to - 1) : 0;
  if (kind == "asymmetric") return x / resizing.scale;
  if (kind == "tf_half_pixel_for_nn") return (x + 0.5) / resizing.scale;
  if (kind == "half_pixel_symmetric") {
    // The scale may not give whole numbers of elements: what is cut off is the same on both sides.
    const double adjustment = static_cast<double>(resizing.to) / to, center = from / 2;
    return center * (1 - adjustment) + (x + 0.5) / resizing.scale - 0.5;
  }
  if (kind == "tf_crop_and_resize")
    return to > 1 ? resizing.start * (from - 1) + x * (resizing.end - resizing.start) * (from - 1) / (to - 1)
                  : 0.5 * (resizing.start + resizing.end) * (from - 1);
  throw Unsupported("coordinate_transformation_mode " + in_quotes(kind) + " is not supported");
}

double coordinate_of(const Resizing& resizing, int64_t position) {
  const double found = formula(resizing, position);
  if (!(std::abs(found) < static_cast<double>(kLargest))) throw InvalidArgument("a coordinate is out of range");
  return found;
}

int64_t nearest_to(const Resizing& resizing, double x) {
  const std::string& mode = resizing.nearest;
  if (mode == "floor") return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (mode == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  if (mode == "round_prefer_floor") return static_cast<int64_t>(std::ceil(x - 0.5));
  throw InvalidArgument("nearest_mode must be floor, ceil, round_prefer_floor or round_prefer_ceil");
}

double linear_weight(double distance) { return std::max(0.0, 1 - std::abs(distance)); }

double cubic_weight(double distance, double a) {
  const double x = std::abs(distance);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// Returns the matrix (to, from) that resizes a dimension. Elements outside the input are those at its border.
std::vector<double> weights_of(const Resizing& resizing) {
  std::vector<double> weights(static_cast<size_t>(resizing.to * resizing.from), 0);
  const bool is_cubic = resizing.mode == "cubic";
  // For antialiasing, the filter is as much wider as the result is smaller.
  const double stretch = resizing.is_antialiased && resizing.scale < 1 ? resizing.scale : 1;
  const double reach = (is_cubic ? 2 : 1) / stretch;
  for (int64_t row = 0; row < resizing.to; ++row) {
    const double x = coordinate_of(resizing, row);
    double* const line = &weights[static_cast<size_t>(row * resizing.from)];
    double total = 0;
    const auto add = [&](int64_t column, double weight) {
      const bool is_outside = column < 0 || column >= resizing.from;
      if (is_outside && resizing.excludes_outside) return;
      line[std::clamp(column, int64_t{0}, resizing.from - 1)] += weight;
      total += weight;
    };
    if (resizing.mode == "nearest") {
      add(std::clamp(nearest_to(resizing, x), int64_t{0}, resizing.from - 1), 1);
      continue;
    }
    const auto first = static_cast<int64_t>(std::floor(x - reach)), last = static_cast<int64_t>(std::ceil(x + reach));
    for (int64_t column = first; column <= last; ++column) {
      const double distance = (static_cast<double>(column) - x) * stretch;
      const double weight = is_cubic ? cubic_weight(distance, resizing.cubic) : linear_weight(distance);
      if (weight != 0) add(column, weight);
    }
    if (total != 0)
      for (int64_t column = 0; column < resizing.from; ++column) line[column] /= total;
  }
  return weights;
}

// The same where sizes vary: calls of the graph compute what the functions above do.
class ResizingCalls {
 public:
  ResizingCalls(const Resizing& resizing, Device device)
      : resizing_(resizing),
        device_(device),
        from_(number(resizing.from)),
        scale_(resizing.is_ratio ? div(number(resizing.to), from_) : full(Sizes{}, resizing.scale, float64, device)) {}

  Tensor coordinates() const {
    const Tensor x = arange(resizing_.to, int64, device_).to(float64), to = mul(from_, scale_);
    const std::string& kind = resizing_.coordinates;
    const auto half_pixel = [&] { return sub(div(add(x, 0.5), scale_), 0.5); };
    if (kind == "half_pixel") return half_pixel();
    if (kind == "pytorch_half_pixel") return resizing_.to > 1 ? half_pixel() : zeros_like(x);
    if (kind == "align_corners") return resizing_.to > 1 ? div(mul(x, sub(from_, 1)), sub(to, 1)) : zeros_like(x);
    if (kind == "asymmetric") return div(x, scale_);
    if (kind == "tf_half_pixel_for_nn") return div(add(x, 0.5), scale_);
    if (kind == "half_pixel_symmetric")
      return add(mul(div(from_, 2), sub(1, div(number(resizing_.to), to))), half_pixel());
    throw Unsupported("coordinate_transformation_mode " + in_quotes(kind) + " is not supported with sizes that vary");
  }

  Tensor places() const {
    const Tensor x = coordinates();
    const std::string& mode = resizing_.nearest;
    const bool is_up = mode == "ceil" || mode == "round_prefer_floor";
    const double added = mode == "round_prefer_ceil" ? 0.5 : mode == "round_prefer_floor" ? -0.5 : 0;
    const Tensor moved = add(x, added);
    return clamp((is_up ? ceil(moved) : floor(moved)).to(int64), 0, resizing_.from - 1);
  }

  Tensor weights() const {
    const int64_t from = resizing_.from;
    // Columns outside the input, as many as weights can reach, are folded onto its border.
    const int64_t outside = resizing_.is_antialiased ? from : 2;
    const Tensor columns = sub(arange(from + 2 * outside, int64, device_), outside).to(float64);
    Tensor distance = abs(sub(reshape(columns, {1, from + 2 * outside}), reshape(coordinates(), {resizing_.to, 1})));
    if (resizing_.is_antialiased) distance = mul(distance, clamp(scale_, Operand(), 1));
    const Tensor all = resizing_.mode == "cubic" ? cubic(distance) : clamp(sub(1, distance), 0);
    const auto part = [&](int64_t start, int64_t end) { return slice(all, 1, start, end); };
    Tensor inside = part(outside, outside + from);
    if (!resizing_.excludes_outside) {
      const Tensor left = sum(part(0, outside), 1, true),
                   right = sum(part(outside + from, from + 2 * outside), 1, true);
      inside = add(inside, add(pad(left, {0, from - 1}), pad(right, {from - 1, 0})));
    }
    const Tensor total = sum(inside, 1, true);
    return div(inside, where(eq(total, 0), 1, total));
  }

 private:
  Tensor number(int64_t size) const { return full(Sizes{}, size, int64, device_).to(float64); }

  Tensor cubic(const Tensor& x) const {
    const double a = resizing_.cubic;
    const Tensor near = add(mul(mul(sub(mul(x, a + 2), a + 3), x), x), 1);
    const Tensor far = sub(mul(add(mul(sub(mul(x, a), 5 * a), x), 8 * a), x), 4 * a);
    return where(lt(x, 1), near, where(lt(x, 2), far, 0));
  }

  const Resizing& resizing_;
  const Device device_;
  const Tensor from_, scale_;
};

// Resizes a dimension by products with a matrix of weights.
Tensor resized(const NodeCall& node, const Tensor& x, int64_t dim, const Resizing& resizing, double outside_value) {
  Tensor result;
  if (resizing.from < 1 && resizing.to > 0) throw ShapeError("a dimension of size 0 cannot become larger");
  const std::vector<double> key{static_cast<double>(resizing.from), static_cast<double>(resizing.to), resizing.scale,
                                resizing.start, resizing.end};
  const int64_t count = resizing.mode == "nearest" ? resizing.to : resizing.to * resizing.from;
  const bool is_constant = node.is_constant(key, count);
  const auto calls = [&] { return ResizingCalls(resizing, x.device()); };
  if (resizing.mode == "nearest") {
    const auto places = [&] {
      Sizes found;
      for (int64_t i = 0; i < resizing.to; ++i)
        found.push_back(std::clamp(nearest_to(resizing, coordinate_of(resizing, i)), int64_t{0}, resizing.from - 1));
      return Tensor::copy_of(found, {resizing.to});
    };
    result = index_select(x, dim, is_constant ? node.constant(key, count, places) : calls().places());
  } else {
    const DType dtype = x.dtype() == float64 ? float64 : float32;
    const auto weights = [&] { return Tensor::copy_of(weights_of(resizing), {resizing.to, resizing.from}).to(dtype); };
    const Tensor matrix = is_constant ? node.constant(key, count, weights) : calls().weights().to(dtype);
    const Tensor wide = x.dtype() == matrix.dtype() ? x : x.to(matrix.dtype());
    // The dimension becomes the last one, and comes back.
    result = transpose(matmul(transpose(wide, dim, -1), transpose(matrix, 0, 1)), dim, -1);
    if (result.dtype() != x.dtype()) result = round(result).to(x.dtype());
  }
  if (resizing.coordinates != "tf_crop_and_resize") return result;
  std::vector<uint8_t> is_outside;
  for (int64_t i = 0; i < resizing.to; ++i) {
    const double at = coordinate_of(resizing, i);
    is_outside.push_back(at < 0 || at > static_cast<double>(resizing.from - 1));
  }
  Sizes shape(static_cast<size_t>(x.rank()), 1);
  shape[static_cast<size_t>(dim)] = resizing.to;
  const Tensor mask = node.constant(key, resizing.to, [&] { return Tensor::copy_of(is_outside, shape).to(bool_); });
  return where(mask, outside_value, result).to(x.dtype());
}

double ratio_of(const Resizing& resizing) {
  return static_cast<double>(resizing.to) / static_cast<double>(resizing.from);
}

// Our interpolation, where it is the same: all of rank 4, the last two dimensions, and a rule that both have.
std::optional<Tensor> interpolated(const Tensor& x, const std::vector<Resizing>& dims) {
  if (x.rank() != 4 || x.dtype() == float64) return {};
  if (dims[0].from != dims[0].to || dims[1].from != dims[1].to) return {};
  const Resizing &rows = dims[2], &columns = dims[3];
  const Sizes size{rows.to, columns.to};
  const auto has_exact_scale = [](const Resizing& resizing) {
    return resizing.is_ratio || static_cast<double>(resizing.to) == static_cast<double>(resizing.from) * resizing.scale;
  };
  if (!has_exact_scale(rows) || !has_exact_scale(columns) || rows.is_antialiased) return {};
  if (rows.mode == "nearest" && rows.coordinates == "asymmetric" && rows.nearest == "floor")
    return interpolate(x, size, std::nullopt, "nearest");
  const bool is_half =
      rows.coordinates == "half_pixel" || (rows.coordinates == "pytorch_half_pixel" && rows.to > 1 && columns.to > 1);
  if (rows.mode == "linear" && !rows.excludes_outside && is_half)
    return interpolate(x, size, std::nullopt, "bilinear", false);
  if (rows.mode == "linear" && !rows.excludes_outside && rows.coordinates == "align_corners")
    return interpolate(x, size, std::nullopt, "bilinear", true);
  return {};
}

std::vector<Tensor> resize(NodeCall& node) {
  Tensor x = node.tensor(0);
  const int64_t rank = x.rank();
  const bool is_old = node.opset() < 11 || node.node().type == "Upsample";
  std::vector<double> scales;
  bool scales_vary = false;
  std::optional<Sizes> sizes;
  if (node.node().type == "Upsample" && node.opset() < 9) {
    const auto given = node.reals("scales");
    if (given) scales.assign(given->begin(), given->end());
  } else {
    const size_t position = is_old ? 1 : 2;
    scales_vary = node.has(position) && node.value(position)->varies;
    if (node.has(position)) scales = node.computed([&] { return node.list(position).to(float64).to_vector<double>(); });
    if (!is_old && scales.empty() && node.has(3)) sizes = node.integers(3);
  }
  Sizes axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto given = node.integers("axes")) {
    axes = *given;
    for (int64_t& axis : axes) axis = wrap_axis(axis, rank);
  }
  const size_t count = sizes ? sizes->size() : scales.size();
  if (count != axes.size()) throw InvalidArgument("it must have a scale or a size per axis");
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  if (sizes && policy != "stretch") {
    double chosen = policy == "not_larger" ? INFINITY : 0;
    for (size_t i = 0; i < count; ++i) {
      const double scale = static_cast<double>((*sizes)[i]) / static_cast<double>(x.size(axes[i]));
      chosen = policy == "not_larger" ? std::min(chosen, scale) : std::max(chosen, scale);
    }
    scales.assign(count, chosen);
    for (size_t i = 0; i < count; ++i)
      (*sizes)[i] = static_cast<int64_t>(std::floor(chosen * static_cast<double>(x.size(axes[i])) + 0.5));
  }
  Resizing common{};
  common.mode = node.text("mode", "nearest");
  if (common.mode == "bilinear" || common.mode == "trilinear") common.mode = "linear";
  common.coordinates = node.text("coordinate_transformation_mode", is_old ? "asymmetric" : "half_pixel");
  common.nearest = node.text("nearest_mode", is_old ? "floor" : "round_prefer_floor");
  common.cubic = node.real("cubic_coeff_a", -0.75);
  common.excludes_outside = node.flag("exclude_outside");
  common.is_antialiased = node.flag("antialias");
  std::vector<double> region;
  if (common.coordinates == "tf_crop_and_resize")
    region = node.computed([&] { return node.list(1).to(float64).to_vector<double>(); });
  if (!region.empty() && region.size() != 2 * count) throw InvalidArgument("the region must have two numbers per axis");
  std::vector<Resizing> dims(static_cast<size_t>(rank), common);
  for (size_t i = 0; i < dims.size(); ++i) {
    dims[i].from = dims[i].to = x.size(static_cast<int64_t>(i));
    dims[i].scale = 1;
  }
  for (size_t i = 0; i < count; ++i) {
    Resizing& dim = dims[static_cast<size_t>(axes[i])];
    if (sizes) {
      dim.to = (*sizes)[i];
      dim.is_ratio = scales.empty();
      dim.scale = dim.is_ratio ? ratio_of(dim) : scales[i];
    } else {
      dim.scale = scales[i];
      const double size = std::floor(static_cast<double>(dim.from) * dim.scale);
      if (!(size >= 0 && size < static_cast<double>(kLargest))) throw InvalidArgument("a scale is out of range");
      dim.to = static_cast<int64_t>(size);
      dim.is_ratio = scales_vary && static_cast<float>(ratio_of(dim)) == static_cast<float>(dim.scale);
    }
    if (dim.to < 0 || dim.to > kLargest) throw InvalidArgument("a size is out of range");
    if (!region.empty()) {
      dim.start = region[i];
      dim.end = region[region.size() / 2 + i];
    }
  }
  if (const auto found = interpolated(x, dims)) return {*found};
  const double outside = node.real("extrapolation_value", 0);
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i].from != dims[i].to || !region.empty() || dims[i].scale != 1)
      x = resized(node, x, static_cast<int64_t>(i), dims[i], outside);
  return {x};
}

// Returns elements of x (batch, channels, sizes...) at whole coordinates (batch, points) per dimension.
Tensor elements_at(const Tensor& x, const std::vector<Tensor>& places, const std::string& padding) {
  const int64_t batch = x.size(0), channels = x.size(1), points = places[0].size(1);
  Tensor flat, inside;
  for (size_t i = 0; i < places.size(); ++i) {
    const int64_t size = x.size(static_cast<int64_t>(i) + 2);
    const Tensor fits = logical_and(ge(places[i], 0), lt(places[i], size));
    const Tensor place = clamp(places[i], 0, size - 1).to(int64);
    flat = i == 0 ? place : add(mul(flat, size), place);
    inside = i == 0 ? fits : logical_and(inside, fits);
  }
  const Tensor index = broadcast_to(unsqueeze(flat, 1), {batch, channels, points});
  const Tensor found = gather(reshape(x, {batch, channels, -1}), 2, index);
  return padding == "zeros" ? where(unsqueeze(inside, 1), found, 0) : found;
}

// Reflects coordinates at both ends of a range.
Tensor reflected(const Tensor& x, double low, double high) {
  const double range = high - low;
  if (range == 0) return zeros_like(x);
  const Tensor moved = remainder(sub(x, low), 2 * range);
  return add(minimum(moved, sub(2 * range, moved)), low);
}

std::vector<Tensor> sampled(NodeCall& node) {
  const Tensor &x = node.tensor(0), &grid = node.tensor(1);
  const bool aligns = node.flag("align_corners");
  const std::string padding = node.text("padding_mode", "zeros");
  const std::string mode = node.text("mode", "linear");
  const bool is_cubic = mode == "cubic" || mode == "bicubic";
  const int64_t dims = x.rank() - 2;
  if (dims < 1 || dims > 3 || grid.rank() != x.rank())
    throw ShapeError("the input and the grid must have the same rank, between 3 and 5");
  const int64_t batch = x.size(0);
  const Tensor points = reshape(grid, {batch, -1, dims});
  std::vector<Tensor> coordinates;
  for (int64_t i = 0; i < dims; ++i) {
    // The grid gives the last dimension first.
    const auto size = static_cast<double>(x.size(i + 2));
    const Tensor given = select(points, 2, dims - 1 - i);
    Tensor at = aligns ? mul(add(given, 1), (size - 1) / 2) : sub(mul(add(given, 1), size / 2), 0.5);
    // A cubic curve is continued beyond the border: there, the places that it reads are limited, not the coordinate.
    if (!is_cubic && padding == "border") at = clamp(at, 0, size - 1);
    if (!is_cubic && padding == "reflection")
      at = clamp(aligns ? reflected(at, 0, size - 1) : reflected(at, -0.5, size - 0.5), 0, size - 1);
    coordinates.push_back(at);
  }
  Tensor result;
  if (mode == "nearest") {
    std::vector<Tensor> places;
    for (const Tensor& at : coordinates) places.push_back(round(at));
    result = elements_at(x, places, padding);
  } else {
    const int64_t taps = is_cubic ? 4 : 2;
    std::vector<Tensor> bases, fractions;
    for (const Tensor& at : coordinates) {
      bases.push_back(floor(at));
      fractions.push_back(sub(at, bases.back()));
    }
    const auto weight_of = [&](const Tensor& fraction, int64_t tap) {
      if (!is_cubic) return tap == 0 ? sub(1, fraction) : fraction;
      const Tensor distance = abs(sub(fraction, static_cast<double>(tap - 1)));
      const double a = -0.75;
      const Tensor near = add(mul(mul(sub(mul(distance, a + 2), a + 3), distance), distance), 1);
      const Tensor far = sub(mul(add(mul(sub(mul(distance, a), 5 * a), distance), 8 * a), distance), 4 * a);
      return where(lt(distance, 1), near, far);
    };
    const auto total = static_cast<int64_t>(std::pow(taps, dims));
    for (int64_t corner = 0; corner < total; ++corner) {
      std::vector<Tensor> places;
      Tensor weight;
      for (int64_t i = 0, rest = corner; i < dims; ++i, rest /= taps) {
        const int64_t tap = rest % taps;
        const auto number = static_cast<size_t>(i);
        Tensor place = add(bases[number], static_cast<double>(is_cubic ? tap - 1 : tap));
        const auto size = static_cast<double>(x.size(i + 2));
        if (is_cubic && padding == "reflection")
          place = clamp(aligns ? reflected(place, 0, size - 1) : reflected(place, -0.5, size - 0.5), 0, size - 1);
        places.push_back(place);
        const Tensor part = weight_of(fractions[number], tap);
        weight = i == 0 ? part : mul(weight, part);
      }
      const Tensor part = mul(elements_at(x, places, padding), unsqueeze(weight, 1));
      result = corner == 0 ? part : add(result, part);
    }
  }
  Sizes shape{batch, x.size(1)};
  shape.insert(shape.end(), grid.sizes().begin() + 1, grid.sizes().end() - 1);
  return {reshape(result, shape)};
}

std::vector<Tensor> affine_grid(NodeCall& node) {
  const Tensor& theta = node.tensor(0);
  const Sizes size = node.integers(1);
  const bool aligns = node.flag("align_corners");
  if (size.size() < 3) throw InvalidArgument("the size must have at least three numbers");
  const auto dims = static_cast<int64_t>(size.size()) - 2;
  Sizes target(size.begin() + 2, size.end());
  std::vector<Tensor> parts;
  for (int64_t i = dims; i-- > 0;) {  // the last dimension first
    const int64_t count = target[static_cast<size_t>(i)];
    const double last = aligns ? 1 : 1 - 1 / static_cast<double>(count);
    Tensor line = count == 1 && aligns ? zeros({1}, theta.dtype(), theta.device())
                                       : linspace(-last, last, count, theta.dtype(), theta.device());
    if (aligns && count == 1) line = sub(line, 1);
    Sizes shape(static_cast<size_t>(dims), 1);
    shape[static_cast<size_t>(i)] = count;
    parts.push_back(broadcast_to(reshape(line, shape), target));
  }
  parts.push_back(ones(target, theta.dtype(), theta.device()));
  const Tensor base = reshape(stack(parts, -1), {1, -1, dims + 1});
  Sizes shape{size[0]};
  shape.insert(shape.end(), target.begin(), target.end());
  shape.push_back(dims);
  return {reshape(matmul(base, transpose(theta, 1, 2)), shape)};
}

constexpr std::array kOperators{
    Operator{"AffineGrid", 20, affine_grid},
    Operator{"GridSample", 16, sampled},
    Operator{"Resize", 10, resize},
    Operator{"Upsample", 7, resize},
};

}  // namespace

std::span<const Operator> image_operators() { return kOperators; }

}  // namespace oneflow::onnx
