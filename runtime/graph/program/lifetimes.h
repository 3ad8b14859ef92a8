// How long the values of a program are needed.
#ifndef ONEFLOW_GRAPH_PROGRAM_LIFETIMES_H_
#define ONEFLOW_GRAPH_PROGRAM_LIFETIMES_H_

#include <vector>

#include "graph/program/program.h"

namespace oneflow::graph {

struct Lifetimes {
  explicit Lifetimes(const Program& program);

  struct Step {
    std::vector<ValueId> released;  // after the call
    ValueId donated = kNoValue;     // an operand whose memory a result may take
  };
  std::vector<Step> steps;             // of each call
  std::vector<ValueId> released_last;  // after the outputs were stored
};

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PROGRAM_LIFETIMES_H_
