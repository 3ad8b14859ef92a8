// The C++ types of tensor elements, and the conversion of one value between them: convert<To>(value).
//
// This header is compiled for several instruction sets, so that it may contain static functions only (see simd/isa.h).
#ifndef ONEFLOW_DEVICES_CPU_SIMD_ELEMENT_H_
#define ONEFLOW_DEVICES_CPU_SIMD_ELEMENT_H_

#include <oneflow/types.h>

namespace oneflow::cpu {

// GCC has _Float16 for arm64 from version 13 on. __fp16 has the same format, and computes in float.
#if defined(__aarch64__) && !defined(__clang__) && __GNUC__ < 13
using float16 = __fp16;
#else
using float16 = _Float16;
#endif

// The upper half of a float32.
struct bfloat16 {
  uint16_t bits;
};

// The compiler's own complex types: it vectorises loops over them, but not loops over a struct of two parts.
__extension__ typedef __complex__ float complex64;
__extension__ typedef __complex__ double complex128;

// Calls visit(T{}) with the C++ type of a real dtype.
template <class Visit>
static inline auto visit_dtype(of_dtype dtype, Visit&& visit) {
  switch (dtype) {
    case OF_BOOL:
      return visit(bool{});
    case OF_UINT8:
      return visit(uint8_t{});
    case OF_INT8:
      return visit(int8_t{});
    case OF_INT16:
      return visit(int16_t{});
    case OF_INT32:
      return visit(int32_t{});
    case OF_UINT16:
      return visit(uint16_t{});
    case OF_UINT32:
      return visit(uint32_t{});
    case OF_UINT64:
      return visit(uint64_t{});
    case OF_FLOAT16:
      return visit(float16{});
    case OF_BFLOAT16:
      return visit(bfloat16{});
    case OF_FLOAT32:
      return visit(float{});
    case OF_FLOAT64:
      return visit(double{});
    default:
      return visit(int64_t{});
  }
}

// Returns the bytes of an element.
static inline int64_t item_size(of_dtype dtype) {
  if (dtype == OF_COMPLEX64) return sizeof(complex64);
  if (dtype == OF_COMPLEX128) return sizeof(complex128);
  return visit_dtype(dtype, [](auto value) { return static_cast<int64_t>(sizeof value); });
}

template <class T>
constexpr bool is_floating = false;
template <>
inline constexpr bool is_floating<float> = true;
template <>
inline constexpr bool is_floating<double> = true;
template <>
inline constexpr bool is_floating<float16> = true;
template <>
inline constexpr bool is_floating<bfloat16> = true;

template <class A, class B>
constexpr bool is_same_type = false;
template <class A>
inline constexpr bool is_same_type<A, A> = true;

// The type with which loops read and write values of T: T itself, but uint8_t for bool. GCC vectorises loops that
// compare bytes, but not loops that read bool. Also, foreign memory may hold any nonzero byte for true.
template <class T>
struct StoredType {
  using Type = T;
};
template <>
struct StoredType<bool> {
  using Type = uint8_t;
};
template <class T>
using Stored = typename StoredType<T>::Type;

static inline float widen(bfloat16 value) { return __builtin_bit_cast(float, static_cast<uint32_t>(value.bits) << 16); }

// Rounds to the nearest bfloat16, ties to even. A NaN stays a NaN.
static inline bfloat16 narrow(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return bfloat16{static_cast<uint16_t>(value != value ? 0x7fc0 : rounded)};
}

// Converts a floating-point value to the signed integer type T, rounding towards zero. NaN and values out of range give
// the lowest value of T on every machine, as the conversion instruction of x86 does.
template <class T, class F>
static inline T truncate_to(F value) {
  constexpr T lowest = static_cast<T>(T{1} << (sizeof(T) * 8 - 1));
  constexpr F limit = -static_cast<F>(lowest);
  return value >= -limit && value < limit ? static_cast<T>(value) : lowest;
}

// Converts a number to float by rounding to odd: the last bit is set if the result is inexact. Rounding this to a type
// of fewer bits gives what rounding the number itself would give; rounding the nearest float may round twice.
template <class From>
static inline float round_to_odd(From value) {
  if constexpr (sizeof(From) <= 2 || is_same_type<From, float>) {
    return static_cast<float>(value);  // exact
  } else if constexpr (is_same_type<From, int64_t> || is_same_type<From, uint64_t>) {
    // A double has 53 bits: the 11 bits below them only say whether there is more.
    constexpr From below = 0x7ff, above = From{1} << 53;
    const bool is_small = value < above && (is_same_type<From, uint64_t> || value > From{0} - above);
    const From odd = (value & ~below) | (value & below ? below + 1 : 0);
    return round_to_odd(static_cast<double>(is_small ? value : odd));
  } else {
    const double wide = static_cast<double>(value);
    const float nearest = static_cast<float>(wide);
    const double back = nearest;
    const uint32_t bits = __builtin_bit_cast(uint32_t, nearest);
    const uint32_t towards_zero = bits - ((back > wide) == (wide > 0));
    return back == wide || wide != wide ? nearest : __builtin_bit_cast(float, towards_zero | 1);
  }
}

// Converts a value from any real element type to any other. Integers wrap around, bool is `value != 0`, floats are
// rounded once.
template <class To, class From>
static inline To convert(From value) {
  if constexpr (is_same_type<To, From>) {
    return value;
  } else if constexpr (is_same_type<From, bfloat16>) {
    return convert<To>(widen(value));
  } else if constexpr (is_same_type<To, bool>) {
    return value != From{0};
  } else if constexpr (is_same_type<To, bfloat16>) {
    return narrow(round_to_odd(value));
  } else if constexpr (is_same_type<To, float16>) {
    return static_cast<float16>(round_to_odd(value));
  } else if constexpr (is_floating<From> && !is_floating<To>) {
    if constexpr (is_same_type<From, float16>) {
      return convert<To>(static_cast<float>(value));
    } else if constexpr (is_same_type<To, uint64_t>) {
      return value >= From{9223372036854775808.0} && value < From{18446744073709551616.0}
                 ? static_cast<uint64_t>(value)
                 : static_cast<uint64_t>(truncate_to<int64_t>(value));
    } else if constexpr (is_same_type<To, int64_t> || is_same_type<To, uint32_t>) {
      return static_cast<To>(truncate_to<int64_t>(value));
    } else {
      return static_cast<To>(truncate_to<int32_t>(value));
    }
  } else {
    return static_cast<To>(value);
  }
}

// Converts a number of the runtime's interface.
template <class To>
static inline To scalar_to(const of_scalar& scalar) {
  switch (scalar.kind) {
    case OF_SCALAR_FLOAT:
      return convert<To>(scalar.as.real);
    case OF_SCALAR_UINT:
      return convert<To>(scalar.as.natural);
    case OF_SCALAR_BOOL:
    case OF_SCALAR_INT:
      break;
  }
  return convert<To>(scalar.as.integer);
}

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_SIMD_ELEMENT_H_
