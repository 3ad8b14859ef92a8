#include "base/half.h"

namespace oneflow {
namespace {

// Converts a double to float by rounding to odd: sets the last bit if the conversion is inexact. Rounding the result to
// fewer bits then gives the same number as rounding the double directly.
float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  if (back == value || value != value) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if ((back > value) == (value > 0)) --bits;  // rounded away from zero: step back
  return std::bit_cast<float>(bits | 1);
}

}  // namespace

float to_float(Float16 value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000) << 16;
  const uint32_t exponent = value.bits >> 10 & 0x1f;
  const uint32_t mantissa = value.bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

Float16 to_float16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00 | (bits >> 13 & 0x3ff))};  // NaN
  if (bits >= 0x47800000) return {static_cast<uint16_t>(sign | 0x7c00)};                        // 65536 and more
  if (bits < 0x38800000) {
    // Subnormal numbers are multiples of 2^-24, as floats between 0.5 and 1 are: adding 0.5 makes the processor round.
    const float sum = std::bit_cast<float>(bits) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(sum) - std::bit_cast<uint32_t>(0.5f)))};
  }
  bits += 0xfff + (bits >> 13 & 1);
  return {static_cast<uint16_t>(sign | ((bits >> 13) - (112 << 10)))};
}

Float16 to_float16(double value) { return to_float16(round_to_odd(value)); }

BFloat16 to_bfloat16(double value) { return to_bfloat16(round_to_odd(value)); }

}  // namespace oneflow
