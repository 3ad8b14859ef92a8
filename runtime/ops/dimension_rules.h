// The dimension maps that several kinds share; each adds the links of a call (see Schema::dimensions).
#ifndef ONEFLOW_OPS_DIMENSION_RULES_H_
#define ONEFLOW_OPS_DIMENSION_RULES_H_

#include "dispatch/dimension_map.h"

namespace oneflow {

// The dimensions of every operand follow those of the result, aligned at the end.
void broadcast_dimensions(Call& call, const Shape& result, DimensionMap& map);
// The dimensions of every operand are those of the result. Of the ones that arguments of type `dim` name, nothing is
// known.
void kept_dimensions(Call& call, const Shape& result, DimensionMap& map);
// Nothing is known: every dimension of the result depends on every dimension of every operand.
void opaque_dimensions(Call& call, const Shape& result, DimensionMap& map);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_DIMENSION_RULES_H_
