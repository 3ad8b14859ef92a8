#include "objects/nested.h"

namespace oneflow::objects {
namespace {

// Reads data from nodes.
class Restorer {
 public:
  Restorer(std::span<const of_file_node> nodes, std::span<const of_data> tensors, Results& results)
      : nodes_(nodes), tensors_(tensors), results_(results) {}

  of_data next() {
    const of_file_node& node = nodes_[at_++];
    if (node.kind == OF_NODE_TENSOR) return tensors_[used_++];
    std::vector<of_data> items;
    std::vector<std::string> keys;
    for (uint32_t i = 0; i < node.count; ++i) {
      if (node.kind == OF_NODE_DICTIONARY) keys.emplace_back(nodes_[at_].key);
      items.push_back(next());
    }
    return node.kind == OF_NODE_DICTIONARY ? results_.map(items, keys) : results_.list(items);
  }

 private:
  const std::span<const of_file_node> nodes_;
  const std::span<const of_data> tensors_;
  Results& results_;
  size_t at_ = 0;
  size_t used_ = 0;
};

}  // namespace

void add_nodes(const of_data& data, const char* key, std::vector<of_file_node>* nodes) {
  of_file_node node{OF_NODE_TENSOR, data.count, key, {}};
  if (data.kind == OF_DATA_TENSOR) {
    node.count = 0;
    node.as.tensor = data.as.tensor;
    nodes->push_back(node);
    return;
  }
  const bool is_map = data.kind == OF_DATA_MAP;
  node.kind = is_map ? OF_NODE_DICTIONARY : OF_NODE_LIST;
  nodes->push_back(node);
  for (uint32_t i = 0; i < data.count; ++i) add_nodes(data.as.items[i], is_map ? data.of.keys[i] : nullptr, nodes);
}

std::vector<of_file_node> nodes_of_map(std::span<const of_data> items, std::span<const std::string> keys) {
  std::vector<of_file_node> nodes{{OF_NODE_DICTIONARY, static_cast<uint32_t>(items.size()), nullptr, {}}};
  for (size_t i = 0; i < items.size(); ++i) add_nodes(items[i], keys[i].c_str(), &nodes);
  return nodes;
}

of_data restored(std::span<const of_file_node> nodes, std::span<const of_data> tensors, Results& results) {
  return Restorer(nodes, tensors, results).next();
}

of_data replaced(const of_data& example, const of_data*& next, Memory& memory) {
  if (example.kind == OF_DATA_TENSOR) return *next++;
  of_data result = example;
  of_data* items = memory.allocate<of_data>(example.count);
  for (uint32_t i = 0; i < example.count; ++i) items[i] = replaced(example.as.items[i], next, memory);
  result.as.items = items;
  return result;
}

void add_named_tensors(const of_data& data, const std::string& name, std::vector<NamedTensor>* found) {
  if (data.kind == OF_DATA_TENSOR) {
    found->push_back({name, data.as.tensor});
    return;
  }
  for (uint32_t i = 0; i < data.count; ++i) {
    const std::string key = data.kind == OF_DATA_MAP ? data.of.keys[i] : std::to_string(i);
    add_named_tensors(data.as.items[i], name.empty() ? key : name + "." + key, found);
  }
}

}  // namespace oneflow::objects
