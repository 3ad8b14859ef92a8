#include "files/structure.h"

#include <unordered_set>

#include "base/characters.h"
#include "base/error.h"
#include "files/json.h"
#include "files/names.h"

namespace oneflow::files {
namespace {

[[noreturn]] void fail_nesting() {
  fail(OF_INVALID_ARGUMENT, "dictionaries and lists must not be nested more than %d deep", OF_MAX_NESTING);
}

// Returns the name of an item of a dictionary or list with a name of its own, or of the outermost one.
std::string item_name(bool is_outermost, const std::string& name, const std::string& part) {
  return is_outermost ? part : name + "." + part;
}

class Flattener {
 public:
  explicit Flattener(std::span<const of_file_node> nodes) : nodes_(nodes) {}

  Flattened run() {
    add("", 0);
    if (at_ != nodes_.size()) fail(OF_INVALID_ARGUMENT, "%zu nodes are not below the first one", nodes_.size() - at_);
    const bool is_flat = nodes_[0].kind == OF_NODE_DICTIONARY && result_.names.size() + 1 == nodes_.size() &&
                         nodes_[0].count + size_t{1} == nodes_.size();
    if (is_flat) result_.structure.clear();
    return std::move(result_);
  }

 private:
  void add(const std::string& name, int depth) {
    if (at_ == nodes_.size()) fail(OF_INVALID_ARGUMENT, "a dictionary or list has fewer items than it says");
    const of_file_node& node = nodes_[at_++];
    if (node.kind == OF_NODE_TENSOR) return add_tensor(depth > 0 ? name : kTensorName);
    if (node.kind != OF_NODE_DICTIONARY && node.kind != OF_NODE_LIST)
      fail(OF_INVALID_ARGUMENT, "there is no kind %d of nodes", node.kind);
    if (depth == OF_MAX_NESTING) fail_nesting();
    const bool is_dictionary = node.kind == OF_NODE_DICTIONARY;
    std::string& text = result_.structure;
    text += is_dictionary ? '{' : '[';
    std::unordered_set<std::string> keys;
    for (uint32_t i = 0; i < node.count; ++i) {
      if (i) text += ',';
      if (!is_dictionary) {
        add(item_name(depth == 0, name, std::to_string(i)), depth + 1);
        continue;
      }
      const char* key = at_ < nodes_.size() ? nodes_[at_].key : nullptr;
      if (!key) fail(OF_INVALID_ARGUMENT, "an item of a dictionary has no key");
      check_name("a key", key);
      if (!keys.insert(key).second) fail(OF_INVALID_ARGUMENT, "the key '%s' occurs twice", printable(key).c_str());
      text += to_json(key) + ':';
      add(item_name(depth == 0, name, key), depth + 1);
    }
    text += is_dictionary ? '}' : ']';
  }

  void add_tensor(const std::string& name) {
    if (!known_.insert(name).second)
      fail(OF_INVALID_ARGUMENT, "two tensors have the name '%s', which joins their keys", printable(name).c_str());
    result_.names.push_back(name);
    result_.structure += '0';
  }

  const std::span<const of_file_node> nodes_;
  size_t at_ = 0;
  std::unordered_set<std::string> known_;
  Flattened result_;
};

// Makes nodes of a structure.
class StructureReader : public JsonReader {
 public:
  using Find = std::function<int64_t(const std::string&)>;

  StructureReader(const Find& find, std::vector<std::string>* keys, std::vector<of_file_node>* nodes)
      : find_(find), keys_(keys), nodes_(nodes) {}

  // Returns, for each node, the position of its key, or -1.
  const std::vector<int64_t>& key_positions() const { return key_positions_; }

  bool number_unsigned(uint64_t number) override {
    if (number != 0) return JsonReader::number_unsigned(number);
    const std::string name = open_.empty() ? kTensorName : next_name();
    const int64_t entry = find_(name);
    if (entry < 0) return refuse("there is no tensor '" + printable(name) + "'");
    add(OF_NODE_TENSOR).as.entry = static_cast<uint64_t>(entry);
    return true;
  }
  bool start_object(size_t) override { return start(OF_NODE_DICTIONARY); }
  bool start_array(size_t) override { return start(OF_NODE_LIST); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool key(std::string& text) override {
    if (!open_.back().keys.insert(text).second) return refuse("the key '" + printable(text) + "' occurs twice");
    if (text.find('\0') != std::string::npos) return refuse("a key has a null byte");
    keys_->push_back(text);
    return true;
  }

 private:
  struct Open {
    size_t node;
    std::string name;
    std::unordered_set<std::string> keys;
  };

  bool start(of_file_node_kind kind) {
    if (open_.size() == OF_MAX_NESTING) return refuse("it is nested too deeply");
    std::string name = open_.empty() ? "" : next_name();
    add(kind);
    open_.push_back({nodes_->size() - 1, std::move(name), {}});
    return true;
  }

  bool end() {
    open_.pop_back();
    return true;
  }

  // Returns the name of the item that comes next.
  std::string next_name() const {
    const of_file_node& parent = (*nodes_)[open_.back().node];
    const std::string& part = parent.kind == OF_NODE_LIST ? std::to_string(parent.count) : keys_->back();
    return item_name(open_.size() == 1, open_.back().name, part);
  }

  of_file_node& add(of_file_node_kind kind) {
    bool has_key = false;
    if (!open_.empty()) {
      of_file_node& parent = (*nodes_)[open_.back().node];
      has_key = parent.kind == OF_NODE_DICTIONARY;
      ++parent.count;
    }
    key_positions_.push_back(has_key ? static_cast<int64_t>(keys_->size()) - 1 : -1);
    return nodes_->emplace_back(of_file_node{kind, 0, nullptr, {}});
  }

  const Find& find_;
  std::vector<std::string>* const keys_;
  std::vector<of_file_node>* const nodes_;
  std::vector<int64_t> key_positions_;
  std::vector<Open> open_;
};

}  // namespace

Flattened flatten(std::span<const of_file_node> nodes) {
  if (nodes.empty()) fail(OF_INVALID_ARGUMENT, "there are no nodes");
  return Flattener(nodes).run();
}

Tree::Tree(const std::string& structure, size_t count, const std::function<int64_t(const std::string&)>& find) {
  StructureReader reader(find, &keys_, &nodes_);
  reader.read(structure);
  std::vector<bool> used(count);
  size_t tensors = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (const int64_t key = reader.key_positions()[i]; key >= 0) nodes_[i].key = keys_[key].c_str();
    if (nodes_[i].kind != OF_NODE_TENSOR) continue;
    if (used[nodes_[i].as.entry]) fail(OF_INVALID_ARGUMENT, "it has a tensor twice");
    used[nodes_[i].as.entry] = true;
    ++tensors;
  }
  if (tensors != count) fail(OF_INVALID_ARGUMENT, "it has %zu tensors instead of %zu", tensors, count);
}

Tree::Tree(std::vector<std::string> names) : keys_(std::move(names)) {
  nodes_.push_back({OF_NODE_DICTIONARY, static_cast<uint32_t>(keys_.size()), nullptr, {}});
  for (size_t i = 0; i < keys_.size(); ++i) {
    nodes_.push_back({OF_NODE_TENSOR, 0, keys_[i].c_str(), {}});
    nodes_.back().as.entry = i;
  }
}

}  // namespace oneflow::files
