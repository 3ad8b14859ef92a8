// What programs outside see of a graph.
#ifndef ONEFLOW_GRAPH_REPORT_DESCRIPTION_H_
#define ONEFLOW_GRAPH_REPORT_DESCRIPTION_H_

#include <oneflow/graph.h>

#include <memory>
#include <string>
#include <vector>

#include "base/shape.h"
#include "files/structure.h"
#include "graph/program/program.h"

namespace oneflow::graph {

// An input, an output or a constant in words.
struct ValueDescription {
  std::string name;
  const Value* value;
  Shape sizes;  // -1 for those that vary
  std::vector<std::string> size_texts;
  std::vector<const char*> size_pointers;
  ValueId id;
};

// The properties, the inputs, the outputs and the constants of a graph. The program must outlive it.
struct Description {
  explicit Description(const Program& program);
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  std::string text;
  bool draws_numbers;      // whether it has random operators
  bool has_collectives;    // whether it waits for other processes
  int64_t constant_count;  // the number of elements of all constants
  std::vector<of_named_size> sizes;
  std::vector<ValueDescription> parts[3];  // by of_graph_part
  // How inputs and outputs are nested; entries are positions.
  std::unique_ptr<const files::Tree> inputs, outputs;
};

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_REPORT_DESCRIPTION_H_
