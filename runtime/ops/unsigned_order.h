// Operators that only compare elements, for uint64: devices compute on its elements as int64, in which those of 2^63
// and more come before all others. With the highest bit inverted, they are in the right order.
#ifndef ONEFLOW_OPS_UNSIGNED_ORDER_H_
#define ONEFLOW_OPS_UNSIGNED_ORDER_H_

#include "dispatch/call.h"

namespace oneflow {

// What the expressions of an operator find out about its operands.
enum class Comparison { kEquality, kOrder };

// Runs a call that has a uint64 operand, or a number above the range of int64, if its kernel would compare these
// wrongly. Returns whether it did.
bool compare_unsigned(Call& call, Comparison comparison);

// Runs an operator of the kind that `run` runs.
template <void (*run)(Call&), Comparison comparison>
void run_comparison(Call& call) {
  if (!compare_unsigned(call, comparison)) run(call);
}

}  // namespace oneflow

#endif  // ONEFLOW_OPS_UNSIGNED_ORDER_H_
