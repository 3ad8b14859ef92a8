// What the generated programs for the sizes of a result see: the arguments of a call.
#ifndef ONEFLOW_OPS_SIZE_BODY_H_
#define ONEFLOW_OPS_SIZE_BODY_H_

#include "dispatch/call.h"
#include "ops/program_functions.h"

namespace oneflow {

// The programs are templates over a body, which names the types of integers and of lists of them.
class SizeBody {
 public:
  using Integer = oneflow::Integer;
  using Integers = oneflow::Integers;
  using Shape = oneflow::Shape;

  explicit SizeBody(const Call& call) : call_(call) {}

  bool is_given(int argument) const { return call_.is_given(argument); }
  const of_value& argument(int argument) const { return call_.arguments[argument]; }
  const Tensor& tensor(int argument) const { return call_.tensor(argument); }
  Integer integer(int argument) const { return call_.integer(argument); }
  Sizes integers(int argument) const { return call_.integers(argument); }
  of_scalar number(int argument) const { return call_.number(argument); }
  of_dtype dtype(int argument) const { return call_.arguments[argument].as.dtype; }
  bool boolean(int argument) const { return call_.boolean(argument); }

 private:
  const Call& call_;
};

}  // namespace oneflow

#endif  // ONEFLOW_OPS_SIZE_BODY_H_
