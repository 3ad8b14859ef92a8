// The functions that are computed approximately, such as exp: scalar ones, with a vector variant per instruction set.
//
// When the compiler vectorises a loop that calls of_exp_float() with 16 lanes, the loop calls _ZGVeN16v_of_exp_float(),
// the name that the vector function ABI gives the variant. The variants call SLEEF. The names are our own, because
// libmvec, which a program may have loaded, would override exp of any other library.
#ifndef ONEFLOW_DEVICES_CPU_SIMD_VECTOR_FUNCTIONS_H_
#define ONEFLOW_DEVICES_CPU_SIMD_VECTOR_FUNCTIONS_H_

#if defined(OF_SLEEF)
#define OF_VECTOR_VARIANTS __attribute__((simd("notinbranch"), const, nothrow))
#else
#define OF_VECTOR_VARIANTS __attribute__((const, nothrow))
#endif

// The functions of one and of two operands, as X(name, bound) for each. `bound` is the largest error in tenths of a
// unit of the last place, which is part of SLEEF's function names; 0 for exact results.
#define OF_UNARY_FUNCTIONS(X) \
  OF_SLEEF_FUNCTIONS(X)       \
  X(tan, 10)
// Those whose vector variants are SLEEF's as they are.
#define OF_SLEEF_FUNCTIONS(X) \
  X(exp, 10)                  \
  X(exp2, 10)                 \
  X(expm1, 10)                \
  X(log, 10)                  \
  X(log2, 10)                 \
  X(log10, 10)                \
  X(log1p, 10)                \
  X(sin, 10)                  \
  X(cos, 10)                  \
  X(asin, 10)                 \
  X(acos, 10)                 \
  X(atan, 10)                 \
  X(sinh, 10)                 \
  X(cosh, 10)                 \
  X(tanh, 10)                 \
  X(asinh, 10)                \
  X(acosh, 10)                \
  X(atanh, 10)                \
  X(erf, 10)                  \
  X(erfc, 15)                 \
  X(lgamma, 10)
#define OF_BINARY_FUNCTIONS(X) \
  X(atan2, 10)                 \
  X(pow, 10)                   \
  X(fmod, 0)

extern "C" {
#define OF_DECLARE(name, bound)                        \
  OF_VECTOR_VARIANTS float of_##name##_float(float x); \
  OF_VECTOR_VARIANTS double of_##name##_double(double x);
OF_UNARY_FUNCTIONS(OF_DECLARE)
#undef OF_DECLARE
#define OF_DECLARE(name, bound)                                 \
  OF_VECTOR_VARIANTS float of_##name##_float(float x, float y); \
  OF_VECTOR_VARIANTS double of_##name##_double(double x, double y);
OF_BINARY_FUNCTIONS(OF_DECLARE)
#undef OF_DECLARE
}
#undef OF_VECTOR_VARIANTS

#endif  // ONEFLOW_DEVICES_CPU_SIMD_VECTOR_FUNCTIONS_H_
