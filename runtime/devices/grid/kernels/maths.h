// The functions of scalar expressions, for T. OpenCL C includes this file once, for the T of the program; CUDA includes
// it once for each T, which defines overloads.
#if T_FLOATING

#define OF_MATHS(name) \
  OF_DEVICE T of_##name(T x) { return name(x); }
#if OF_IS_PROCESSOR
#define OF_VECTOR_MATHS(name) \
  OF_DEVICE T of_##name(T x) { return sizeof(T) == 8 ? name(x) : (T)of_float_##name((float)x); }
#else
#define OF_VECTOR_MATHS OF_MATHS
#endif
OF_VECTOR_MATHS(exp)
OF_VECTOR_MATHS(exp2)
OF_VECTOR_MATHS(expm1)
OF_VECTOR_MATHS(log)
OF_VECTOR_MATHS(log2)
OF_VECTOR_MATHS(log10)
OF_VECTOR_MATHS(log1p)
OF_MATHS(sqrt)
OF_VECTOR_MATHS(sin)
OF_VECTOR_MATHS(cos)
OF_VECTOR_MATHS(tan)
OF_MATHS(asin)
OF_MATHS(acos)
OF_MATHS(atan)
OF_MATHS(sinh)
OF_MATHS(cosh)
OF_MATHS(asinh)
OF_MATHS(acosh)
OF_MATHS(atanh)
OF_MATHS(erfc)
OF_MATHS(lgamma)
OF_MATHS(floor)
OF_MATHS(ceil)
OF_MATHS(trunc)
OF_DEVICE T of_round(T x) { return rint(x); }  // ties go to the even neighbour
OF_DEVICE T of_abs(T x) { return fabs(x); }
#if defined(__OPENCL_C_VERSION__)
// Rational approximations, because compilers vectorise polynomials but not calls of library functions. In single
// precision these are the approximations of the CPU backend.
OF_DEVICE T of_saturate(T quotient, T x, T limit) {
  const T at_most_1 = (T)1 < quotient ? (T)1 : quotient;
  return copysign(limit <= fabs(x) ? (T)1 : at_most_1, x);
}
OF_DEVICE T of_tanh(T x) {
  if (sizeof(T) == 8) return tanh(x);
  const T s = x * x;
  T above = fma(s, (T)-1.20340717e-11f, (T)3.03561761e-08f);
  above =
      fma(fma(fma(fma(above, s, (T)2.79122262e-05f), s, (T)0.00386360788f), s, (T)0.136761488f), s, (T)0.999999999f);
  T below = fma(s, (T)1.28071431e-06f, (T)0.000393030916f);
  below = fma(fma(fma(below, s, (T)0.027228566f), s, (T)0.470094807f), s, (T)1);
  return of_saturate(fabs(x) * above / below, x, (T)9.02f);
}
OF_DEVICE T of_erf(T x) {
  if (sizeof(T) == 8) return erf(x);
  const T s = x * x;
  T above = fma(s, (T)1.98681656e-06f, (T)0.000284561275f);
  above = fma(fma(fma(fma(above, s, (T)0.00388314357f), s, (T)0.053101128f), s, (T)0.1935404f), s, (T)1.12837914f);
  T below = fma(s, (T)3.74202878e-05f, (T)0.0011855223f);
  below = fma(fma(fma(fma(below, s, (T)0.0152068504f), s, (T)0.115348071f), s, (T)0.504853271f), s, (T)1);
  return of_saturate(fabs(x) * above / below, x, (T)3.92f);
}
#else
OF_MATHS(tanh)
OF_MATHS(erf)
#endif
#undef OF_MATHS
#undef OF_VECTOR_MATHS
OF_DEVICE T of_rsqrt(T x) { return (T)1 / sqrt(x); }
OF_DEVICE T of_sigmoid(T x) { return (T)1 / ((T)1 + of_exp(-x)); }
OF_DEVICE T of_atan2(T y, T x) { return atan2(y, x); }
OF_DEVICE T of_pow(T base, T exponent, bool* failed) {
#if OF_IS_PROCESSOR && OF_HAS_DOUBLE
  if (sizeof(T) == 4) return (T)of_float_pow((float)base, (float)exponent);
#endif
  return pow(base, exponent);
}
OF_DEVICE T of_copysign(T x, T y) { return copysign(x, y); }
// The largest power of 2 that is at most |x|; 0 for 0. Clears all bits but those of the exponent.
OF_DEVICE T of_power_of_2(T x) {
#if OF_HAS_DOUBLE
  if (sizeof(T) == 8) return (T)OF_DOUBLE_OF_BITS(OF_BITS_OF_DOUBLE((double)x) & 0x7ff0000000000000);
#endif
  return (T)OF_FLOAT_OF_BITS(OF_BITS_OF_FLOAT((float)x) & 0x7f800000);
}
OF_DEVICE bool of_isnan(T x) { return x != x; }
OF_DEVICE bool of_isinf(T x) { return fabs(x) == (T)INFINITY; }
OF_DEVICE bool of_isfinite(T x) { return fabs(x) < (T)INFINITY; }
OF_DEVICE T of_highest_like(T unused) { return (T)INFINITY; }
OF_DEVICE T of_lowest_like(T unused) { return -(T)INFINITY; }

OF_DEVICE T of_truncdiv(T a, T b, bool* failed) { return trunc(a / b); }
OF_DEVICE T of_fmod(T a, T b, bool* failed) { return fmod(a, b); }

#else  // integers and bool

#define OF_SAME(name) \
  OF_DEVICE T of_##name(T x) { return x; }
OF_SAME(floor)
OF_SAME(ceil)
OF_SAME(trunc)
OF_SAME(round)
#undef OF_SAME
OF_DEVICE T of_abs(T x) { return x < (T)0 ? (T)(-x) : x; }
OF_DEVICE T of_power_of_2(T x) {
  T_WRAPPING left = (T_WRAPPING)of_abs(x), power = left != 0;
  for (; left > 1; left >>= 1) power <<= 1;
  return (T)power;
}
OF_DEVICE T of_copysign(T x, T y) { return (x < (T)0) == (y < (T)0) ? x : (T)(-x); }
OF_DEVICE bool of_isnan(T x) { return false; }
OF_DEVICE bool of_isinf(T x) { return false; }
OF_DEVICE bool of_isfinite(T x) { return true; }
#if T_BOOL
OF_DEVICE T of_highest_like(T unused) { return true; }
OF_DEVICE T of_lowest_like(T unused) { return false; }
#else
OF_DEVICE T of_highest_like(T unused) { return (T)(0x7fffffffffffffff >> (64 - 8 * sizeof(T))); }
OF_DEVICE T of_lowest_like(T unused) { return (T)(-of_highest_like(unused) - 1); }
#endif

// Division by zero sets `failed`. Negation and products are those of unsigned integers, which wrap around.
OF_DEVICE T of_truncdiv(T a, T b, bool* failed) {
  *failed |= b == 0;
  return b == 0 ? (T)0 : b == (T)-1 ? (T)(0 - (T_WRAPPING)a) : (T)(a / b);
}
OF_DEVICE T of_fmod(T a, T b, bool* failed) {
  *failed |= b == 0;
  return b == 0 || b == (T)-1 ? (T)0 : (T)(a % b);
}

// Integers wrap around. A negative power is truncated to an integer: it is 0 unless the base is 1 or -1. That of 0 is a
// division by zero.
OF_DEVICE T of_pow(T base, T exponent, bool* failed) {
  if (exponent < (T)0) {
    *failed |= base == (T)0;
    if (base == (T)1) return (T)1;
    if (base != (T)-1) return (T)0;
    exponent = (T)(exponent & 1);
  }
  T_WRAPPING result = 1, factor = (T_WRAPPING)base;
  for (T left = exponent; left > 0; left = (T)(left >> 1)) {
    if (left & 1) result *= factor;
    factor *= factor;
  }
  return (T)result;
}

// Returns the greatest common divisor, which is not negative; that of 0 and 0 is 0.
OF_DEVICE T of_gcd(T a, T b) {
  T_WRAPPING divisor = (T_WRAPPING)of_abs(a), rest = (T_WRAPPING)of_abs(b);
  while (rest != 0) {
    const T_WRAPPING last = rest;
    rest = divisor % rest;
    divisor = last;
  }
  return (T)divisor;
}

// Shifts by a negative count, or by the width of the type or more, shift out every bit.
OF_DEVICE T of_shift_left(T value, T by) {
  return by < (T)0 || by >= (T)(8 * sizeof(T)) ? (T)0 : (T)((T_WRAPPING)value << by);
}
OF_DEVICE T of_shift_right(T value, T by) {
  const T most = (T)(8 * sizeof(T) - 1);
  return (T)(value >> (by < (T)0 || by > most ? most : by));
}

#endif

// The sign of NaN is 0.
OF_DEVICE T of_sign(T x) { return (T)((x > (T)0) - (x < (T)0)); }
// A NaN in either operand is returned.
OF_DEVICE T of_minimum(T a, T b) { return a != a ? a : a < b ? a : b; }
OF_DEVICE T of_maximum(T a, T b) { return a != a ? a : a > b ? a : b; }

// Return whether a comes before b: NaN first, then the larger (smaller) value, then the lower position.
OF_DEVICE bool of_first_of_max(T a, int64_t at_a, T b, int64_t at_b) {
  const bool same = (a == b) | ((a != a) & (b != b));
  return same ? at_a < at_b : (a > b) | ((a != a) & (b == b));
}
OF_DEVICE bool of_first_of_min(T a, int64_t at_a, T b, int64_t at_b) {
  const bool same = (a == b) | ((a != a) & (b != b));
  return same ? at_a < at_b : (a < b) | ((a != a) & (b == b));
}

// Returns whether the remainder of a truncated division differs from that of a floored division.
OF_DEVICE bool of_differ_in_sign(T rest, T b) { return (rest != (T)0) & ((rest < (T)0) != (b < (T)0)); }

// Returns the remainder of the floored division, which has the sign of b.
OF_DEVICE T of_remainder(T a, T b, bool* failed) {
  const T rest = of_fmod(a, b, failed);
  return of_differ_in_sign(rest, b) ? (T)(rest + b) : rest;
}
OF_DEVICE T of_floordiv(T a, T b, bool* failed) {
  const T rest = of_fmod(a, b, failed);
#if T_FLOATING
  // a - rest is a multiple of b, so that the quotient is near an integer.
  const T whole = (a - rest) / b;
  const T quotient = of_differ_in_sign(rest, b) ? whole - (T)1 : whole;
  const T lower = floor(quotient);
  const T nearest = quotient - lower > (T)0.5 ? lower + (T)1 : lower;
  const T signed_nearest = quotient == (T)0 ? copysign((T)0, a / b) : nearest;
  return b == (T)0 ? a / b : signed_nearest;
#else
  const T quotient = of_truncdiv(a, b, failed);
  return of_differ_in_sign(rest, b) ? (T)(quotient - 1) : quotient;
#endif
}

#if T_FLOATING
// Returns the number at `index` of those from `start` to `end` in `steps` equal steps, from the nearer end on.
OF_DEVICE T of_spaced(T start, T end, int64_t index, T steps) {
  const T at = (T)index, distance = end - start;
  const bool is_far = of_isinf(distance) && !of_isinf(start) && !of_isinf(end);
  const T step = is_far ? end / steps - start / steps : distance / steps;
  return at < (steps + (T)1) / (T)2 ? start + at * step : end - (steps - at) * step;
}
#else
// Returns such a number, truncated towards zero, from quotients and remainders: the difference of two integers may
// overflow.
OF_DEVICE T of_spaced(T start, T end, int64_t index, T steps) {
  const int64_t from = (int64_t)start, to = (int64_t)end, count = (int64_t)steps;
  const uint64_t whole = (uint64_t)(to / count) - (uint64_t)(from / count);
  const int64_t scaled = index * (to % count - from % count), rest = scaled % count;
  const uint64_t below = (uint64_t)index * whole + (uint64_t)(scaled / count - (rest < 0));
  const int64_t floored = (int64_t)((uint64_t)from + below);
  return (T)(floored + (floored < 0 && rest != 0));
}
#endif
