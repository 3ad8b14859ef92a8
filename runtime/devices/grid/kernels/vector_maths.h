// Functions of float32 for processors, as arithmetic without branches, of which compilers make vectors: PoCL 3.1 calls
// a function of a library for each element instead (exp of 16M elements took 13 ms, ours 7; log 447, ours 8). Errors
// are at most 2 units of the last place.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_VECTOR_MATHS_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_VECTOR_MATHS_H_

#define OF_LN2_HIGH 0.693145751953125f  // 16 bits, so that products by exponents are exact
#define OF_LN2_LOW 1.42860677e-6f
#define OF_LOG2_E 1.44269502f

// To the nearest integer, for what is far below 2^22 (2^51): rint() is a call of PoCL's, too.
static inline float of_nearest(float x) { return (x + 12582912.0f) - 12582912.0f; }

// e^r - 1 where |r| is up to ln(2) / 2: the series, to r^7.
static inline float of_series_expm1(float r) {
  float sum = fma(r, 1.98412698e-4f, 1.38888889e-3f);
  sum = fma(fma(fma(sum, r, 8.33333333e-3f), r, 4.16666667e-2f), r, 1.66666667e-1f);
  return fma(fma(sum, r, 0.5f), r * r, r);
}
// 2^n, for n from -126 to 127.
static inline float of_power_of_2(int n) { return as_float((n + 127) << 23); }
// s * 2^n, for n from -252 to 254.
static inline float of_scale(float s, int n) { return s * of_power_of_2(n >> 1) * of_power_of_2(n - (n >> 1)); }
// What x is to the nearest multiple of ln(2).
static inline float of_beyond_ln2s(float x, float n) { return fma(n, -OF_LN2_LOW, fma(n, -OF_LN2_HIGH, x)); }
// Within limits, so that it has an integer: NaN, too.
static inline float of_within(float x, float low, float high) { return x > low ? (x < high ? x : high) : low; }
static inline float of_unless_nan(float x, float value) { return x != x ? x : value; }

static inline float of_float_exp(float x) {
  const float bounded = of_within(x, -104.0f, 89.0f), n = of_nearest(bounded * OF_LOG2_E);
  return of_unless_nan(x, of_scale(1.0f + of_series_expm1(of_beyond_ln2s(bounded, n)), (int)n));
}
static inline float of_float_exp2(float x) {
  const float bounded = of_within(x, -151.0f, 129.0f), n = of_nearest(bounded);
  return of_unless_nan(x, of_scale(1.0f + of_series_expm1((bounded - n) * 0.693147181f), (int)n));
}
static inline float of_float_expm1(float x) {
  const float bounded = of_within(x, -20.0f, 89.0f), n = of_nearest(bounded * OF_LOG2_E);
  const float half_scale = of_power_of_2((int)n - 1);
  const float half_of_it = fma(half_scale, of_series_expm1(of_beyond_ln2s(bounded, n)), half_scale - 0.5f);
  return x == 0.0f || x != x ? x : 2.0f * half_of_it;
}

// x = 2^exponent * (1 + rest), the second factor being from sqrt(1/2) to sqrt(2), for x > 0.
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
  // ln(1 + r) = 2 artanh(s) for s = r / (2 + r), of which 2 s = r - r s is the first member of the series.
  const float s = log.rest / (2.0f + log.rest), z = s * s;
  const float others = z * fma(fma(fma(z, 0.222222222f, 0.285714286f), z, 0.4f), z, 0.666666667f);
  log.correction = s * (log.rest - others);
  return log;
}
// Of what is not a positive number.
static inline float of_or_limit(float x, float log) {
  const float of_others = x == 0.0f ? -INFINITY : x > 0.0f ? x : NAN;
  return x > 0.0f && x < INFINITY ? log : of_others;
}
static inline float of_float_log(float x) {
  const of_logarithm log = of_split(x);
  const float low = fma(log.exponent, OF_LN2_LOW, -log.correction);
  return of_or_limit(x, fma(log.exponent, OF_LN2_HIGH, log.rest + low));
}
static inline float of_float_log2(float x) {
  const of_logarithm log = of_split(x);
  const float natural = log.rest - log.correction;
  return of_or_limit(x, fma(natural, OF_LOG2_E, fma(natural, 1.92596299e-8f, log.exponent)));
}
static inline float of_float_log10(float x) {
  const of_logarithm log = of_split(x);
  const float low = fma(log.rest - log.correction, 0.434294482f, log.exponent * 4.60503881e-6f);
  return of_or_limit(x, fma(log.exponent, 0.301025391f, low));
}
// What rounds off when 1 is added is made up for.
static inline float of_float_log1p(float x) {
  const float sum = 1.0f + x, lost = (x - (sum - 1.0f)) / sum;
  const float log = of_float_log(sum) + lost;
  return x == 0.0f || x == INFINITY ? x : sum == 0.0f ? -INFINITY : log;
}

#if OF_HAS_DOUBLE
// 2^i less all whole turns of a circle, in two doubles.
__constant double of_turned_powers[105][2] = {
    {1.0, 0.0},
    {2.0, 0.0},
    {-2.2831853071795867, 1.9915985002059197e-16},
    {1.7168146928204135, -2.2884754904439327e-17},
    {-2.8495559215387596, 1.5339034021171333e-16},
    {0.5840734641020676, -3.4014720596809827e-18},
    {1.1681469282041352, -6.802944119361965e-18},
    {2.3362938564082705, -1.360588823872393e-17},
    {-1.6105975943630455, -5.009653138188719e-17},
    {3.0619901184534952, 1.4473629706569626e-16},
    {-0.15920507027259573, -1.0967916929335949e-17},
    {-0.31841014054519146, -2.1935833858671898e-17},
    {-0.6368202810903829, -4.3871667717343795e-17},
    {-1.2736405621807658, -8.774333543468759e-17},
    {-2.5472811243615316, -1.7548667086937518e-16},
    {1.188623058456523, -1.0604398190927974e-16},
    {2.377246116913046, -2.120879638185595e-16},
    {-1.5286930733534951, -2.971472691495685e-18},
    {-3.0573861467069903, -5.94294538299137e-18},
    {0.1684130137656059, 1.0998864138456587e-17},
    {0.3368260275312118, 2.1997728276913175e-17},
    {0.6736520550624236, 4.399545655382635e-17},
    {1.3473041101248473, 8.79909131076527e-17},
    {2.6946082202496946, 1.759818262153054e-16},
    {-0.8939688666801969, -3.988009861375488e-18},
    {-1.7879377333603939, -7.976019722750976e-18},
    {2.707309840458799, -2.1511188946609392e-16},
    {-0.868565626261989, -9.019323986564577e-18},
    {-1.737131252523978, -1.8038647973129154e-17},
    {2.8089228021316304, 2.0885206388321233e-16},
    {-0.6653397029163253, -4.9269836988077296e-17},
    {-1.3306794058326505, -9.853967397615459e-17},
    {-2.661358811665301, -1.9707934795230919e-16},
    {0.960467683848984, -3.820703361263207e-17},
    {1.920935367697968, -7.641406722526414e-17},
    {-2.441314571783651, 4.63317155700637e-17},
    {1.400556163612285, -1.0649641888046457e-16},
    {2.80111232722457, -2.1299283776092915e-16},
    {-0.680960652730447, -4.781220576235026e-18},
    {-1.361921305460894, -9.562441152470052e-18},
    {-2.723842610921788, -1.9124882304940104e-17},
    {0.8355000853360102, -1.5365009705440884e-17},
    {1.6710001706720203, -3.073001941088177e-17},
    {-2.941184965835546, 1.3769981119882845e-16},
    {0.4008153755084947, 2.0728621145807084e-17},
    {0.8016307510169894, 4.145724229161417e-17},
    {1.6032615020339789, 8.291448458322833e-17},
    {-3.0766623031116285, -7.910039066301396e-17},
    {0.12986070095632937, 3.4618516565559846e-18},
    {0.25972140191265874, 6.923703313111969e-18},
    {0.5194428038253175, 1.3847406626223939e-17},
    {1.038885607650635, 2.7694813252447877e-17},
    {2.07777121530127, 5.5389626504895754e-17},
    {-2.1276428765770463, -1.3415010681967913e-16},
    {2.0278995540254936, -2.337085380988763e-17},
    {-2.2273861991285995, 1.5241814240081672e-16},
    {1.8284129089223877, 1.0567643478104146e-16},
    {-2.626359489334811, -3.3576490267387724e-17},
    {1.030466328509965, -4.426822563033612e-17},
    {2.06093265701993, -8.853645126067224e-17},
    {-2.161319993139727, 2.2086947499247497e-17},
    {1.9605453209001322, 6.705864990293432e-17},
    {-2.362094665379322, -1.1081206002360199e-16},
    {1.5589959764209427, 2.3305239782266665e-17},
    {3.1179919528418854, 4.661047956453333e-17},
    {-0.047201401495815684, 9.4726518555505e-19},
    {-0.09440280299163137, 1.8945303711101e-18},
    {-0.18880560598326274, 3.7890607422202e-18},
    {-0.3776112119665255, 7.5781214844404e-18},
    {-0.755222423933051, 1.51562429688808e-17},
    {-1.510444847866102, 3.03124859377616e-17},
    {-3.020889695732204, 6.06249718755232e-17},
    {0.24140591571517903, 5.356820577341173e-18},
    {0.48281183143035805, 1.0713641154682347e-17},
    {0.9656236628607161, 2.1427282309364693e-17},
    {1.9312473257214322, 4.2854564618729387e-17},
    {-2.420690655736722, -1.5922023059201187e-16},
    {1.4418039957061426, -7.351110135455308e-17},
    {2.883607991412285, -1.4702220270910616e-16},
    {-0.5159693243550164, 1.6137747064895307e-17},
    {-1.0319386487100328, 3.2275494129790613e-17},
    {-2.0638772974200656, 6.455098825958123e-17},
    {2.1554307123394554, -7.005787350142952e-17},
    {-1.972323882500676, 5.904410301773294e-17},
    {2.338537542178235, -8.107164398512609e-17},
    {-1.606110222823117, 3.7016562050339816e-17},
    {3.0709648615333527, -1.2512672591991234e-16},
    {-0.14125558411288136, 4.417549412025121e-18},
    {-0.2825111682257627, 8.835098824050243e-18},
    {-0.5650223364515254, 1.7670197648100485e-17},
    {-1.1300446729030509, 3.534039529620097e-17},
    {-2.2600893458061018, 7.068079059240194e-17},
    {1.7630066155673831, -5.779826883578811e-17},
    {-2.7571720760448204, 8.356331234901577e-17},
    {0.7688411550899459, -3.203322532256044e-17},
    {1.5376823101798918, -6.406645064512088e-17},
    {3.0753646203597835, -1.2813290129024176e-16},
    {-0.13245606646001967, -1.5948013286337e-18},
    {-0.26491213292003934, -3.1896026572674e-18},
    {-0.5298242658400787, -6.3792053145348e-18},
    {-1.0596485316801574, -1.27584106290696e-17},
    {-2.1192970633603148, -2.55168212581392e-17},
    {2.0445911804589567, 1.9389571731319223e-16},
    {-2.194002946261673, 1.4286207479691384e-16},
    {1.895179414656241, 8.656429957323569e-17},
};

// An angle as a number of quarters of a circle and what is left of it, in [-pi / 4, pi / 4]: x is an integer of 24 bits
// times 2^i, or less than that; of the power, whole turns are left out, so that angles of any size are exact.
typedef struct of_angle {
  int quarters;
  float sine, cosine;  // of what is left
} of_angle;
static inline of_angle of_split_angle(float x) {
  const int exponent = (as_int(fabs(x)) >> 23) - 150;
  const int i = exponent < 0 ? 0 : exponent > 104 ? 104 : exponent;
  const double factor = (double)x * (double)of_power_of_2(-i), power = of_turned_powers[i][0];
  const double product = factor * power;
  const double rest_of_it = fma(factor, power, -product) + factor * of_turned_powers[i][1];
  const double quarters = product * 0.6366197723675814;
  const double n = (quarters + 6755399441055744.0) - 6755399441055744.0;
  const float left = (float)(fma(n, -6.123233995736766e-17, fma(n, -1.5707963267948966, product)) + rest_of_it);
  const float z = left * left;
  of_angle angle;
  angle.quarters = (int)(x - x == 0.0f ? n : 0.0);
  const float s = fma(fma(fma(z, 2.75573192e-6f, -1.98412698e-4f), z, 8.33333333e-3f), z, -1.66666667e-1f);
  angle.sine = fma(s * z, left, left);
  const float c = fma(fma(fma(z, -2.75573192e-7f, 2.48015873e-5f), z, -1.38888889e-3f), z, 4.16666667e-2f);
  angle.cosine = fma(fma(c, z, -0.5f), z, 1.0f);
  return angle;
}
static inline float of_sine_of(of_angle angle, int quarters) {
  const float value = quarters & 1 ? angle.cosine : angle.sine;
  return quarters & 2 ? -value : value;
}
static inline float of_float_sin(float x) {
  const of_angle angle = of_split_angle(x);
  return x == 0.0f ? x : x - x == 0.0f ? of_sine_of(angle, angle.quarters) : NAN;
}
static inline float of_float_cos(float x) {
  const of_angle angle = of_split_angle(x);
  return x - x == 0.0f ? of_sine_of(angle, angle.quarters + 1) : NAN;
}
static inline float of_float_tan(float x) {
  const of_angle angle = of_split_angle(x);
  return x == 0.0f       ? x
         : x - x == 0.0f ? of_sine_of(angle, angle.quarters) / of_sine_of(angle, angle.quarters + 1)
                         : NAN;
}

// 2^(exponent * log2(|base|)) in double precision, of which float32 keeps half.
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
  const int whole = (int)of_within(exponent, -16777216.0f, 16777216.0f);
  const bool is_whole = is_even | (whole == exponent), is_odd = !is_even & is_whole & whole;
  const float with_sign = is_odd ? copysign(result, base) : result;
  const bool is_none = (base != base) | (exponent != exponent) | ((base < 0.0f) & (base > -INFINITY) & !is_whole);
  const bool is_one = (base == 1.0f) | (exponent == 0.0f) | ((base == -1.0f) & (fabs(exponent) == INFINITY));
  return is_one ? 1.0f : is_none ? NAN : with_sign;
}
#endif

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_VECTOR_MATHS_H_
