// The calls and values of a graph in the structs of the C API.
#ifndef ONEFLOW_GRAPH_REPORT_LISTING_H_
#define ONEFLOW_GRAPH_REPORT_LISTING_H_

#include <oneflow/graph.h>

#include <deque>
#include <string>
#include <vector>

#include "graph/program/program.h"

namespace oneflow::graph {

// Refers to the memory of the program.
class Listing {
 public:
  explicit Listing(const Program& program);
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  const std::vector<of_graph_call>& calls() const { return calls_; }
  // The values in the order of their numbers, with their sizes.
  const std::vector<of_graph_value>& values() const { return values_; }

 private:
  const of_graph_integer* integers(const std::vector<SizeExpression>& sizes);
  of_graph_argument argument(const Argument& given);
  const char* const* argument_texts(const Program& program, const Node& node);
  of_graph_value value(const Program& program, ValueId id);

  // What the structs point to, which does not move.
  std::deque<std::vector<of_graph_integer>> integers_;
  std::deque<std::vector<of_graph_term>> terms_;
  std::deque<std::vector<of_graph_atom>> atoms_;
  std::deque<std::vector<of_graph_argument>> arguments_;
  std::deque<std::vector<ValueId>> written_;
  std::deque<std::vector<int64_t>> sizes_;
  std::deque<std::string> texts_;
  std::deque<std::vector<const char*>> text_lists_;
  std::vector<of_graph_call> calls_;
  std::vector<of_graph_value> values_;
};

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_REPORT_LISTING_H_
