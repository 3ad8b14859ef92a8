// Operators of kind `composite`: expressions over other operators, each of which passes through dispatch.
#ifndef ONEFLOW_OPS_COMPOSITE_H_
#define ONEFLOW_OPS_COMPOSITE_H_

#include "dispatch/program_body.h"

namespace oneflow {

struct CompositeRule {
  bool rounds = false;  // whether float16 and bfloat16 operands are computed in float32, so that they are rounded once
  void (*body)(ProgramBody&);
};

void run_composite(Call& call);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_COMPOSITE_H_
