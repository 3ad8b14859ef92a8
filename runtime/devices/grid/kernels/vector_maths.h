// Functions of float32 for CPU devices, written as arithmetic without branches, which compilers vectorise. PoCL 3.1
// calls a library function for each element instead. Errors are at most 2 units in the last place, and 3.2 for tan.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_VECTOR_MATHS_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_VECTOR_MATHS_H_

#define OF_LN2_HIGH 0.693145751953125f  // has 16 bits, so that its products with exponents are exact
#define OF_LN2_LOW 1.42860677e-6f
#define OF_LOG2_E 1.44269502f

// Rounds to the nearest integer, for |x| far below 2^22. In PoCL, rint() is a library call as well.
static inline float of_nearest(float x) { return (x + 12582912.0f) - 12582912.0f; }

// Returns e^r - 1 for |r| up to ln(2) / 2, by the series up to r^7.
static inline float of_series_expm1(float r) {
  float sum = fma(r, 1.98412698e-4f, 1.38888889e-3f);
  sum = fma(fma(fma(sum, r, 8.33333333e-3f), r, 4.16666667e-2f), r, 1.66666667e-1f);
  return fma(fma(sum, r, 0.5f), r * r, r);
}
// Returns 2^n, for n from -126 to 127.
static inline float of_two_to_the(int n) { return as_float((n + 127) << 23); }
// Returns s * 2^n, for n from -252 to 254.
static inline float of_scale(float s, int n) { return s * of_two_to_the(n >> 1) * of_two_to_the(n - (n >> 1)); }
// Returns x - n * ln(2).
static inline float of_subtract_ln2(float x, float n) { return fma(n, -OF_LN2_LOW, fma(n, -OF_LN2_HIGH, x)); }
// Limits x to [low, high], so that it can be converted to an integer. NaN becomes `low`.
static inline float of_clamp(float x, float low, float high) { return x > low ? (x < high ? x : high) : low; }
static inline float of_unless_nan(float x, float value) { return x != x ? x : value; }

static inline float of_float_exp(float x) {
  const float bounded = of_clamp(x, -104.0f, 89.0f), n = of_nearest(bounded * OF_LOG2_E);
  return of_unless_nan(x, of_scale(1.0f + of_series_expm1(of_subtract_ln2(bounded, n)), (int)n));
}
static inline float of_float_exp2(float x) {
  const float bounded = of_clamp(x, -151.0f, 129.0f), n = of_nearest(bounded);
  return of_unless_nan(x, of_scale(1.0f + of_series_expm1((bounded - n) * 0.693147181f), (int)n));
}
static inline float of_float_expm1(float x) {
  const float bounded = of_clamp(x, -20.0f, 89.0f), n = of_nearest(bounded * OF_LOG2_E);
  const float half_scale = of_two_to_the((int)n - 1);
  const float half_result = fma(half_scale, of_series_expm1(of_subtract_ln2(bounded, n)), half_scale - 0.5f);
  return x == 0.0f || x != x ? x : 2.0f * half_result;
}

// The decomposition x = 2^exponent * (1 + rest) of x > 0, with 1 + rest from sqrt(1/2) to sqrt(2).
typedef struct of_logarithm {
  float exponent, rest, correction;  // ln(1 + rest) = rest - correction
} of_logarithm;
static inline of_logarithm of_split(float x) {
  const bool is_tiny = x < 1.17549435e-38f;
  const int bits = as_int(is_tiny ? x * 16777216.0f : x);
  const int exponent = (bits - 0x3f3504f3) >> 23;
  of_logarithm log;
  log.exponent = (float)(is_tiny ? exponent - 24 : exponent);
  log.rest = as_float(bits - (int)((uint32_t)exponent << 23)) - 1.0f;
  // ln(1 + r) = 2 artanh(s) for s = r / (2 + r); the first term of its series is 2 s = r - r s.
  const float s = log.rest / (2.0f + log.rest), z = s * s;
  const float others = z * fma(fma(fma(z, 0.222222222f, 0.285714286f), z, 0.4f), z, 0.666666667f);
  log.correction = s * (log.rest - others);
  return log;
}
// Returns `log`, the logarithm of x, or the limit for an x that is not positive and finite.
static inline float of_log_or_limit(float x, float log) {
  const float limit = x == 0.0f ? -INFINITY : x > 0.0f ? x : NAN;
  return x > 0.0f && x < INFINITY ? log : limit;
}
static inline float of_float_log(float x) {
  const of_logarithm log = of_split(x);
  const float low = fma(log.exponent, OF_LN2_LOW, -log.correction);
  return of_log_or_limit(x, fma(log.exponent, OF_LN2_HIGH, log.rest + low));
}
static inline float of_float_log2(float x) {
  const of_logarithm log = of_split(x);
  const float natural = log.rest - log.correction;
  return of_log_or_limit(x, fma(natural, OF_LOG2_E, fma(natural, 1.92596299e-8f, log.exponent)));
}
static inline float of_float_log10(float x) {
  const of_logarithm log = of_split(x);
  const float low = fma(log.rest - log.correction, 0.434294482f, log.exponent * 4.60503881e-6f);
  return of_log_or_limit(x, fma(log.exponent, 0.301025391f, low));
}
// Compensates for the rounding of 1 + x.
static inline float of_float_log1p(float x) {
  const float sum = 1.0f + x, lost = (x - (sum - 1.0f)) / sum;
  const float log = of_float_log(sum) + lost;
  return x == 0.0f || x == INFINITY ? x : sum == 0.0f ? -INFINITY : log;
}

// An angle, as a number of quarter turns and a remainder in [-pi / 4, pi / 4]. Its magnitude is an integer of 24 bits
// times a power of 2. For angles of any magnitude, 96 bits of 2 / pi are enough: those from the bit on whose product
// contributes to the number of quarters modulo 4 (Payne and Hanek). They are selected by conditions instead of from a
// table, because vector gathers cost more.
typedef struct of_angle {
  uint32_t quarters;
  float sine, cosine;  // of the remainder
} of_angle;
static inline of_angle of_split_angle(float x) {
  const uint32_t bits = as_uint(fabs(x)), exponent = bits >> 23;
  const uint32_t integer = (bits & 0x7fffff) | 0x800000;
  const bool is_small = exponent < 126;  // below 1/2, the angle itself is the remainder
  // The words of 2 / pi, which begin after 32 zero bits.
  const uint32_t start = is_small ? 0 : exponent - 120;
  const bool by_1 = (start & 32) != 0, by_2 = (start & 64) != 0, by_4 = start >= 128;
  const uint32_t a0 = by_2 ? 0x4e441529 : 0, a1 = by_2 ? 0xfc2757d1 : 0xa2f9836e, a2 = by_2 ? 0xf534ddc0 : 0x4e441529,
                 a3 = by_2 ? 0xdb629599 : 0xfc2757d1, a4 = by_2 ? 0x3c439041 : 0xf534ddc0;
  const uint32_t b0 = by_4   ? 0xf534ddc0
                      : by_1 ? a1
                             : a0,
                 b1 = by_4   ? 0xdb629599
                      : by_1 ? a2
                             : a1,
                 b2 = by_4   ? 0x3c439041
                      : by_1 ? a3
                             : a2,
                 b3 = by_4   ? 0xfe5163ab
                      : by_1 ? a4
                             : a3;
  const uint32_t shift = start & 31;
  const uint32_t high = b0 << shift | b1 >> 1 >> (31 - shift), middle = b1 << shift | b2 >> 1 >> (31 - shift),
                 low = b2 << shift | b3 >> 1 >> (31 - shift);
  const uint64_t lower = (uint64_t)integer * middle + ((uint64_t)integer * low >> 32);
  const uint32_t upper = integer * high + (uint32_t)(lower >> 32), rest = (uint32_t)lower;
  // The number of quarters has two bits, and the fraction of a quarter 62: `coarse` holds 24 of them exactly, and
  // `fine` the next 32.
  const int fraction = (int)(upper << 2 | rest >> 30);
  const float coarse = (float)(fraction >> 8) * 0x1p-24f;
  const float fine = (float)(fraction & 0xff) * 0x1p-32f + (float)(int)(rest << 2 >> 8) * 0x1p-56f;
  const float reduced = fma(coarse, 1.57079637f, fma(coarse, -4.37113883e-8f, fine * 1.57079637f));
  const float residue = is_small ? fabs(x) : reduced, z = residue * residue;
  of_angle angle;
  angle.quarters = is_small ? 0 : (upper + 0x20000000) >> 30;
  const float s = fma(fma(fma(z, 2.75573192e-6f, -1.98412698e-4f), z, 8.33333333e-3f), z, -1.66666667e-1f);
  angle.sine = fma(s * z, residue, residue);
  const float c = fma(fma(fma(z, -2.75573192e-7f, 2.48015873e-5f), z, -1.38888889e-3f), z, 4.16666667e-2f);
  angle.cosine = fma(fma(c, z, -0.5f), z, 1.0f);
  return angle;
}
static inline float of_sine_of(of_angle angle, uint32_t quarters) {
  const float value = quarters & 1 ? angle.cosine : angle.sine;
  return quarters & 2 ? -value : value;
}
// Returns f(x) of an odd function f, given f(|x|).
static inline float of_odd(float x, float value) {
  return x == 0.0f ? x : x - x != 0.0f ? NAN : x < 0.0f ? -value : value;
}
static inline float of_float_sin(float x) {
  const of_angle angle = of_split_angle(x);
  return of_odd(x, of_sine_of(angle, angle.quarters));
}
static inline float of_float_cos(float x) {
  const of_angle angle = of_split_angle(x);
  return x - x == 0.0f ? of_sine_of(angle, angle.quarters + 1) : NAN;
}
static inline float of_float_tan(float x) {
  const of_angle angle = of_split_angle(x);
  return of_odd(x, of_sine_of(angle, angle.quarters) / of_sine_of(angle, angle.quarters + 1));
}

#if OF_HAS_DOUBLE
// Returns base^exponent, computed as 2^(exponent * log2(|base|)) with the exponent of 2 in double precision.
static inline float of_float_pow(float base, float exponent) {
  const float size = fabs(base);
  const of_logarithm split = of_split(size);
  const double s = (double)split.rest / (2.0 + split.rest), z = s * s;
  double sum = fma(z, 0.1538461538461538, 0.1818181818181818);
  sum = fma(fma(fma(fma(sum, z, 0.2222222222222222), z, 0.2857142857142857), z, 0.4), z, 0.6666666666666667);
  const double log = fma(fma(sum, z, 2.0) * s, 1.4426950408889634, (double)split.exponent);
  const double whole_log = size == 0.0f ? -INFINITY : size < INFINITY ? log : size;
  const double power = exponent * whole_log;
  const double bounded = power > -151.0 ? (power < 129.0 ? power : 129.0) : -151.0;
  const double n = (bounded + 6755399441055744.0) - 6755399441055744.0;
  const float result = of_scale(1.0f + of_series_expm1((float)((bounded - n) * 0.6931471805599453)), (int)n);
  const bool is_even = fabs(exponent) >= 16777216.0f;
  const int whole = (int)of_clamp(exponent, -16777216.0f, 16777216.0f);
  const bool is_whole = is_even | (whole == exponent), is_odd = !is_even & is_whole & whole;
  const float with_sign = is_odd ? copysign(result, base) : result;
  const bool is_none = (base != base) | (exponent != exponent) | ((base < 0.0f) & (base > -INFINITY) & !is_whole);
  const bool is_one = (base == 1.0f) | (exponent == 0.0f) | ((base == -1.0f) & (fabs(exponent) == INFINITY));
  return is_one ? 1.0f : is_none ? NAN : with_sign;
}
#endif

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_VECTOR_MATHS_H_
