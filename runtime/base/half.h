// The storage types float16 and bfloat16, and their conversions, which round to nearest even.
#ifndef ONEFLOW_BASE_HALF_H_
#define ONEFLOW_BASE_HALF_H_

#include <bit>
#include <cstdint>

namespace oneflow {

// An IEEE 754 binary16 number.
struct Float16 {
  uint16_t bits;
};

// The upper 16 bits of an IEEE 754 binary32 number.
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
// Converts a double with a single rounding; rounding to float first could give the wrong neighbour.
Float16 to_float16(double value);
BFloat16 to_bfloat16(double value);

}  // namespace oneflow

#endif  // ONEFLOW_BASE_HALF_H_
