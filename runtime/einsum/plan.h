// What a contraction's equation and arguments, and the layouts and dtypes of its tensors, decide.
#ifndef ONEFLOW_EINSUM_PLAN_H_
#define ONEFLOW_EINSUM_PLAN_H_

#include "dispatch/call.h"
#include "einsum/stage.h"

namespace oneflow::einsum {

struct Plan {
  Shape shape;        // of the result
  of_dtype dtype;     // of the result
  of_dtype working;   // that stages compute in: complex numbers by their parts, half precision with intermediates in
                      // float32
  bool sums_nothing;  // whether a label of size 0 is summed: there are no stages then
  Labels output;      // the labels of the result's dimensions
  std::vector<bool> conversions;  // which inputs are of another dtype
  bool is_single;                 // whether there is one stage, over the inputs as they are
  std::vector<Stage> stages;      // the last one writes the result, which lies without gaps
};

// Visits the tensors that a call multiplies, in the order of the equation: all but the one that is added.
template <class Visit>
void for_each_input(const Call& call, Visit&& visit) {
  const int addend = std::get<ContractionRule>(call.schema().rule).addend;
  for (const uint8_t argument : call.op.tensor_arguments()) {
    if (argument == addend) continue;
    if (call.is_tensor(argument)) {
      visit(call.tensor(argument));
    } else {
      for (const of_tensor tensor : call.tensors(argument)) visit(*to_tensor(tensor));
    }
  }
}

// Errors of equation.h, rules.h, sizes.h and path.h, and those of dtypes.
Plan make_plan(const Call& call);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_PLAN_H_
