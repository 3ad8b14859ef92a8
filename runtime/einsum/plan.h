// Plans of contractions: everything that follows from the equation, the arguments, and the layouts and dtypes of the
// tensors, but not from their elements.
#ifndef ONEFLOW_EINSUM_PLAN_H_
#define ONEFLOW_EINSUM_PLAN_H_

#include <optional>

#include "einsum/contraction.h"
#include "einsum/stage.h"

namespace oneflow::einsum {

// The plan of a contraction.
struct Plan {
  Shape shape;        // of the result
  of_dtype dtype;     // of the result
  of_dtype working;   // the real dtype of the stages: that of the parts of complex numbers, or float32 if intermediates
                      // in half precision would be rounded
  bool is_empty_sum;  // whether a label has size 0: the result is zero or empty, and there are no stages
  Labels output;      // the labels of the result's dimensions
  std::vector<bool> conversions;  // for each input, whether it is converted to the working dtype
  std::optional<Shape> strides;   // of the result within the only operand, if it has the same elements
  bool is_single;                 // whether there is a single stage, on unconverted inputs
  std::vector<Stage> stages;      // the last one writes the result, which is planned as contiguous
};

// Calls visit(tensor) for the tensors that a call multiplies, in the order of the equation. Skips the addend.
template <class Visit>
void for_each_input(const Call& call, Visit&& visit) {
  const int addend = rule_of<ContractionRule>(call.schema()).addend;
  for (const uint8_t argument : call.op.tensor_arguments()) {
    if (argument == addend) continue;
    if (call.is_tensor(argument)) {
      visit(call.tensor(argument));
    } else {
      for (const of_tensor tensor : call.tensors(argument)) visit(*to_tensor(tensor));
    }
  }
}

// Returns the plan of a call. Throws the errors of equation.h, rules.h, sizes.h and path.h, and those of
// resolve_dtypes().
Plan make_plan(const Call& call);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_PLAN_H_
