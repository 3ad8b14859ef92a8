// The functions of scalar expressions, for all compute types.
//
// Loops over them vectorise. Static functions only (see isa.h).
#ifndef ONEFLOW_DEVICES_CPU_MATHS_H_
#define ONEFLOW_DEVICES_CPU_MATHS_H_

#include "element.h"
#include "vector_functions.h"

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
OF_OVERLOADS(sinh)
OF_OVERLOADS(cosh)
OF_OVERLOADS(asinh)
OF_OVERLOADS(acosh)
OF_OVERLOADS(atanh)
OF_OVERLOADS(erfc)
OF_OVERLOADS(lgamma)
#undef OF_OVERLOADS
// SLEEF's gives infinity close to the largest number: log(x) = log(x / 256) + log(256) there.
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
static inline float atan2(float y, float x) { return of_atan2_float(y, x); }
static inline double atan2(double y, double x) { return of_atan2_double(y, x); }

// a * b + c, rounded once where the machine can.
static inline float multiply_add(float a, float b, float c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

// first + x * (second + x * ...). Recursive rather than a loop, which would keep loops around it from being vectorised.
static inline float polynomial(float, float first) { return first; }
template <class... Floats>
static inline float polynomial(float x, float first, Floats... others) {
  return multiply_add(polynomial(x, others...), x, first);
}

// A function that grows from 0 to 1 and reaches 1 at `limit`: 1 from there on, and never more; with the sign of x. The
// quotient may be anything beyond the limit. NaN stays NaN.
static inline float saturate(float quotient, float x, float limit) {
  const float at_most_1 = 1.0f < quotient ? 1.0f : quotient;
  return __builtin_copysignf(limit <= __builtin_fabsf(x) ? 1.0f : at_most_1, x);
}

// The double-precision functions are SLEEF's. In single precision, a quotient of minimax polynomials in x squared is
// several times as fast; the tests hold its errors. Both are odd, so that the sign is set in the end: limits on two
// sides would become branches.
static inline double tanh(double x) { return of_tanh_double(x); }
static inline float tanh(float x) {
  const float square = x * x;
  const float above = polynomial(square, 0.999999999f, 0.136761488f, 0.00386360788f, 2.79122262e-05f, 3.03561761e-08f,
                                 -1.20340717e-11f);
  const float below = polynomial(square, 1.0f, 0.470094807f, 0.027228566f, 0.000393030916f, 1.28071431e-06f);
  return saturate(__builtin_fabsf(x) * above / below, x, 9.02f);
}

static inline double erf(double x) { return of_erf_double(x); }
static inline float erf(float x) {
  const float square = x * x;
  const float above =
      polynomial(square, 1.12837914f, 0.1935404f, 0.053101128f, 0.00388314357f, 0.000284561275f, 1.98681656e-06f);
  const float below =
      polynomial(square, 1.0f, 0.504853271f, 0.115348071f, 0.0152068504f, 0.0011855223f, 3.74202878e-05f);
  return saturate(__builtin_fabsf(x) * above / below, x, 3.92f);
}

// ---------------------------------------------------------------- rounding and signs

static inline float sqrt(float x) { return __builtin_sqrtf(x); }
static inline double sqrt(double x) { return __builtin_sqrt(x); }
template <class T>
static inline T rsqrt(T x) {
  return T{1} / sqrt(x);
}

// On integers and bool these change nothing.
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
// Ties go to the even neighbour.
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
// Four products, each of which is rounded: the compiler's own of complex numbers fuses them with the sums in vectors,
// but not behind the last one.
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
// NaN has no sign: 0.
template <class T>
static inline T sign(T x) {
  return static_cast<T>((x > T{0}) - (x < T{0}));
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

// `and` and `or`, without a branch.
static inline bool both(bool a, bool b) { return a & b; }
static inline bool either(bool a, bool b) { return a | b; }

// ---------------------------------------------------------------- order

// The lowest and the highest value of a type.
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

// A NaN on either side wins. Two selections, each of which is an instruction, where one over both conditions would not
// be vectorised in every context.
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

// Behind every position.
static constexpr int64_t last_index() { return highest<int64_t>(); }

// Whether a comes before b: NaN first, then by value, then by position.
template <class T>
static inline bool first_of_max(T a, int64_t at_a, T b, int64_t at_b) {
  const bool same = (a == b) | ((a != a) & (b != b));
  return same ? at_a < at_b : (a > b) | (a != a);
}
template <class T>
static inline bool first_of_min(T a, int64_t at_a, T b, int64_t at_b) {
  const bool same = (a == b) | ((a != a) & (b != b));
  return same ? at_a < at_b : (a < b) | (a != a);
}

// ---------------------------------------------------------------- division, powers, shifts

// Integer division by zero sets `failed`: the machine would stop the process.
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

// What is left of the division rounded towards zero: it has the sign of a.
template <class T>
static inline T fmod(T a, T b, bool& failed) {
  if constexpr (is_floating<T>) {
    return fmod(a, b);
  } else {
    failed |= b == 0;
    return b == 0 || b == T{-1} ? T{0} : static_cast<T>(a % b);
  }
}

// Whether the remainder of a division rounded towards zero is not that of one rounded down.
template <class T>
static inline bool differ_in_sign(T rest, T b) {
  return (rest != T{0}) & ((rest < T{0}) != (b < T{0}));
}

// What is left of the division rounded down: it has the sign of b.
template <class T>
static inline T remainder(T a, T b, bool& failed) {
  const T rest = fmod(a, b, failed);
  return differ_in_sign(rest, b) ? static_cast<T>(rest + b) : rest;
}

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
    const T rest = fmod(a, b, failed);
    return differ_in_sign(rest, b) ? static_cast<T>(quotient - 1) : quotient;
  }
}

// Integers wrap around; a negative power of an integer is what is left of the fraction: 0, or a power of 1 or -1.
template <class T>
static inline T pow(T base, T exponent) {
  if constexpr (is_same_type<T, float>) {
    return of_pow_float(base, exponent);
  } else if constexpr (is_same_type<T, double>) {
    return of_pow_double(base, exponent);
  } else {
    if (exponent < T{0}) {
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

// Shifts by less than nothing or more than the type's width move every bit out.
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

#endif  // ONEFLOW_DEVICES_CPU_MATHS_H_
