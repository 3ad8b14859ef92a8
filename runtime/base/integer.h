// An integer whose arithmetic throws an error instead of overflowing. The generated programs compute sizes with it.
#ifndef ONEFLOW_BASE_INTEGER_H_
#define ONEFLOW_BASE_INTEGER_H_

#include <concepts>
#include <cstdint>

#include "base/error.h"

namespace oneflow {

class Integer {
 public:
  constexpr Integer(int64_t value = 0) : value_(value) {}
  constexpr operator int64_t() const { return value_; }

  // Throw InvalidArgument if the result does not fit into 64 bits.
  friend Integer operator+(Integer a, Integer b) {
    return checked(__builtin_add_overflow(a.value_, b.value_, &a.value_), a);
  }
  friend Integer operator-(Integer a, Integer b) {
    return checked(__builtin_sub_overflow(a.value_, b.value_, &a.value_), a);
  }
  friend Integer operator*(Integer a, Integer b) {
    return checked(__builtin_mul_overflow(a.value_, b.value_, &a.value_), a);
  }
  friend Integer operator-(Integer a) { return Integer(0) - a; }

  // These make an operation with a literal unambiguous, since both operands convert to each other's type.
  template <std::integral Other>
  friend Integer operator+(Integer a, Other b) {
    return a + Integer(b);
  }
  template <std::integral Other>
  friend Integer operator+(Other a, Integer b) {
    return Integer(a) + b;
  }
  template <std::integral Other>
  friend Integer operator-(Integer a, Other b) {
    return a - Integer(b);
  }
  template <std::integral Other>
  friend Integer operator-(Other a, Integer b) {
    return Integer(a) - b;
  }
  template <std::integral Other>
  friend Integer operator*(Integer a, Other b) {
    return a * Integer(b);
  }
  template <std::integral Other>
  friend Integer operator*(Other a, Integer b) {
    return Integer(a) * b;
  }
  // A difference with a float is a float.
  template <std::floating_point Other>
  friend Other operator-(Integer a, Other b) {
    return static_cast<Other>(a.value_) - b;
  }

 private:
  static Integer checked(bool overflows, Integer result) {
    if (overflows) [[unlikely]]
      fail(OF_INVALID_ARGUMENT, "the arguments are so large that a size or a position overflows");
    return result;
  }

  int64_t value_;
};

// Returns the quotient, rounded towards negative infinity. Throws InvalidArgument for a divisor of 0.
inline Integer floordiv(Integer a, Integer b) {
  if (b == 0) fail(OF_INVALID_ARGUMENT, "a size cannot be divided by 0");
  if (b == -1) return -a;
  const int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}

// Returns the remainder, which has the sign of the divisor. Throws InvalidArgument for a divisor of 0.
inline Integer remainder(Integer a, Integer b) {
  if (b == 0) fail(OF_INVALID_ARGUMENT, "a size cannot be divided by 0");
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + static_cast<int64_t>(b) : rest;
}

}  // namespace oneflow

#endif  // ONEFLOW_BASE_INTEGER_H_
