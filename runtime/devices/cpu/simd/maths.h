// The functions that operator definitions may call in their expressions, such as exp, floordiv or maximum, for all
// compute types.
//
// The compiler vectorises loops that call them. This header may contain static functions only (see simd/isa.h).
#ifndef ONEFLOW_DEVICES_CPU_SIMD_MATHS_H_
#define ONEFLOW_DEVICES_CPU_SIMD_MATHS_H_

#include "simd/element.h"
#include "simd/vector_functions.h"

namespace oneflow::cpu::maths {

#define OF_OVERLOADS(name)                                           \
  static inline float name(float x) { return of_##name##_float(x); } \
  static inline double name(double x) { return of_##name##_double(x); }
OF_OVERLOADS(exp)
OF_OVERLOADS(exp2)
OF_OVERLOADS(expm1)
OF_OVERLOADS(log)
OF_OVERLOADS(log2)
OF_OVERLOADS(log10)
OF_OVERLOADS(sin)
OF_OVERLOADS(cos)
OF_OVERLOADS(tan)
OF_OVERLOADS(asin)
OF_OVERLOADS(acos)
OF_OVERLOADS(atan)
OF_OVERLOADS(atanh)
OF_OVERLOADS(erfc)
OF_OVERLOADS(lgamma)
#undef OF_OVERLOADS
// SLEEF's log1p returns infinity for arguments close to the largest number. There, log(x) = log(x / 256) + log(256).
static inline float log1p(float x) {
  const bool is_large = x > 1e37f;
  const float result = of_log1p_float(is_large ? x * 0.00390625f : x);
  return is_large ? result + 5.54517744f : result;
}
static inline double log1p(double x) {
  const bool is_large = x > 1e306;
  const double result = of_log1p_double(is_large ? x * 0.00390625 : x);
  return is_large ? result + 5.545177444479562 : result;
}
// SLEEF's asinh and acosh return infinity if the square of the argument overflows. There, both are log(2 * |x|), which
// is twice that of the root of |x| / 2.
static inline float asinh(float x) {
  const float size = __builtin_fabsf(x);
  const bool is_large = 1e18f < size;
  const float result = of_asinh_float(is_large ? __builtin_copysignf(__builtin_sqrtf(size * 0.5f), x) : x);
  return is_large ? 2 * result : result;
}
static inline double asinh(double x) {
  const double size = __builtin_fabs(x);
  const bool is_large = 1e150 < size;
  const double result = of_asinh_double(is_large ? __builtin_copysign(__builtin_sqrt(size * 0.5), x) : x);
  return is_large ? 2 * result : result;
}
static inline float acosh(float x) {
  const bool is_large = 1e18f < x;
  const float result = of_acosh_float(is_large ? __builtin_sqrtf(x * 0.5f) : x);
  return is_large ? 2 * result : result;
}
static inline double acosh(double x) {
  const bool is_large = 1e150 < x;
  const double result = of_acosh_double(is_large ? __builtin_sqrt(x * 0.5) : x);
  return is_large ? 2 * result : result;
}
// SLEEF's sinh and cosh return infinity before the result overflows. There, both are those of |x| - 5.5, which is
// exact, times exp(5.5).
#define OF_HYPERBOLIC(name, T, limit)                                                 \
  static inline T name(T x) {                                                         \
    const bool is_large = T(limit) < (x < 0 ? -x : x);                                \
    const T result = of_##name##_##T(is_large ? x < 0 ? x + T(5.5) : x - T(5.5) : x); \
    return is_large ? result * T(244.69193226422039) : result;                        \
  }
OF_HYPERBOLIC(sinh, float, 85)
OF_HYPERBOLIC(cosh, float, 85)
OF_HYPERBOLIC(sinh, double, 700)
OF_HYPERBOLIC(cosh, double, 700)
#undef OF_HYPERBOLIC
static inline float atan2(float y, float x) { return of_atan2_float(y, x); }
static inline double atan2(double y, double x) { return of_atan2_double(y, x); }

// Returns a * b + c, rounded once if the machine has a fused instruction.
static inline float multiply_add(float a, float b, float c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

// Returns the polynomial first + x * (second + x * ...). It is recursive, because the compiler does not vectorise loops
// around a loop.
static inline float polynomial(float, float first) { return first; }
template <class... Floats>
static inline float polynomial(float x, float first, Floats... others) {
  return multiply_add(polynomial(x, others...), x, first);
}

// Returns `quotient`, a function of |x| that increases from 0 to 1 and reaches 1 at `limit`, with the sign of x. The
// result is at most 1, and exactly 1 from the limit on, where the quotient may be anything. NaN stays NaN.
static inline float saturate(float quotient, float x, float limit) {
  const float at_most_1 = 1.0f < quotient ? 1.0f : quotient;
  return __builtin_copysignf(limit <= __builtin_fabsf(x) ? 1.0f : at_most_1, x);
}

// In double precision, tanh and erf are SLEEF's. In single precision, a quotient of minimax polynomials in x squared is
// faster; the tests bound its errors. Both functions are odd, so that the sign is set last: clamping to two limits
// would compile to branches.
static inline double tanh(double x) { return of_tanh_double(x); }
static inline float tanh(float x) {
  const float square = x * x;
  const float numerator = polynomial(square, 0.999999999f, 0.136761488f, 0.00386360788f, 2.79122262e-05f,
                                     3.03561761e-08f, -1.20340717e-11f);
  const float denominator = polynomial(square, 1.0f, 0.470094807f, 0.027228566f, 0.000393030916f, 1.28071431e-06f);
  return saturate(__builtin_fabsf(x) * numerator / denominator, x, 9.02f);
}

static inline double erf(double x) { return of_erf_double(x); }
static inline float erf(float x) {
  const float square = x * x;
  const float numerator =
      polynomial(square, 1.12837914f, 0.1935404f, 0.053101128f, 0.00388314357f, 0.000284561275f, 1.98681656e-06f);
  const float denominator =
      polynomial(square, 1.0f, 0.504853271f, 0.115348071f, 0.0152068504f, 0.0011855223f, 3.74202878e-05f);
  return saturate(__builtin_fabsf(x) * numerator / denominator, x, 3.92f);
}

// ---------------------------------------------------------------- rounding and signs

static inline float sqrt(float x) { return __builtin_sqrtf(x); }
static inline double sqrt(double x) { return __builtin_sqrt(x); }
template <class T>
static inline T rsqrt(T x) {
  return T{1} / sqrt(x);
}

template <class T>
static inline T sigmoid(T x) {
  return T{1} / (T{1} + exp(-x));
}

// floor, ceil, trunc and round return integers and bool unchanged.
template <class T>
static inline T floor(T x) {
  if constexpr (is_same_type<T, float>) return __builtin_floorf(x);
  if constexpr (is_same_type<T, double>) return __builtin_floor(x);
  return x;
}
template <class T>
static inline T ceil(T x) {
  if constexpr (is_same_type<T, float>) return __builtin_ceilf(x);
  if constexpr (is_same_type<T, double>) return __builtin_ceil(x);
  return x;
}
template <class T>
static inline T trunc(T x) {
  if constexpr (is_same_type<T, float>) return __builtin_truncf(x);
  if constexpr (is_same_type<T, double>) return __builtin_trunc(x);
  return x;
}
// Rounds to the nearest integer, ties to even.
template <class T>
static inline T round(T x) {
  if constexpr (is_same_type<T, float>) return __builtin_rintf(x);
  if constexpr (is_same_type<T, double>) return __builtin_rint(x);
  return x;
}

template <class T>
static inline T product(T x, T y) {
  return x * y;
}
static inline bool product(bool x, bool y) { return x & y; }
// Returns a complex product, of whose four real products each is rounded. The compiler's own product fuses them with
// the additions in vector code, but not in the scalar code for the last elements, so that results would depend on the
// index.
#if __has_builtin(__builtin_assoc_barrier)
#define OF_ROUNDED(value) __builtin_assoc_barrier(value)
#else
#define OF_ROUNDED(value) (value)
#endif
#define OF_COMPLEX_PRODUCT(Complex)                                                              \
  static inline Complex product(Complex x, Complex y) {                                          \
    Complex result;                                                                              \
    __real__ result = OF_ROUNDED(__real__ x * __real__ y) - OF_ROUNDED(__imag__ x * __imag__ y); \
    __imag__ result = OF_ROUNDED(__real__ x * __imag__ y) + OF_ROUNDED(__imag__ x * __real__ y); \
    return result;                                                                               \
  }
OF_COMPLEX_PRODUCT(complex64)
OF_COMPLEX_PRODUCT(complex128)
#undef OF_COMPLEX_PRODUCT
#undef OF_ROUNDED

template <class T>
static inline T abs(T x) {
  if constexpr (is_same_type<T, float>) return __builtin_fabsf(x);
  if constexpr (is_same_type<T, double>) return __builtin_fabs(x);
  return x < T{0} ? static_cast<T>(-x) : x;
}
// Returns -1, 0 or 1; 0 for NaN.
template <class T>
static inline T sign(T x) {
  return static_cast<T>((x > T{0}) - (x < T{0}));
}
// Returns the largest power of 2 that is at most |x|; 0 for 0. Of a floating-point number, it clears all bits but those
// of the exponent.
template <class T>
static inline T power_of_2(T x) {
  if constexpr (is_same_type<T, float>) {
    return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, x) & 0x7f800000);
  } else if constexpr (is_same_type<T, double>) {
    return __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, x) & 0x7ff0000000000000);
  } else {
    uint64_t left = static_cast<uint64_t>(x < T{0} ? -static_cast<int64_t>(x) : static_cast<int64_t>(x)),
             power = left != 0;
    for (; left > 1; left >>= 1) power <<= 1;
    return static_cast<T>(power);
  }
}
template <class T>
static inline T copysign(T x, T y) {
  if constexpr (is_same_type<T, float>) return __builtin_copysignf(x, y);
  if constexpr (is_same_type<T, double>) return __builtin_copysign(x, y);
  return (x < T{0}) == (y < T{0}) ? x : static_cast<T>(-x);
}

template <class T>
static inline bool isnan(T x) {
  return x != x;
}
template <class T>
static inline bool isinf(T x) {
  if constexpr (is_floating<T>) return abs(x) == static_cast<T>(__builtin_inf());
  return false;
}
template <class T>
static inline bool isfinite(T x) {
  if constexpr (is_floating<T>) return abs(x) < static_cast<T>(__builtin_inf());
  return true;
}

// The operators `and` and `or`, without a branch.
static inline bool both(bool a, bool b) { return a & b; }
static inline bool either(bool a, bool b) { return a | b; }
// A conditional whose values are both computed. GCC would move the call of a function into the branch of `? :` that
// needs it, and could then not vectorise the loop: the bits of floating-point values are blended instead.
template <class Bits, class T>
static inline T blend(bool condition, T a, T b) {
  const Bits mask = -static_cast<Bits>(condition);
  return __builtin_bit_cast(T, (__builtin_bit_cast(Bits, a) & mask) | (__builtin_bit_cast(Bits, b) & ~mask));
}
static inline float select(bool condition, float a, float b) { return blend<uint32_t>(condition, a, b); }
static inline double select(bool condition, double a, double b) { return blend<uint64_t>(condition, a, b); }
template <class A, class B>
static inline auto select(bool condition, A a, B b) {
  return condition ? a : b;
}

// ---------------------------------------------------------------- special functions

static inline float power(float base, float exponent) { return of_pow_float(base, exponent); }
static inline double power(double base, double exponent) { return of_pow_double(base, exponent); }

#define OF_DEVICE static inline
#define OF_FUNCTION(name) name
#define OF_POWER(x, y) power(x, y)
#define T_FLOATING 1
#define T float
#include "../grid/kernels/special_functions.h"
#undef T
#define T double
#include "../grid/kernels/special_functions.h"
#undef T
#undef T_FLOATING
#undef OF_POWER
#undef OF_FUNCTION
#undef OF_DEVICE

// ---------------------------------------------------------------- order

// highest() and lowest(): the largest and smallest values of a type, infinities included.
template <class T>
static constexpr T highest() {
  if constexpr (is_same_type<T, bool>) return true;
  if constexpr (is_floating<T>) return static_cast<T>(__builtin_inf());
  return static_cast<T>(~(uint64_t{1} << 63) >> (64 - 8 * sizeof(T)));
}
template <class T>
static constexpr T lowest() {
  if constexpr (is_same_type<T, bool>) return false;
  return static_cast<T>(-highest<T>() - (is_floating<T> ? T{0} : T{1}));
}

// minimum() and maximum() return NaN if either of the values is NaN. They are written as two selections, of one
// instruction each: one selection with both conditions is not vectorised in every context.
template <class T>
static inline T minimum(T a, T b) {
  const T lower = a < b ? a : b;
  return a != a ? a : lower;
}
template <class T>
static inline T maximum(T a, T b) {
  const T higher = a > b ? a : b;
  return a != a ? a : higher;
}

// Returns an index after every position, the identity of reductions that select the first position.
static constexpr int64_t last_index() { return highest<int64_t>(); }

// Returns whether two values are equal; NaN equals NaN.
template <class T>
static inline bool same(T a, T b) {
  return (a == b) | ((a != a) & (b != b));
}

// first_of_max() and first_of_min() return whether `a` at position `at_a` is selected over `b`: NaN first, then by
// value, then the lower position.
template <class T>
static inline bool first_of_max(T a, int64_t at_a, T b, int64_t at_b) {
  return same(a, b) ? at_a < at_b : (a > b) | (a != a);
}
template <class T>
static inline bool first_of_min(T a, int64_t at_a, T b, int64_t at_b) {
  return same(a, b) ? at_a < at_b : (a < b) | (a != a);
}

// ---------------------------------------------------------------- division, powers, shifts

// Returns the quotient rounded towards zero. Integer division by zero sets `failed` and returns 0, because the
// instruction would end the process. The same holds for the functions below that take `failed`.
template <class T>
static inline T truncdiv(T a, T b, bool& failed) {
  if constexpr (is_floating<T>) {
    return trunc(a / b);
  } else {
    failed |= b == 0;
    return b == 0 ? T{0} : b == T{-1} ? static_cast<T>(-a) : static_cast<T>(a / b);
  }
}

static inline float fmod(float a, float b) { return of_fmod_float(a, b); }
static inline double fmod(double a, double b) { return of_fmod_double(a, b); }

// Returns the remainder of the division rounded towards zero, which has the sign of a.
template <class T>
static inline T fmod(T a, T b, bool& failed) {
  if constexpr (is_floating<T>) {
    return fmod(a, b);
  } else {
    failed |= b == 0;
    return b == 0 || b == T{-1} ? T{0} : static_cast<T>(a % b);
  }
}

// Returns whether the remainder `rest` of a division by b rounded towards zero differs from that of one rounded down.
template <class T>
static inline bool differ_in_sign(T rest, T b) {
  return (rest != T{0}) & ((rest < T{0}) != (b < T{0}));
}

// Returns the remainder of the division rounded down, which has the sign of b.
template <class T>
static inline T remainder(T a, T b, bool& failed) {
  const T rest = fmod(a, b, failed);
  return differ_in_sign(rest, b) ? static_cast<T>(rest + b) : rest;
}

// Returns the quotient rounded down.
template <class T>
static inline T floordiv(T a, T b, bool& failed) {
  if constexpr (is_floating<T>) {
    const T rest = fmod(a, b);
    // a - rest is a multiple of b, so that the quotient is near an integer.
    const T whole = (a - rest) / b;
    const T quotient = differ_in_sign(rest, b) ? whole - T{1} : whole;
    const T lower = floor(quotient);
    const T nearest = quotient - lower > static_cast<T>(0.5) ? lower + T{1} : lower;
    const T signed_nearest = quotient == T{0} ? copysign(T{0}, a / b) : nearest;
    return b == T{0} ? a / b : signed_nearest;
  } else {
    const T quotient = truncdiv(a, b, failed);
    const T rest = b == T{0} ? T{0} : static_cast<T>(a - quotient * b);  // a second division would take longer
    return differ_in_sign(rest, b) ? static_cast<T>(quotient - 1) : quotient;
  }
}

// Returns a power. Integers wrap around. A negative power of an integer is truncated: it is 0 unless the base is 1 or
// -1. That of 0 is a division by zero.
template <class T>
static inline T pow(T base, T exponent, bool& failed) {
  if constexpr (is_same_type<T, float>) {
    return of_pow_float(base, exponent);
  } else if constexpr (is_same_type<T, double>) {
    return of_pow_double(base, exponent);
  } else {
    if (exponent < T{0}) {
      failed |= base == T{0};
      if (base == T{1}) return T{1};
      if (base != T{-1}) return T{0};
    }
    T result = 1;
    for (T factor = base, left = exponent < T{0} ? static_cast<T>(exponent & 1) : exponent; left > 0; left >>= 1) {
      if (left & 1) result *= factor;
      factor *= factor;
    }
    return result;
  }
}

// Returns the greatest common divisor, which is not negative; that of 0 and 0 is 0.
template <class T>
static inline T gcd(T a, T b) {
  // The lowest integer is its own absolute value, which the conversion to more bits must not extend by its sign.
  constexpr uint64_t bits = ~uint64_t{0} >> (64 - 8 * sizeof(T));
  uint64_t divisor = static_cast<uint64_t>(abs(a)) & bits, rest = static_cast<uint64_t>(abs(b)) & bits;
  while (rest != 0) {
    const uint64_t last = rest;
    rest = divisor % rest;
    divisor = last;
  }
  return static_cast<T>(divisor);
}

// Returns the number at `index` of those from `start` to `end` in `steps` equal steps, from the nearer end on. Integers
// are truncated towards zero; their quotients are subtracted, as the difference of two integers may overflow.
template <class T>
static inline T spaced(T start, T end, int64_t index, T steps) {
  if constexpr (is_floating<T>) {
    const T at = static_cast<T>(index), distance = end - start;
    const bool is_far = __builtin_isinf(distance) && !__builtin_isinf(start) && !__builtin_isinf(end);
    const T step = is_far ? end / steps - start / steps : distance / steps;
    return at < (steps + T{1}) / T{2} ? start + at * step : end - (steps - at) * step;
  } else {
    const int64_t from = start, to = end, count = steps;
    const auto whole = static_cast<uint64_t>(to / count) - static_cast<uint64_t>(from / count);
    const int64_t scaled = index * (to % count - from % count), rest = scaled % count;
    const auto floor = static_cast<int64_t>(from + index * whole + scaled / count - (rest < 0));
    return static_cast<T>(floor + (floor < 0 && rest != 0));
  }
}

// shift_left() and shift_right(): a negative amount, or one of at least the type's width, shifts out every bit.
template <class T>
static inline T shift_left(T value, T by) {
  return by < T{0} || by >= static_cast<T>(8 * sizeof(T)) ? T{0} : static_cast<T>(value << by);
}
template <class T>
static inline T shift_right(T value, T by) {
  constexpr T most = 8 * sizeof(T) - 1;
  return static_cast<T>(value >> (by < T{0} || by > most ? most : by));
}

}  // namespace oneflow::cpu::maths

#endif  // ONEFLOW_DEVICES_CPU_SIMD_MATHS_H_
