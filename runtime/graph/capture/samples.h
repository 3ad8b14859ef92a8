// Values for named sizes with which programs are tried.
#ifndef ONEFLOW_GRAPH_CAPTURE_SAMPLES_H_
#define ONEFLOW_GRAPH_CAPTURE_SAMPLES_H_

#include <span>
#include <vector>

#include "graph/program/program.h"

namespace oneflow::graph {

// Returns values of the sizes for several runs of a program, the examples first: with neighbouring sizes, which have
// all remainders of division by small numbers, and with some that are further away. Without sizes there is one run.
std::vector<std::vector<int64_t>> sample_sizes(std::span<const NamedSize> sizes);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_CAPTURE_SAMPLES_H_
