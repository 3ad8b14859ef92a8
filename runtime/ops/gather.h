// Operators of kind `gather`: every element of the result is read from the position that an index map gives.
#ifndef ONEFLOW_OPS_GATHER_H_
#define ONEFLOW_OPS_GATHER_H_

#include "dispatch/dimension_map.h"
#include "ops/size_body.h"

namespace oneflow {

struct GatherRule {
  int dims_argument;                           // the dimensions along which the result reads other elements
  int index_argument = -1;                     // a tensor of indices; -1: there is none
  bool index_has_result_shape = false;         // whether the index tensor has the shape of the result;
                                               // otherwise it is a vector along the dimension
  int per_dim_argument = -1;                   // a list with one item for each of the dimensions; -1: there is none
  Integer (*size)(const SizeBody&) = nullptr;  // computes the result's size along the dimension; null: as the input
};

void run_gather(Call& call);
// Runs it on the real views of complex operands.
void run_gather_by_parts(Call& call);

// The dimensions along which elements are gathered follow the index tensor; the others are the same.
void gather_dimensions(Call& call, const Shape& result, DimensionMap& map);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_GATHER_H_
