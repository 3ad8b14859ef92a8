// What the generated programs for the sizes of a result see: the arguments of a call.
#ifndef ONEFLOW_OPS_SIZE_BODY_H_
#define ONEFLOW_OPS_SIZE_BODY_H_

#include "dispatch/program_body.h"
#include "ops/program_functions.h"

namespace oneflow {

// The programs are templates over a body, which names the types of integers and of lists of them.
class SizeBody : public ProgramArguments {
 public:
  using Integer = oneflow::Integer;
  using Integers = oneflow::Integers;
  using Shape = oneflow::Shape;

  using ProgramArguments::ProgramArguments;
};

}  // namespace oneflow

#endif  // ONEFLOW_OPS_SIZE_BODY_H_
