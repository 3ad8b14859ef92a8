// Files of graphs: safetensors files whose metadata holds the text of the program, and whose tensors are its constants.
#ifndef ONEFLOW_GRAPH_GRAPH_FILE_H_
#define ONEFLOW_GRAPH_GRAPH_FILE_H_

#include <string>

#include "graph/graph.h"

namespace oneflow::graph {

// Saves a graph. Throws FileError, or DTypeError for a constant of a type that files lack.
void save(const Graph& graph, const std::string& path);

// Loads a graph, whose constants share the memory of the file. With `verify`, all of it is read and compared with the
// checksum. Throws FileError, or InvalidArgument if the file is malformed, damaged, or of another version.
Ref<Graph> load(const std::string& path, bool verify);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_GRAPH_FILE_H_
