#include "ops/program_functions.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace oneflow {

namespace {

// Returns the length of an integer range. Computes in 128 bits, because the difference of two int64 may overflow.
int64_t integer_range_length(int64_t start, int64_t end, int64_t step) {
  const __int128 distance = static_cast<__int128>(end) - start;
  const __int128 length = (distance + step + (step > 0 ? -1 : 1)) / step;
  if (length > INT64_MAX) fail(OF_SHAPE_ERROR, "the range has more elements than can be counted");
  return static_cast<int64_t>(length);
}

}  // namespace

Integer range_length(const of_scalar& start, const of_scalar& end, const of_scalar& step) {
  const double distance = to_double(end) - to_double(start);
  const double stride = to_double(step);
  if (stride == 0) fail(OF_INVALID_ARGUMENT, "step must not be zero");
  if (!std::isfinite(distance) || std::isnan(stride))
    fail(OF_INVALID_ARGUMENT, "the range must be finite, got %s to %s", to_text(start).c_str(), to_text(end).c_str());
  if (distance != 0 && (distance > 0) != (stride > 0))
    fail(OF_INVALID_ARGUMENT, "cannot go from %s to %s with step %s", to_text(start).c_str(), to_text(end).c_str(),
         to_text(step).c_str());
  const bool is_integer = start.kind != OF_SCALAR_FLOAT && end.kind != OF_SCALAR_FLOAT && step.kind != OF_SCALAR_FLOAT;
  if (is_integer) return integer_range_length(to_int64(start), to_int64(end), to_int64(step));
  const double length = std::ceil(distance / stride);
  if (length >= 0x1p63) fail(OF_SHAPE_ERROR, "the range has more elements than can be counted");
  return static_cast<int64_t>(length);
}

bool can_repeat(const of_value& indices) {
  const std::span tensors(indices.as.tensors, static_cast<size_t>(indices.count));
  return std::any_of(tensors.begin(), tensors.end(),
                     [](of_tensor index) { return index && to_tensor(index)->dtype() != OF_BOOL; });
}

Integers kept_sizes(const Tensor& tensor, const of_value& dims) {
  const Sizes named = dims.kind == OF_VALUE_INT    ? Sizes(&dims.as.integer, 1)
                      : dims.kind == OF_VALUE_NONE ? Sizes()
                                                   : Sizes(dims.as.integers, static_cast<size_t>(dims.count));
  Integers kept;
  for (int d = 0; d < tensor.rank(); ++d) kept.push_back(named.empty() || contains(named, d) ? 1 : tensor.size(d));
  return kept;
}

Integers inverse(Sizes permutation) {
  Shape positions(permutation);
  for (size_t i = 0; i < permutation.size(); ++i) positions[static_cast<int>(permutation[i])] = static_cast<int64_t>(i);
  return positions;
}

Integer floor(double number) {
  const double whole = std::floor(number);
  if (!(whole >= -0x1p63 && whole < 0x1p63)) fail_with(OF_INVALID_ARGUMENT, "{} is too large for an integer", number);
  return static_cast<int64_t>(whole);
}

double largest(of_dtype dtype) {
  switch (dtype) {
    case OF_FLOAT64:
      return std::numeric_limits<double>::max();
    case OF_FLOAT16:
      return 65504.0;
    case OF_BFLOAT16:
      return 0x1.fep127;
    default:
      return std::numeric_limits<float>::max();
  }
}

double lowest(of_dtype dtype) {
  switch (dtype) {
    case OF_INT8:
      return std::numeric_limits<int8_t>::min();
    case OF_INT16:
      return std::numeric_limits<int16_t>::min();
    case OF_INT32:
      return std::numeric_limits<int32_t>::min();
    case OF_INT64:
      return static_cast<double>(std::numeric_limits<int64_t>::min());
    default:
      return is_floating(dtype) ? -std::numeric_limits<double>::infinity() : 0;
  }
}

double largest_below(double number, of_dtype dtype) {
  const double nearest = to_double(rounded(float_scalar(number), dtype));
  if (nearest < number) return nearest;
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  if (dtype == OF_FLOAT64) return std::nextafter(nearest, kLowest);
  if (dtype == OF_FLOAT32) return std::nextafter(static_cast<float>(nearest), static_cast<float>(kLowest));
  uint16_t bits;
  write_element(&bits, dtype, float_scalar(nearest));
  bits = static_cast<uint16_t>(nearest > 0 ? bits - 1 : nearest < 0 ? bits + 1 : 0x8001);
  return to_double(read_element(&bits, dtype));
}

double epsilon(of_dtype dtype) {
  switch (dtype) {
    case OF_FLOAT64:
      return 0x1p-52;
    case OF_FLOAT16:
      return 0x1p-10;
    case OF_BFLOAT16:
      return 0x1p-7;
    default:
      return 0x1p-23;
  }
}

void fail_with_texts(of_status status, std::string_view text, std::initializer_list<std::string> values) {
  std::string result;
  for (const std::string& value : values) {
    const size_t at = text.find("{}");
    result.append(text.substr(0, at)).append(value);
    text.remove_prefix(at + 2);
  }
  throw Error(status, result.append(text));
}

}  // namespace oneflow
