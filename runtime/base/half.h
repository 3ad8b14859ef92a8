// float16 and bfloat16 as storage: conversions to and from float, rounding to nearest even.
#ifndef ONEFLOW_BASE_HALF_H_
#define ONEFLOW_BASE_HALF_H_

#include <bit>
#include <cstdint>

namespace oneflow {

struct Float16 {
  uint16_t bits;
};

struct BFloat16 {
  uint16_t bits;
};

inline float to_float(BFloat16 value) { return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16); }

inline BFloat16 to_bfloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value) return {static_cast<uint16_t>(bits >> 16 | 0x40)};  // keeps a NaN a NaN
  bits += 0x7fff + (bits >> 16 & 1);
  return {static_cast<uint16_t>(bits >> 16)};
}

float to_float(Float16 value);
Float16 to_float16(float value);
// From double in one step: rounding twice (over float) could be off by one.
Float16 to_float16(double value);
BFloat16 to_bfloat16(double value);

}  // namespace oneflow

#endif  // ONEFLOW_BASE_HALF_H_
