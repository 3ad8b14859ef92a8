// Measures how much two graphs differ.
#ifndef ONEFLOW_GRAPH_PASSES_MEASURE_H_
#define ONEFLOW_GRAPH_PASSES_MEASURE_H_

#include <optional>
#include <span>
#include <vector>

#include "graph/program/program.h"

namespace oneflow::graph {

// Returns inputs for a run with the examples of the named sizes: normally distributed numbers, and zeros and ones for
// integers. None if there are inputs of other dtypes.
std::optional<std::vector<TensorRef>> random_inputs(const Program& program);

// Returns the outputs of a run. Random operators draw from the same numbers each time.
std::vector<TensorRef> run_with(const Program& program, std::span<const TensorRef> inputs);
// The same; none if it fails.
std::optional<std::vector<TensorRef>> run_once(const Program& program, std::span<const TensorRef> inputs);

// Returns the largest relative error of an output: the largest difference of two elements, divided by the largest
// element. Elements that are equal, or NaN in both, do not differ.
double difference(std::span<const TensorRef> outputs, std::span<const TensorRef> others);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PASSES_MEASURE_H_
