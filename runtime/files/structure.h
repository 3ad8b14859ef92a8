// The structure of nested data: which dictionaries and lists hold the tensors of a file, whose names are flat.
//
// A name joins the keys and positions on the way to a tensor: {"layers": [{"weight": x}]} gives "layers.0.weight". The
// structure is a JSON text in which 0 stands for a tensor: {"layers":[{"weight":0}]}. Names alone could not tell
// {"a.b": x} from {"a": {"b": x}}, and have no place for empty dictionaries.
#ifndef ONEFLOW_FILES_STRUCTURE_H_
#define ONEFLOW_FILES_STRUCTURE_H_

#include <oneflow/files.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace oneflow::files {

// The structure of a file that holds one tensor, and the name of that tensor where the format needs one.
inline constexpr const char* kOneTensor = "0";
inline constexpr const char* kTensorName = "tensor";

// Nested data in a flat form.
struct Flattened {
  std::vector<std::string> names;  // of the tensors, in their order
  std::string structure;           // empty for a dictionary of tensors, which its names describe
};

// Flattens nodes. Throws InvalidArgument if they are no tree, nested too deeply, have keys that are not UTF-8, or give
// two tensors the same name.
Flattened flatten(std::span<const of_file_node> nodes);

// Nested data whose tensors are positions of entries.
class Tree {
 public:
  // Makes the tree of a structure; find(name) returns the position of the tensor with that name, or -1. Throws
  // InvalidArgument if the text is not a structure of exactly `count` tensors.
  Tree(const std::string& structure, size_t count, const std::function<int64_t(const std::string&)>& find);
  // Makes a dictionary of tensors.
  explicit Tree(std::vector<std::string> names);
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  // Returns the nodes, each before its items. They borrow their keys from this object.
  const std::vector<of_file_node>& nodes() const { return nodes_; }

 private:
  std::vector<std::string> keys_;
  std::vector<of_file_node> nodes_;
};

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_STRUCTURE_H_
