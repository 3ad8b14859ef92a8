// Fourier transforms and what goes with them.
#include <array>
#include <cmath>
#include <numbers>
#include <oneflow/oneflow.hpp>

#include "onnx/arranging.h"
#include "onnx/operators.h"
#include "onnx/tensors.h"

namespace oneflow::onnx {

namespace {

using Sizes = std::vector<int64_t>;

// Returns the matrices (length, count) of cosines and sines of a Fourier transform, whose sign is that of the exponent.
std::pair<Tensor, Tensor> waves(const NodeCall& node, int64_t length, int64_t count, double sign, DType dtype) {
  check_table(Sizes{length, count});
  const auto matrix = [&](double (*wave)(double)) {
    return node.constant({static_cast<double>(length), static_cast<double>(count), sign}, length * count, [&] {
      std::vector<double> values;
      for (int64_t i = 0; i < length; ++i)
        for (int64_t k = 0; k < count; ++k)
          values.push_back(
              wave(sign * 2 * std::numbers::pi * static_cast<double>(i * k % length) / static_cast<double>(length)));
      return Tensor::copy_of(values, {length, count}).to(dtype);
    });
  };
  return {matrix(std::cos), matrix(std::sin)};
}

// Transforms dimension `axis` of x (..., 1 or 2), whose last dimension holds the real and the imaginary part.
Tensor transformed(const NodeCall& node, const Tensor& given, int64_t axis, int64_t length, bool inverse,
                   bool onesided) {
  const Tensor x = range_of_dim(given, axis, 0, length);
  const int64_t count = onesided && !inverse ? length / 2 + 1 : length;
  const auto [cosines, sines] = waves(node, length, count, inverse ? 1 : -1, x.dtype());
  const auto times = [&](const Tensor& part, const Tensor& matrix) {
    return transpose(matmul(transpose(part, axis, -1), matrix), axis, -1);
  };
  const Tensor real = select(x, -1, 0);
  Tensor real_result = times(real, cosines), imaginary_result = times(real, sines);
  if (x.size(-1) == 2) {
    const Tensor imaginary = select(x, -1, 1);
    real_result = sub(real_result, times(imaginary, sines));
    imaginary_result = add(imaginary_result, times(imaginary, cosines));
  }
  const Tensor result = stack({real_result, imaginary_result}, -1);
  return inverse ? div(result, static_cast<double>(length)) : result;
}

std::vector<Tensor> fourier_transform(NodeCall& node) {
  Tensor x = node.tensor(0);
  const int64_t axis = wrap_axis(node.opset() < 20 ? node.integer("axis", 1) : node.integer_or(2, -2), x.rank());
  const bool inverse = node.flag("inverse"), onesided = node.flag("onesided");
  if (inverse && onesided) {
    // The other half of the spectrum is the conjugate of this one.
    const int64_t half = x.size(axis), length = node.integer_or(1, 2 * (half - 1));
    const int64_t missing = length - half;
    const Tensor mirrored = flip(slice(x, axis, 1, 1 + missing), {axis});
    const Tensor conjugate = stack({select(mirrored, -1, 0), neg(select(mirrored, -1, 1))}, -1);
    return {slice(transformed(node, cat({x, conjugate}, axis), axis, length, true, false), -1, 0, 1)};
  }
  return {transformed(node, x, axis, node.integer_or(1, x.size(axis)), inverse, onesided)};
}

std::vector<Tensor> short_time_transform(NodeCall& node) {
  const Tensor& signal = node.tensor(0);
  const int64_t step = node.integer(1);
  const bool onesided = node.flag("onesided", true);
  const int64_t length = node.has(3) ? node.integer(3) : node.tensor(2).size(0);
  const Tensor x = signal.rank() == 2 ? unsqueeze(signal, -1) : signal;  // (batch, time, parts)
  Tensor frames = permute(unfold(x, 1, length, step), {0, 1, 3, 2});     // (batch, frames, length, parts)
  if (node.has(2)) {
    const int64_t window_length = node.tensor(2).size(0), before = (length - window_length) / 2;
    const Tensor window = pad(node.tensor(2), {before, length - window_length - before}, "constant", 0);
    frames = mul(frames, unsqueeze(window, -1));
  }
  return {transformed(node, frames, 2, length, false, onesided)};
}

// A sum of cosines: a + b cos + c cos of twice the angle.
template <int a, int b, int c, int d>
std::vector<Tensor> window(NodeCall& node) {
  const int64_t size = node.integer(0);
  const double length = static_cast<double>(node.flag("periodic", true) ? size : size - 1);
  check_table(Sizes{size});
  const DType dtype = node.dtype("output_datatype", float32);
  return {node.constant({static_cast<double>(size)}, size, [&] {
    std::vector<double> values;
    for (int64_t i = 0; i < size; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / length;
      values.push_back((a - b * std::cos(angle) + c * std::cos(2 * angle)) / static_cast<double>(d));
    }
    return Tensor::copy_of(values, {size}).to(dtype);
  })};
}

std::vector<Tensor> hamming_window(NodeCall& node) { return window<25, 21, 0, 46>(node); }
std::vector<Tensor> hann_window(NodeCall& node) { return window<1, 1, 0, 2>(node); }
std::vector<Tensor> blackman_window(NodeCall& node) { return window<42, 50, 8, 100>(node); }

std::vector<Tensor> mel_weights(NodeCall& node) {
  const int64_t bins = node.integer(0), length = node.integer(1), rate = node.integer(2);
  const double low = node.number(3), high = node.number(4);
  const auto to_mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const int64_t count = length / 2 + 1;
  if (bins < 0 || length < 0 || rate < 1 || !(low >= 0 && high >= low && high <= static_cast<double>(rate)))
    throw InvalidArgument("it needs 0 <= lower edge <= upper edge <= sample rate, and sizes that are not negative");
  check_table(Sizes{count});
  check_table(Sizes{bins});
  check_table(Sizes{count, bins});
  std::vector<int64_t> edges;
  const double first = to_mel(low), step = (to_mel(high) - first) / static_cast<double>(bins + 2);
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + first) / 2595) - 1);
    edges.push_back(
        static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
  }
  std::vector<double> weights(static_cast<size_t>(count * bins), 0);
  for (int64_t bin = 0; bin < bins; ++bin) {
    const int64_t left = edges[static_cast<size_t>(bin)], center = edges[static_cast<size_t>(bin) + 1],
                  right = edges[static_cast<size_t>(bin) + 2];
    const auto at = [&](int64_t row) -> double& { return weights[static_cast<size_t>(row * bins + bin)]; };
    if (center == left && center < count) at(center) = 1;
    for (int64_t row = left; row <= center && row < count; ++row)
      if (center != left) at(row) = static_cast<double>(row - left) / static_cast<double>(center - left);
    for (int64_t row = center; row < right && row < count; ++row)
      at(row) = static_cast<double>(right - row) / static_cast<double>(right - center);
  }
  const DType dtype = node.dtype("output_datatype", float32);
  return {node.constant(weights, count * bins, [&] { return Tensor::copy_of(weights, {count, bins}).to(dtype); })};
}

constexpr std::array kOperators{
    Operator{"BlackmanWindow", 17, blackman_window}, Operator{"DFT", 17, fourier_transform},
    Operator{"HammingWindow", 17, hamming_window},   Operator{"HannWindow", 17, hann_window},
    Operator{"MelWeightMatrix", 17, mel_weights},    Operator{"STFT", 17, short_time_transform},
};

}  // namespace

std::span<const Operator> signal_operators() { return kOperators; }

}  // namespace oneflow::onnx
