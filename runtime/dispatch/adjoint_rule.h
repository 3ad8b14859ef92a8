// The rule of gradients that the runtime computes itself: see codegen/kinds/adjoints.py.
#ifndef ONEFLOW_DISPATCH_ADJOINT_RULE_H_
#define ONEFLOW_DISPATCH_ADJOINT_RULE_H_

namespace oneflow {

// The gradient of one argument of an operator. It takes the gradient of the result, the arguments of the operator and,
// if `argument` is a list, the position of an item.
struct AdjointRule {
  const char* of;  // the name of the operator
  int argument;
};

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_ADJOINT_RULE_H_
