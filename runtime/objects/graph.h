// Graphs as objects: a graph, the session that runs it, and what the passes have done that made it.
#ifndef ONEFLOW_OBJECTS_GRAPH_H_
#define ONEFLOW_OBJECTS_GRAPH_H_

#include <oneflow/session.h>

#include <span>
#include <string>
#include <vector>

#include "base/ref.h"
#include "objects/handle.h"
#include "objects/results.h"

namespace oneflow::objects {

class Graph : public RefCounted<Graph> {
 public:
  // Takes ownership of a graph, and of a report or NULL. Throws Failed.
  explicit Graph(of_graph graph, of_report report = nullptr);

  of_session session() const { return session_.get(); }
  of_graph graph() const { return of_session_graph(session_.get()); }
  of_report report() const { return report_.get(); }
  of_graph_info info() const;
  std::span<const of_file_node> nodes(of_graph_part part) const;
  // Returns the names of the parameters of the captured function.
  const std::vector<std::string>& parameters() const { return parameters_; }

 private:
  friend class RefCounted<Graph>;
  void destroy() { delete this; }

  Owned<of_session, of_session_release> session_;
  const Owned<of_report, of_report_release> report_;
  std::vector<std::string> parameters_;
};

inline Graph& graph_of(void* self) { return *static_cast<Graph*>(self); }

// Returns a new graph as a result.
of_data new_graph(Results& results, of_graph graph, of_report report = nullptr);

// Returns the tensors of arguments for a run, in the order of the inputs of the graph: `items` with their keys, NULL
// for positional ones. Throws Error if they are not nested as those of the capture.
std::vector<of_tensor> input_tensors(const Graph& graph, const of_data& arguments, const Results& results,
                                     const std::string& what);

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_GRAPH_H_
