// Operators of kind `generator`: the value of every element depends on its index only.
#ifndef ONEFLOW_OPS_GENERATOR_H_
#define ONEFLOW_OPS_GENERATOR_H_

#include "dispatch/dimension_map.h"
#include "ops/size_body.h"

namespace oneflow {

struct GeneratorRule {
  int size_argument = -1;                     // the position of the size[] argument that is the shape of the result; or
  int generator_argument = -1;                // that of a random operator, whose elements use a number of it each
  Shape (*sizes)(const SizeBody&) = nullptr;  // a function that computes the shape
};

void run_generator(Call& call);
// Generates real numbers, and converts them to the complex dtype.
void run_complex_generator(Call& call);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_GENERATOR_H_
