// The scalar functions: the C library's.
#include <cmath>

#define OF_DEFINE(name, bound)                              \
  float of_##name##_float(float x) { return std::name(x); } \
  double of_##name##_double(double x) { return std::name(x); }
#define OF_DEFINE_BINARY(name, bound)                                   \
  float of_##name##_float(float x, float y) { return std::name(x, y); } \
  double of_##name##_double(double x, double y) { return std::name(x, y); }

// Definitions must not carry the variants' attribute: the compiler would make variants of its own.
#undef OF_SLEEF
#include "vector_functions.h"

extern "C" {
OF_UNARY_FUNCTIONS(OF_DEFINE)
OF_BINARY_FUNCTIONS(OF_DEFINE_BINARY)
}
