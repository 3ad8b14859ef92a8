// Graphs: checked programs that do not change, as the C API hands them out.
#ifndef ONEFLOW_GRAPH_GRAPH_H_
#define ONEFLOW_GRAPH_GRAPH_H_

#include <oneflow/graph.h>

#include <atomic>

#include "base/ref.h"
#include "graph/program/program.h"
#include "graph/report/description.h"

// The type that an of_graph points to.
struct of_graph_object {};

namespace oneflow::graph {

class Listing;

// A program that does not change.
class Graph final : public of_graph_object, public RefCounted<Graph> {
 public:
  // Checks the program: its numbers, names and types, and by inference the shapes of all calls. Throws InvalidArgument
  // or the error of a call.
  static Ref<Graph> create(Program program);
  // Makes a graph of a program that check_program() has seen.
  static Ref<Graph> of_checked(Program program) { return Ref<Graph>::adopt(new Graph(std::move(program))); }

  const Program& program() const { return program_; }
  // What the C API shows of the graph.
  const Description& description() const { return description_; }
  // What the C API shows of its calls and values, which few programs ask for.
  const Listing& listing() const;
  void destroy() noexcept { delete this; }

 private:
  explicit Graph(Program program);
  ~Graph();

  const Program program_;
  const Description description_;
  mutable std::atomic<const Listing*> listing_ = nullptr;
};

inline Graph* to_graph(of_graph handle) { return static_cast<Graph*>(handle); }

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_GRAPH_H_
