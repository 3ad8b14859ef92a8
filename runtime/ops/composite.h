// Operators of kind `composite`: expressions over other operators, each of which passes through dispatch.
#ifndef ONEFLOW_OPS_COMPOSITE_H_
#define ONEFLOW_OPS_COMPOSITE_H_

#include "dispatch/dimension_map.h"
#include "dispatch/program_body.h"

namespace oneflow {

struct CompositeRule {
  bool rounds = false;  // whether float16 and bfloat16 operands are computed in float32, so that they are rounded once
  bool is_elementwise = false;  // whether devices may have an elementwise kernel for it
  void (*body)(ProgramBody&);
};

void run_composite(Call& call);

// Composes the dimension maps of the calls that the program makes.
void composite_dimensions(Call& call, const Shape& result, DimensionMap& map);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_COMPOSITE_H_
