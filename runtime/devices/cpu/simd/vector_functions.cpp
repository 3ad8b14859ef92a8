// Defines the scalar functions of simd/vector_functions.h by those of the C library.
#include <cmath>

#define OF_DEFINE(name, bound)                              \
  float of_##name##_float(float x) { return std::name(x); } \
  double of_##name##_double(double x) { return std::name(x); }
#define OF_DEFINE_BINARY(name, bound)                                   \
  float of_##name##_float(float x, float y) { return std::name(x, y); } \
  double of_##name##_double(double x, double y) { return std::name(x, y); }

// Without OF_SLEEF, so that the definitions lack the attribute `simd`: the compiler would generate vector variants of
// its own.
#undef OF_SLEEF
#include "simd/vector_functions.h"

extern "C" {
OF_UNARY_FUNCTIONS(OF_DEFINE)
OF_BINARY_FUNCTIONS(OF_DEFINE_BINARY)
}
