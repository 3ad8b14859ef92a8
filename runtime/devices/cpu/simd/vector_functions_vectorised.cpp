// The vector variants of the approximate functions, with the names that the vector function ABI gives them; compiled
// once per instruction set.
#if defined(OF_SLEEF)
#include <sleef.h>

#include <cmath>
#include <cstring>

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
#elif defined(__AVX2__)
#define OF_NAME(lanes, parameters, name) _ZGVdN##lanes##parameters##_of_##name
#define OF_FLOATS __m256
#define OF_DOUBLES __m256d
#define OF_FLOAT_LANES 8
#define OF_DOUBLE_LANES 4
#define OF_DETERMINISTIC finz_
#define OF_SET avx2
#define OF_EQUAL_LANES(a, b, suffix) _mm256_movemask_##suffix(_mm256_cmp_##suffix(a, b, _CMP_EQ_OQ))
#else
#define OF_NAME(lanes, parameters, name) _ZGVbN##lanes##parameters##_of_##name
#define OF_FLOATS __m128
#define OF_DOUBLES __m128d
#define OF_FLOAT_LANES 4
#define OF_DOUBLE_LANES 2
#define OF_DETERMINISTIC cinz_
#define OF_SET sse4
#define OF_EQUAL_LANES(a, b, suffix) _mm_movemask_##suffix(_mm_cmpeq_##suffix(a, b))
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

// Returns the tangent of |x| < kNear in double precision, with the sign of x: the distance from the closest multiple of
// pi/2, of which kFirst has so few bits that products with it are exact, and a convergent of the continued fraction
// of the tangent, or of the negative cotangent.
constexpr float kNear = 1e6f;
inline float near_tan(float x) {
  constexpr double kFirst = 0x1.921fb544p0, kSecond = 0x1.0b4611a626331p-34;
  const double size = __builtin_fabs(static_cast<double>(x));
  const double quarters = __builtin_rint(size * 0.6366197723675814), halves = quarters * 0.5;
  const double r = size - quarters * kFirst - quarters * kSecond, s = r * r;
  const double sine = r * (10395 + s * (21 * s - 1260)), cosine = 10395 + s * (s * (210 - s) - 4725);
  const bool is_odd = halves != __builtin_trunc(halves);
  const double result = (is_odd ? -cosine : sine) / (is_odd ? sine : cosine);
  return static_cast<float>(__builtin_copysign(1.0, static_cast<double>(x)) * result);
}

// SLEEF computes the tangent with the accuracy of two floats, and in every range, which takes several times as long.
// It is left those lanes that are not near.
inline OF_FLOATS tan_of(OF_FLOATS x) {
  constexpr OF_FLOATS kNone{}, kOnes = kNone + 1;
  const OF_FLOATS result = each_lane<float>(x, near_tan);
  const OF_FLOATS near = (x < kNone + kNear) & (x > kNone - kNear) ? kOnes : kNone;
  if (equal_lanes(near, kOnes) == (1u << OF_FLOAT_LANES) - 1) return result;
  return near == kOnes ? result : general_tan(x);
}
inline OF_DOUBLES tan_of(OF_DOUBLES x) { return general_tan(x); }

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
