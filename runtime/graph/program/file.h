// Files of graphs: safetensors files whose metadata holds the text of the program, and whose tensors are its constants.
#ifndef ONEFLOW_GRAPH_PROGRAM_FILE_H_
#define ONEFLOW_GRAPH_PROGRAM_FILE_H_

#include <string>

#include "graph/program/program.h"

namespace oneflow::graph {

// Saves a program. Throws FileError, or DTypeError for a constant of a type that files lack.
void save(const Program& program, const std::string& path);

// Loads a program, and checks it. With `verify`, the constants are compared with their checksum. With `share`, they
// share the memory of the file. Throws FileError, or InvalidArgument if the file is malformed, damaged, or of another
// version.
Program load(const std::string& path, bool verify, bool share);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PROGRAM_FILE_H_
