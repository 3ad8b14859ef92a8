// The vector variants of the approximate functions, with the names that the vector function ABI gives them; compiled
// once per instruction set.
#if defined(OF_SLEEF)
#include <sleef.h>

#include <cmath>
#include <cstring>
#include <iterator>

#include "simd/vector_functions.h"

#if defined(__AVX512F__)
#define OF_NAME(lanes, parameters, name) _ZGVeN##lanes##parameters##_of_##name
#define OF_FLOATS __m512
#define OF_DOUBLES __m512d
#define OF_FLOAT_LANES 16
#define OF_DOUBLE_LANES 8
#define OF_DETERMINISTIC finz_
#define OF_SET avx512f
#define OF_EQUAL_LANES(a, b, suffix) _mm512_cmp_##suffix##_mask(a, b, _CMP_EQ_OQ)
#define OF_LESS_LANES(a, b, suffix) _mm512_cmp_##suffix##_mask(a, b, _CMP_LT_OQ)
#define OF_LOWER_HALF(x) _mm512_maskz_extractf32x8_ps(0xff, x, 0)
#define OF_UPPER_HALF(x) _mm512_maskz_extractf32x8_ps(0xff, x, 1)
#define OF_TO_DOUBLES(x) _mm512_maskz_cvtps_pd(0xff, x)
#define OF_TO_FLOATS(lower, upper) \
  _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_maskz_cvtpd_ps(0xff, lower)), _mm512_maskz_cvtpd_ps(0xff, upper), 1)
#define OF_FUSED(operation, a, b, c) _mm512_##operation##_pd(a, b, c)
#elif defined(__AVX2__)
#define OF_NAME(lanes, parameters, name) _ZGVdN##lanes##parameters##_of_##name
#define OF_FLOATS __m256
#define OF_DOUBLES __m256d
#define OF_FLOAT_LANES 8
#define OF_DOUBLE_LANES 4
#define OF_DETERMINISTIC finz_
#define OF_SET avx2
#define OF_EQUAL_LANES(a, b, suffix) _mm256_movemask_##suffix(_mm256_cmp_##suffix(a, b, _CMP_EQ_OQ))
#define OF_LESS_LANES(a, b, suffix) _mm256_movemask_##suffix(_mm256_cmp_##suffix(a, b, _CMP_LT_OQ))
#define OF_LOWER_HALF(x) _mm256_castps256_ps128(x)
#define OF_UPPER_HALF(x) _mm256_extractf128_ps(x, 1)
#define OF_TO_DOUBLES(x) _mm256_cvtps_pd(x)
#define OF_TO_FLOATS(lower, upper) _mm256_set_m128(_mm256_cvtpd_ps(upper), _mm256_cvtpd_ps(lower))
#define OF_FUSED(operation, a, b, c) _mm256_##operation##_pd(a, b, c)
#else
#define OF_NAME(lanes, parameters, name) _ZGVbN##lanes##parameters##_of_##name
#define OF_FLOATS __m128
#define OF_DOUBLES __m128d
#define OF_FLOAT_LANES 4
#define OF_DOUBLE_LANES 2
#define OF_DETERMINISTIC cinz_
#define OF_SET sse4
#define OF_EQUAL_LANES(a, b, suffix) _mm_movemask_##suffix(_mm_cmpeq_##suffix(a, b))
#define OF_LESS_LANES(a, b, suffix) _mm_movemask_##suffix(_mm_cmplt_##suffix(a, b))
#define OF_LOWER_HALF(x) (x)
#define OF_UPPER_HALF(x) _mm_movehl_ps(x, x)
#define OF_TO_DOUBLES(x) _mm_cvtps_pd(x)
#define OF_TO_FLOATS(lower, upper) _mm_movelh_ps(_mm_cvtpd_ps(lower), _mm_cvtpd_ps(upper))
#endif

// Another level of macros, so that arguments are expanded before they are pasted.
#define OF_EXPANDED_NAME(lanes, parameters, name) OF_NAME(lanes, parameters, name)
// SLEEF's deterministic functions (cinz_, finz_), whose result for an element does not depend on the other elements of
// its vector. The plain sin() chooses another method, with other bits, if all of them are small.
#define OF_SLEEF_NAME(prefix, name, type, lanes, bound, set) Sleef_##prefix##name##type##lanes##_u##bound##set
#define OF_EXPANDED_SLEEF_NAME(prefix, name, type, lanes, bound, set) \
  OF_SLEEF_NAME(prefix, name, type, lanes, bound, set)

#define OF_DEFINE(name, bound)                                                                   \
  OF_FLOATS OF_EXPANDED_NAME(OF_FLOAT_LANES, v, name##_float)(OF_FLOATS x) {                     \
    return OF_EXPANDED_SLEEF_NAME(OF_DETERMINISTIC, name, f, OF_FLOAT_LANES, bound, OF_SET)(x);  \
  }                                                                                              \
  OF_DOUBLES OF_EXPANDED_NAME(OF_DOUBLE_LANES, v, name##_double)(OF_DOUBLES x) {                 \
    return OF_EXPANDED_SLEEF_NAME(OF_DETERMINISTIC, name, d, OF_DOUBLE_LANES, bound, OF_SET)(x); \
  }
#define OF_DEFINE_UNARY(name, function)                                                            \
  OF_FLOATS OF_EXPANDED_NAME(OF_FLOAT_LANES, v, name##_float)(OF_FLOATS x) { return function(x); } \
  OF_DOUBLES OF_EXPANDED_NAME(OF_DOUBLE_LANES, v, name##_double)(OF_DOUBLES x) { return function(x); }
// Defines overloads of general_name() for SLEEF's functions of one and of two operands.
#define OF_GENERAL_UNARY(name, bound)                                                            \
  inline OF_FLOATS general_##name(OF_FLOATS x) {                                                 \
    return OF_EXPANDED_SLEEF_NAME(OF_DETERMINISTIC, name, f, OF_FLOAT_LANES, bound, OF_SET)(x);  \
  }                                                                                              \
  inline OF_DOUBLES general_##name(OF_DOUBLES x) {                                               \
    return OF_EXPANDED_SLEEF_NAME(OF_DETERMINISTIC, name, d, OF_DOUBLE_LANES, bound, OF_SET)(x); \
  }
#define OF_GENERAL_BINARY(name, bound)                                                              \
  inline OF_FLOATS general_##name(OF_FLOATS x, OF_FLOATS y) {                                       \
    return OF_EXPANDED_SLEEF_NAME(OF_DETERMINISTIC, name, f, OF_FLOAT_LANES, bound, OF_SET)(x, y);  \
  }                                                                                                 \
  inline OF_DOUBLES general_##name(OF_DOUBLES x, OF_DOUBLES y) {                                    \
    return OF_EXPANDED_SLEEF_NAME(OF_DETERMINISTIC, name, d, OF_DOUBLE_LANES, bound, OF_SET)(x, y); \
  }
#define OF_DEFINE_BINARY(name, function)                                                                            \
  OF_FLOATS OF_EXPANDED_NAME(OF_FLOAT_LANES, vv, name##_float)(OF_FLOATS x, OF_FLOATS y) { return function(x, y); } \
  OF_DOUBLES OF_EXPANDED_NAME(OF_DOUBLE_LANES, vv, name##_double)(OF_DOUBLES x, OF_DOUBLES y) { return function(x, y); }

namespace {

OF_GENERAL_UNARY(tan, 10)
OF_GENERAL_BINARY(atan2, 10)
OF_GENERAL_BINARY(pow, 10)

// Returns a mask of the lanes where both vectors are equal.
inline unsigned equal_lanes(OF_FLOATS a, OF_FLOATS b) { return OF_EQUAL_LANES(a, b, ps); }
inline unsigned equal_lanes(OF_DOUBLES a, OF_DOUBLES b) { return OF_EQUAL_LANES(a, b, pd); }

// Applies a function to each lane.
template <class Element, class Vector, class Function>
inline Vector each_lane(Vector x, Function function) {
  Element lanes[sizeof(Vector) / sizeof(Element)];
  std::memcpy(lanes, &x, sizeof x);
#pragma omp simd
  for (Element& lane : lanes) lane = function(lane);
  std::memcpy(&x, lanes, sizeof x);
  return x;
}

inline unsigned less_lanes(OF_FLOATS a, OF_FLOATS b) { return OF_LESS_LANES(a, b, ps); }
inline unsigned less_lanes(OF_DOUBLES a, OF_DOUBLES b) { return OF_LESS_LANES(a, b, pd); }

// Return c + a * b and c - a * b, rounded once where the instruction set has fused operations.
#if defined(OF_FUSED)
inline OF_DOUBLES multiply_add(OF_DOUBLES a, OF_DOUBLES b, OF_DOUBLES c) { return OF_FUSED(fmadd, a, b, c); }
inline OF_DOUBLES multiply_subtract(OF_DOUBLES a, OF_DOUBLES b, OF_DOUBLES c) { return OF_FUSED(fnmadd, a, b, c); }
#else
inline OF_DOUBLES multiply_add(OF_DOUBLES a, OF_DOUBLES b, OF_DOUBLES c) { return c + a * b; }
inline OF_DOUBLES multiply_subtract(OF_DOUBLES a, OF_DOUBLES b, OF_DOUBLES c) { return c - a * b; }
#endif

// Returns 1 / x with at least 28 correct bits: a quotient becomes accurate when its remainder is multiplied by it. An
// approximation and one step of Newton's method take less time than a division of eight numbers.
inline OF_DOUBLES rough_inverse(OF_DOUBLES x) {
#if defined(__AVX512F__)
  const OF_DOUBLES rougher = _mm512_maskz_rcp14_pd(0xff, x);
  return multiply_add(rougher, multiply_subtract(rougher, x, OF_DOUBLES{} + 1), rougher);
#else
  return 1 / x;
#endif
}

// The angle below which the functions here compute tangents, what rounds a number to an integer when it is added, and
// 2 / pi.
constexpr double kNear = 1e6, kShift = 0x1.8p52, kQuarters = 0x1.45f306dc9c883p-1;

using LongLongs = decltype(OF_DOUBLES{} < OF_DOUBLES{});
// Returns a mask of the lanes whose number, to which kShift was added, is odd.
inline LongLongs odd_lanes(OF_DOUBLES shifted) { return (reinterpret_cast<LongLongs>(shifted) & 1) != 0; }

// Returns the tangents of angles from 0 to kNear, accurate enough to be rounded to floats: of the distance from the
// closest multiple of pi / 2, of which kFirst has so few bits that products with it are exact, a convergent of the
// continued fraction of the tangent, or of the negative cotangent.
inline OF_DOUBLES tangents_for_floats(OF_DOUBLES angles) {
  constexpr OF_DOUBLES kZero{}, kFirst = kZero + 0x1.921fb544p0, kSecond = kZero + 0x1.0b4611a626331p-34;
  const OF_DOUBLES shifted = multiply_add(angles, kZero + kQuarters, kZero + kShift), quarters = shifted - kShift;
  const OF_DOUBLES r = multiply_subtract(quarters, kSecond, multiply_subtract(quarters, kFirst, angles)), s = r * r;
  const OF_DOUBLES sine = r * multiply_add(s, multiply_add(kZero + 21, s, kZero - 1260), kZero + 10395);
  const OF_DOUBLES cosine = multiply_add(s, multiply_add(s, 210 - s, kZero - 4725), kZero + 10395);
  const LongLongs is_odd = odd_lanes(shifted);
  const OF_DOUBLES a = is_odd ? -cosine : sine, b = is_odd ? sine : cosine;
#if defined(__AVX512F__)
  // With e = 1 - b * inverse, which is below 2^-14, the quotient is a * inverse * (1 + e + e^2 + ...).
  const OF_DOUBLES inverse = _mm512_maskz_rcp14_pd(0xff, b), quotient = a * inverse;
  const OF_DOUBLES error = multiply_subtract(b, inverse, kZero + 1);
  return multiply_add(quotient, multiply_add(error, error, error), quotient);
#else
  return a / b;
#endif
}

// Returns a number without its sign.
template <class Vector>
inline Vector size_of(Vector x) {
  using Bits = decltype(x < x);
  return reinterpret_cast<Vector>(reinterpret_cast<Bits>(x) & ~reinterpret_cast<Bits>(-Vector{}));
}

// Returns `near` for the lanes below the limit of the functions here, and SLEEF's tangents, which take longer, for the
// others. It is not inlined, so that the functions that call it last need no memory on the stack.
template <class Vector>
[[gnu::noinline]] Vector with_far_tangents(Vector x, Vector near) {
  return size_of(x) < Vector{} + static_cast<float>(kNear) ? near : general_tan(x);
}

inline OF_FLOATS tan_of(OF_FLOATS x) {
  using Bits = decltype(x < x);
  constexpr OF_FLOATS kLimit = OF_FLOATS{} + static_cast<float>(kNear);
  const OF_FLOATS size = size_of(x);
  const OF_FLOATS found = OF_TO_FLOATS(tangents_for_floats(OF_TO_DOUBLES(OF_LOWER_HALF(size))),
                                       tangents_for_floats(OF_TO_DOUBLES(OF_UPPER_HALF(size))));
  const auto sign = reinterpret_cast<Bits>(x) ^ reinterpret_cast<Bits>(size);
  const auto result = reinterpret_cast<OF_FLOATS>(reinterpret_cast<Bits>(found) ^ sign);
  if (less_lanes(size, kLimit) == (1u << OF_FLOAT_LANES) - 1) [[likely]]
    return result;
  return with_far_tangents(x, result);
}

#if defined(OF_FUSED)
// Parts of pi / 4. Of the second, the product with any number of quarters below kNear is exact.
constexpr double kEighths[] = {0x1.921fb54442d18p-1, 0x1.1a626332p-55, -0x1.747f23e32ed7p-88};
// The coefficients of (tan(y) - y) / y^3 in y^2 up to pi / 8, the last one first; a minimax polynomial.
constexpr double kTangent[] = {0x1.58b6a0ef20f45p-12, 0x1.2522b2e7a12dfp-11, 0x1.7f232daf0f5d5p-10,
                               0x1.d6beaee4e58f8p-9,  0x1.226e9090e52e5p-7,  0x1.664f46a917049p-6,
                               0x1.ba1ba1bf8805ap-5,  0x1.111111110d2d2p-3,  0x1.5555555555574p-2};

// Returns the tangents of angles whose size is at least 2^-27 and below kNear: that of twice y, which is half the
// distance from the closest multiple q of pi / 2, or its negative inverse if q is odd. With t = tan(y), it is the
// quotient of t and (1 - t^2) / 2. The low parts are the rounding errors of y, t and the divisor; the quotient is
// corrected by its remainder, which includes them.
inline OF_DOUBLES near_tangents(OF_DOUBLES angles) {
  constexpr OF_DOUBLES kZero{}, kHalf = kZero + 0.5;
  const OF_DOUBLES shifted = multiply_add(angles, kZero + kQuarters, kZero + kShift), q = shifted - kShift;
  const OF_DOUBLES rough = multiply_subtract(q, kZero + kEighths[0], angles * kHalf);
  const OF_DOUBLES y = multiply_subtract(q, kZero + kEighths[1], rough);
  const OF_DOUBLES y_low =
      multiply_subtract(q, kZero + kEighths[2], multiply_subtract(q, kZero + kEighths[1], rough - y));
  const OF_DOUBLES s = y * y;
  OF_DOUBLES series = kZero + kTangent[0];
  for (size_t i = 1; i < std::size(kTangent); ++i) series = multiply_add(series, s, kZero + kTangent[i]);
  const OF_DOUBLES rest = multiply_add(series, y * s, y_low);
  const OF_DOUBLES t = y + rest, t_low = rest - (t - y), half = t * kHalf;
  const OF_DOUBLES divisor = multiply_subtract(half, t, kHalf);
  const OF_DOUBLES divisor_low = multiply_subtract(t, t_low, multiply_subtract(half, t, kHalf - divisor));
  const LongLongs is_odd = odd_lanes(shifted);
  const OF_DOUBLES a = is_odd ? divisor : t, a_low = is_odd ? divisor_low : t_low;
  const OF_DOUBLES b = is_odd ? t : divisor, b_low = is_odd ? t_low : divisor_low;
  const OF_DOUBLES inverse = rough_inverse(b), quotient = a * inverse;
  const OF_DOUBLES remainder = multiply_subtract(quotient, b, a) + multiply_subtract(quotient, b_low, a_low);
  const OF_DOUBLES result = multiply_add(remainder, inverse, quotient);
  return is_odd ? -result : result;
}

inline OF_DOUBLES tan_of(OF_DOUBLES x) {
  constexpr OF_DOUBLES kLimit = OF_DOUBLES{} + kNear;
  const OF_DOUBLES size = size_of(x), result = size < OF_DOUBLES{} + 0x1p-27 ? x : near_tangents(x);
  if (less_lanes(size, kLimit) == (1u << OF_DOUBLE_LANES) - 1) [[likely]]
    return result;
  return with_far_tangents(x, result);
}
#else
inline OF_DOUBLES tan_of(OF_DOUBLES x) { return general_tan(x); }
#endif

// Returns x to the power of 2, 3, -1 or 1/2, which take few instructions; the last one with pow's results for
// infinities and zeros, which differ from those of sqrt.
template <class Element, class Vector>
inline Vector simple_power(Vector x, Element exponent) {
  if (exponent == 2) return x * x;
  if (exponent == 3) return x * x * x;
  if (exponent == -1) return 1 / x;
  return each_lane<Element>(x, [](Element value) {
    return value == -static_cast<Element>(__builtin_inf()) ? -value : std::sqrt(value + Element{0});
  });
}

// Returns x to the power of y, with simple_power() for lanes whose exponent allows it. The result of a lane does not
// depend on the other lanes.
template <class Element, class Vector>
inline Vector power(Vector x, Vector y) {
  constexpr unsigned kAll = (1u << (sizeof(Vector) / sizeof(Element))) - 1;
  constexpr Element kSimple[] = {2, 3, static_cast<Element>(0.5), -1};
  unsigned simple = 0;
  for (const Element exponent : kSimple) {
    const unsigned equal = equal_lanes(y, Vector{} + exponent);
    if (equal == kAll) return simple_power(x, exponent);
    simple |= equal;
  }
  Vector result = general_pow(x, y);
  if (simple == 0) return result;
  for (const Element exponent : kSimple) {
    result = y == Vector{} + exponent ? simple_power(x, exponent) : result;
  }
  return result;
}
inline OF_FLOATS power_of(OF_FLOATS x, OF_FLOATS y) { return power<float>(x, y); }
inline OF_DOUBLES power_of(OF_DOUBLES x, OF_DOUBLES y) { return power<double>(x, y); }

// The limit of quotients for which exact_fmod() is exact: the product of the quotient and the divisor is subtracted in
// double precision, for double operands only by a fused multiply-add.
template <class Element>
constexpr double kExactQuotient = 0x1p28;
#if defined(__FMA__)
template <>
inline constexpr double kExactQuotient<double> = 0x1p52;
inline double subtract_product(double x, double quotient, double y) { return __builtin_fma(-quotient, y, x); }
#else
template <>
inline constexpr double kExactQuotient<double> = 1;
inline double subtract_product(double x, double quotient, double y) { return x - quotient * y; }
#endif

// Returns the exact remainder. Where the quotient is small, the computed quotient is off by at most one, and the
// remainder is the dividend minus one product, corrected by the divisor. The C library computes the other lanes.
template <class Element, class Doubles, class Vector>
inline Vector exact_fmod(Vector x, Vector y) {
  constexpr int kLanes = sizeof(Vector) / sizeof(Element);
  const Doubles dividends = __builtin_convertvector(x, Doubles), divisors = __builtin_convertvector(y, Doubles);
  Doubles remainders, quotients;
#pragma omp simd
  for (int i = 0; i < kLanes; ++i) {
    const double dividend = __builtin_fabs(dividends[i]), divisor = __builtin_fabs(divisors[i]);
    const double quotient = __builtin_trunc(dividend / divisor);
    double remainder = subtract_product(dividend, quotient, divisor);
    remainder = remainder < 0 ? remainder + divisor : remainder;
    remainder = remainder >= divisor ? remainder - divisor : remainder;
    remainder = dividend < divisor ? dividend : remainder;
    remainders[i] = __builtin_copysign(remainder, dividends[i]);
    quotients[i] = quotient;
  }
  const Doubles exact = quotients < kExactQuotient<Element> ? Doubles{} + 1 : Doubles{};
  if (equal_lanes(__builtin_convertvector(exact, Vector), Vector{} + 1) != (1u << kLanes) - 1) {
    for (int i = 0; i < kLanes; ++i) {
      if (exact[i] == 0) remainders[i] = std::fmod(x[i], y[i]);
    }
  }
  return __builtin_convertvector(remainders, Vector);
}
using WideDoubles = double __attribute__((vector_size(OF_FLOAT_LANES * sizeof(double))));
inline OF_FLOATS fmod_of(OF_FLOATS x, OF_FLOATS y) { return exact_fmod<float, WideDoubles>(x, y); }
inline OF_DOUBLES fmod_of(OF_DOUBLES x, OF_DOUBLES y) { return exact_fmod<double, OF_DOUBLES>(x, y); }

}  // namespace

extern "C" {
OF_SLEEF_FUNCTIONS(OF_DEFINE)
OF_DEFINE_UNARY(tan, tan_of)
OF_DEFINE_BINARY(atan2, general_atan2)
OF_DEFINE_BINARY(pow, power_of)
OF_DEFINE_BINARY(fmod, fmod_of)
}
#endif
