// Nested data: maps and lists of tensors, as data and as nodes of the C API (of_file_node).
#ifndef ONEFLOW_OBJECTS_NESTED_H_
#define ONEFLOW_OBJECTS_NESTED_H_

#include <oneflow/files.h>

#include <span>
#include <string>
#include <vector>

#include "objects/results.h"

namespace oneflow::objects {

// Adds the nodes of data, each before its items. They point to the keys and the tensors of the data.
void add_nodes(const of_data& data, const char* key, std::vector<of_file_node>* nodes);

// Returns the nodes of a map.
std::vector<of_file_node> nodes_of_map(std::span<const of_data> items, std::span<const std::string> keys);

// Returns data with the structure of nodes, and tensors in their order.
of_data restored(std::span<const of_file_node> nodes, std::span<const of_data> tensors, Results& results);

// Returns data like an example, with other tensors in the place of its own, of which `next` is the first.
of_data replaced(const of_data& example, const of_data*& next, Memory& memory);

// A tensor in nested data, with its name: the keys and positions on the way to it, joined by dots.
struct NamedTensor {
  std::string name;
  of_tensor tensor;
};
void add_named_tensors(const of_data& data, const std::string& name, std::vector<NamedTensor>* found);

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_NESTED_H_
