// The vector variants of the approximate functions, under the names that the vector function ABI gives them.
#if defined(OF_SLEEF)
#include <sleef.h>

#include "vector_functions.h"

#if defined(__AVX512F__)
#define OF_NAME(lanes, parameters, name) _ZGVeN##lanes##parameters##_of_##name
#define OF_FLOATS __m512
#define OF_DOUBLES __m512d
#define OF_FLOAT_LANES 16
#define OF_DOUBLE_LANES 8
#define OF_SET avx512f
#elif defined(__AVX2__)
#define OF_NAME(lanes, parameters, name) _ZGVdN##lanes##parameters##_of_##name
#define OF_FLOATS __m256
#define OF_DOUBLES __m256d
#define OF_FLOAT_LANES 8
#define OF_DOUBLE_LANES 4
#define OF_SET avx2
#else
#define OF_NAME(lanes, parameters, name) _ZGVbN##lanes##parameters##_of_##name
#define OF_FLOATS __m128
#define OF_DOUBLES __m128d
#define OF_FLOAT_LANES 4
#define OF_DOUBLE_LANES 2
#define OF_SET sse4
#endif

// Arguments are expanded once more, so that the macros above are seen.
#define OF_EXPANDED_NAME(lanes, parameters, name) OF_NAME(lanes, parameters, name)
#define OF_SLEEF_NAME(name, type, lanes, bound, set) Sleef_##name##type##lanes##_u##bound##set
#define OF_EXPANDED_SLEEF_NAME(name, type, lanes, bound, set) OF_SLEEF_NAME(name, type, lanes, bound, set)

#define OF_DEFINE(name, bound)                                                   \
  OF_FLOATS OF_EXPANDED_NAME(OF_FLOAT_LANES, v, name##_float)(OF_FLOATS x) {     \
    return OF_EXPANDED_SLEEF_NAME(name, f, OF_FLOAT_LANES, bound, OF_SET)(x);    \
  }                                                                              \
  OF_DOUBLES OF_EXPANDED_NAME(OF_DOUBLE_LANES, v, name##_double)(OF_DOUBLES x) { \
    return OF_EXPANDED_SLEEF_NAME(name, d, OF_DOUBLE_LANES, bound, OF_SET)(x);   \
  }
#define OF_DEFINE_BINARY(name, bound)                                                           \
  OF_FLOATS OF_EXPANDED_NAME(OF_FLOAT_LANES, vv, name##_float)(OF_FLOATS x, OF_FLOATS y) {      \
    return OF_EXPANDED_SLEEF_NAME(name, f, OF_FLOAT_LANES, bound, OF_SET)(x, y);                \
  }                                                                                             \
  OF_DOUBLES OF_EXPANDED_NAME(OF_DOUBLE_LANES, vv, name##_double)(OF_DOUBLES x, OF_DOUBLES y) { \
    return OF_EXPANDED_SLEEF_NAME(name, d, OF_DOUBLE_LANES, bound, OF_SET)(x, y);               \
  }

extern "C" {
OF_UNARY_FUNCTIONS(OF_DEFINE)
OF_BINARY_FUNCTIONS(OF_DEFINE_BINARY)
}
#endif
