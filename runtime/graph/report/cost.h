// The cost of a graph: what a run computes, reads, writes and keeps in memory, from shapes alone.
#ifndef ONEFLOW_GRAPH_REPORT_COST_H_
#define ONEFLOW_GRAPH_REPORT_COST_H_

#include <oneflow/graph.h>

#include <span>
#include <string>
#include <vector>

#include "dispatch/call_work.h"
#include "graph/program/program.h"

// The type that an of_cost points to.
struct of_cost_object {};

namespace oneflow::graph {

// The cost of all calls of an operator.
struct OperatorCost {
  const Operator* op;
  uint64_t calls = 0;
  CallWork work = {};
};

struct Cost final : public of_cost_object {
  CallWork total;
  uint64_t constant_bytes = 0;
  uint64_t peak_bytes = 0;              // the most bytes of values, without inputs and constants, that exist at a time
  std::vector<OperatorCost> operators;  // the one with the most operations first, then the one with the most bytes
  std::string table;                    // a line per operator, then the totals
};

// Returns the cost of a run with these values of the named sizes. Throws InvalidArgument for a size that is missing,
// unknown or given twice; ShapeError for a value that a size cannot have, and the errors of calls with the sizes.
Cost cost_of(const Program& program, std::span<const of_size_value> sizes);

inline Cost* to_cost(of_cost handle) { return static_cast<Cost*>(handle); }

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_REPORT_COST_H_
