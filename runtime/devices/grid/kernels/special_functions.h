// The special functions of scalar expressions, for a floating-point T: of grid devices, and of the CPU backend, which
// includes this file once for each T.
//
// The CPU backend defines OF_FUNCTION(name), the name that it gives a function, and OF_POWER(x, y). Loops have few
// steps, so that no argument takes long.
#if T_FLOATING
#ifndef OF_FUNCTION
#define OF_FUNCTION(name) of_##name
#define OF_POWER(x, y) pow(x, y)
#endif

// Returns the number whose error function is x; an infinity for -1 and 1, and NaN beyond.
//
// The quotient by x is a polynomial of w = -log(1 - x * x), or of its square root (M. Giles, "Approximating the erfinv
// function", 2012; the coefficients are our own). It has 7 digits; in double precision, two steps of Halley's method
// triple them. The error function near 1 is that of its complement.
OF_DEVICE T OF_FUNCTION(erfinv)(T x) {
  const T size = OF_FUNCTION(abs)(x);
  if (size == (T)1) return x / (T)0;
  const T w = -OF_FUNCTION(log)(((T)1 - size) * ((T)1 + size));
  T quotient;
  if (w < (T)7) {
    const T t = w - (T)3.5;
    quotient = (T)5.83798265769751474e-10;
    quotient = quotient * t - (T)2.44457397681470271e-9;
    quotient = quotient * t - (T)3.46094305662691089e-8;
    quotient = quotient * t + (T)3.38743541100715157e-7;
    quotient = quotient * t - (T)3.95102870319697491e-7;
    quotient = quotient * t - (T)1.58798505606903983e-5;
    quotient = quotient * t + (T)1.58590768230944575e-4;
    quotient = quotient * t - (T)4.81116040279104563e-4;
    quotient = quotient * t - (T)6.71708415222567956e-3;
    quotient = quotient * t + (T)0.235358309170732385;
    quotient = quotient * t + (T)1.74282992206594404;
  } else {
    const T t = OF_FUNCTION(sqrt)(w) - (T)4;
    quotient = (T)9.28732979488817356e-7;
    quotient = quotient * t - (T)7.1540878435376621e-6;
    quotient = quotient * t + (T)2.21030268150825579e-5;
    quotient = quotient * t - (T)3.77338915358077421e-5;
    quotient = quotient * t + (T)5.3475746974549611e-5;
    quotient = quotient * t - (T)1.1301759090073354e-4;
    quotient = quotient * t + (T)3.21703060919573269e-4;
    quotient = quotient * t - (T)8.70713688723737178e-4;
    quotient = quotient * t + (T)1.25961301994606052e-3;
    quotient = quotient * t + (T)1.00949342105387783;
    quotient = quotient * t + (T)3.83978381696094546;
  }
  T result = size * quotient;
  for (int step = sizeof(T) == 8 ? 0 : 2; step < 2; ++step) {
    const T rest = size < (T)0.5 ? OF_FUNCTION(erf)(result) - size : ((T)1 - size) - OF_FUNCTION(erfc)(result);
    const T newton = rest * (T)0.886226925452758014 * OF_FUNCTION(exp)(result * result);
    result -= newton / ((T)1 + result * newton);
  }
  return OF_FUNCTION(copysign)(result, x);
}

// Returns the derivative of lgamma: an infinity at 0, with the sign of -x, and NaN at negative integers.
//
// From 10 on it is an asymptotic series (Abramowitz and Stegun, 6.3.18); between 1 and 2, a rational function times the
// distance from its root, which is given in two parts, so that it is accurate near the root. Between them, and below 1,
// the recurrence formula (6.3.5) leads to the latter, and the reflection formula (6.3.7) to positive arguments.
OF_DEVICE T OF_FUNCTION(digamma)(T x) {
  if (x == (T)0) return (T)-1 / x;
  T sum = (T)0;
  if (x < (T)0) {
    if (x == OF_FUNCTION(floor)(x)) return (x - x) / (x - x);
    sum = (T)-3.14159265358979324 / OF_FUNCTION(tan)((T)3.14159265358979324 * (x - OF_FUNCTION(round)(x)));
    x = (T)1 - x;
  }
  if (x >= (T)10) {
    const T z = (T)1 / (x * x);
    T series = (T)0.0833333333333333333;
    series = (T)0.0210927960927960928 - z * series;
    series = (T)7.57575757575757576e-3 - z * series;
    series = (T)4.16666666666666667e-3 - z * series;
    series = (T)3.96825396825396825e-3 - z * series;
    series = (T)8.33333333333333333e-3 - z * series;
    series = (T)0.0833333333333333333 - z * series;
    return sum + (OF_FUNCTION(log)(x) - (T)0.5 / x - z * series);
  }
  if (x < (T)1) {
    sum -= (T)1 / x;
    x += (T)1;
  }
  for (int step = 0; step < 8; ++step) {
    if (x < (T)2) break;
    x -= (T)1;
    sum += (T)1 / x;
  }
  const T t = x - (T)1.5;
  T above = (T)9.06855365999797218e-5;
  above = above * t + (T)5.20137466350833403e-3;
  above = above * t + (T)7.76140265765174694e-2;
  above = above * t + (T)0.452383243239480023;
  above = above * t + (T)1.10985028795510999;
  above = above * t + (T)0.95105587603183288;
  T below = (T)1.60318677053205978e-5;
  below = below * t + (T)1.43094134582296494e-3;
  below = below * t + (T)3.01043264320662813e-2;
  below = below * t + (T)0.2489669046933261;
  below = below * t + (T)0.940949426975618437;
  below = below * t + (T)1.61239496845844974;
  below = below * t + (T)1;
  const T root = (T)1.4616321449683622;
  const T distance = (x - root) - (sizeof(T) == 8 ? (T)9.549995429965697e-17 : (T)1.243814994e-8);
  return sum + distance * (above / below);
}

// Returns the sum of (q + k) to the power -s over all k from 0 on, for positive q and s above 1: ten terms, and the
// Euler-Maclaurin formula for the others (Abramowitz and Stegun, 23.1.30).
OF_DEVICE T OF_FUNCTION(positive_zeta)(T s, T q) {
  T sum = (T)0;
  for (int k = 0; k < 10; ++k) sum += OF_POWER(q + (T)k, -s);
  const T from = q + (T)10, rest = OF_POWER(from, (T)1 - s), last = rest / from, z = (T)1 / (from * from);
  // Each coefficient is a Bernoulli number divided by a factorial, of 14, 12, 10, 8, 6, 4 and 2.
  T series = (T)1.33825365306846788e-11;
  series = series * ((s + (T)11) * (s + (T)12)) * z - (T)5.28419013868749318e-10;
  series = series * ((s + (T)9) * (s + (T)10)) * z + (T)2.08767569878680990e-8;
  series = series * ((s + (T)7) * (s + (T)8)) * z - (T)8.26719576719576719e-7;
  series = series * ((s + (T)5) * (s + (T)6)) * z + (T)3.30687830687830688e-5;
  series = series * ((s + (T)3) * (s + (T)4)) * z - (T)1.38888888888888889e-3;
  series = series * ((s + (T)1) * (s + (T)2)) * z + (T)8.33333333333333333e-2;
  return sum + rest / (s - (T)1) + last * ((T)0.5 + series * s / from);
}

// Returns the Hurwitz zeta function: the sum of (q + k) to the power -s over all k from 0 on. It is infinite where s is
// 1, or q is 0 or a negative integer; NaN for smaller s, and for negative q if s is no integer.
//
// For a negative q, the terms below 0 are the difference of two such sums.
OF_DEVICE T OF_FUNCTION(zeta)(T s, T q) {
  if (s == (T)1) return (T)1 / (T)0;
  if (s < (T)1) return (q - q) / (q - q);
  if (!(q <= (T)0)) return OF_FUNCTION(positive_zeta)(s, q);
  if (q == OF_FUNCTION(floor)(q)) return (T)1 / (T)0;
  if (s != OF_FUNCTION(floor)(s)) return (q - q) / (q - q);
  const T rest = OF_FUNCTION(ceil)(q) - q;
  const T below = OF_FUNCTION(positive_zeta)(s, rest) - OF_FUNCTION(positive_zeta)(s, (T)1 - q);
  const T above = OF_FUNCTION(positive_zeta)(s, (T)1 - rest);
  return s == (T)2 * OF_FUNCTION(floor)(s / (T)2) ? above + below : above - below;
}

// Returns the modified Bessel function of the first kind of |x|, for the order 0 or 1: the ascending series, whose
// terms are all positive, or from 20 on the asymptotic one (Abramowitz and Stegun, 9.6.10 and 9.7.1). The exponential
// is squared last, because it overflows earlier than the result.
OF_DEVICE T OF_FUNCTION(bessel_i)(T order, T size) {
  T sum = (T)1, term = (T)1;
  if (size < (T)20) {
    const T square = (T)0.25 * size * size;
    for (int k = 1; k < 40; ++k) {
      term *= square / ((T)k * ((T)k + order));
      sum += term;
    }
    return sum;
  }
  if (size > (T)1500) return OF_FUNCTION(exp)(size);
  for (int k = 1; k < 31; ++k) {
    const T odd = (T)(2 * k - 1);
    term *= (odd * odd - (T)4 * order) / ((T)(8 * k) * size);
    sum += term;
  }
  const T root = OF_FUNCTION(exp)((T)0.5 * size);
  return root * (sum / OF_FUNCTION(sqrt)((T)6.28318530717958648 * size)) * root;
}
OF_DEVICE T OF_FUNCTION(i0)(T x) { return OF_FUNCTION(bessel_i)((T)0, OF_FUNCTION(abs)(x)); }
OF_DEVICE T OF_FUNCTION(i1)(T x) {
  const T size = OF_FUNCTION(abs)(x), value = OF_FUNCTION(bessel_i)((T)1, size);
  return size < (T)20 ? (T)0.5 * x * value : OF_FUNCTION(copysign)(value, x);
}

#endif
