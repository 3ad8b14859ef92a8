// Nested data, which oneflow_py/nested.py makes and reads: lists of nodes.
#ifndef ONEFLOW_PYTHON_NODES_H_
#define ONEFLOW_PYTHON_NODES_H_

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <oneflow/files.h>

#include <span>

#include "bind.h"

namespace oneflow::python {

// A node: its kind, its count, and its key and tensor or NULL. All strings are bytes.
using Node = std::tuple<int32_t, uint32_t, std::optional<nb::bytes>, BorrowedTensor>;

// Returns the nodes for the C API, which borrow their keys.
inline std::vector<of_file_node> nodes_of(const std::vector<Node>& items) {
  std::vector<of_file_node> nodes;
  for (const auto& [kind, count, key, tensor] : items) {
    of_file_node node{};
    node.kind = kind;
    node.count = count;
    if (key) node.key = key->c_str();
    node.as.tensor = tensor.handle;
    nodes.push_back(node);
  }
  return nodes;
}

// Returns tuples (kind, count, key or None, entry).
inline nb::list list_of(std::span<const of_file_node> nodes) {
  nb::list list;
  for (const of_file_node& node : nodes) list.append(nb::make_tuple(node.kind, node.count, node.key, node.as.entry));
  return list;
}

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_NODES_H_
