// Operators of kind `contraction`: matmul, einsum, tensordot and others.
#ifndef ONEFLOW_EINSUM_CONTRACTION_H_
#define ONEFLOW_EINSUM_CONTRACTION_H_

#include "dispatch/dimension_map.h"

namespace oneflow {

struct ContractionRule {
  const char* equation;  // an equation, or the name of an argument or of a rule in einsum/rules.cpp
  // Positions of arguments; -1: there is none.
  int addend = -1;  // a tensor that is added to the result
  int search = -1;  // how to search for a path (see einsum/path.h)
  int path = -1;    // the path itself
  int limit = -1;   // the maximum number of elements of an intermediate
};

// Runs a contraction: plans its stages, or looks up the plan of an earlier call, and runs them in order.
void run_contraction(Call& call);

// Returns the number of multiplications and additions of a call, if it is one sum over all labels: 2 for each
// combination of their indices. Throws the errors of the equation.
double count_operations(const Call& call);

// Dimensions with the same label are the same; labels that the result lacks are contracted.
void contraction_dimensions(Call& call, const Shape& result, DimensionMap& map);

}  // namespace oneflow

#endif  // ONEFLOW_EINSUM_CONTRACTION_H_
