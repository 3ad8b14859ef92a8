// Nested data, which lib/nodes.js makes and reads: lists of nodes.
#pragma once

#include <oneflow/files.h>

#include <string>
#include <vector>

#include "functions.h"

namespace oneflow::node {

// The nodes of nested data, with their keys and references to their tensors.
class Nodes {
 public:
  Nodes() = default;
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  ~Nodes() {
    for (of_file_node& node : nodes_) {
      if (node.kind == OF_NODE_TENSOR) of_tensor_release(node.as.tensor);
    }
  }

  // Copies the arguments (kinds, counts, keys, slots) from position `first` on. With `snapshot`, later writes to the
  // tensors do not reach the copies.
  void read(const Call& call, size_t first, bool snapshot) {
    const std::vector<int64_t> kinds = call.integers(first), counts = call.integers(first + 1);
    const std::vector<int64_t> slots = call.integers(first + 3);
    const auto keys = call[first + 2].As<Napi::Array>();
    keys_.resize(kinds.size());
    nodes_.resize(kinds.size());
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].kind = static_cast<int32_t>(kinds[i]);
      nodes_[i].count = static_cast<uint32_t>(counts[i]);
      if (const Napi::Value key = keys.Get(i); key.IsString()) {
        keys_[i] = key.As<Napi::String>();
        nodes_[i].key = keys_[i].c_str();
      }
      if (nodes_[i].kind != OF_NODE_TENSOR) continue;
      const of_tensor tensor = call.environment().get(slots[i]);
      if (snapshot) {
        call.check(of_tensor_lazy_clone(tensor, &nodes_[i].as.tensor));
      } else {
        nodes_[i].as.tensor = of_tensor_retain(tensor);
      }
    }
  }

  const of_file_node* data() const { return nodes_.data(); }
  size_t size() const { return nodes_.size(); }
  const std::vector<of_file_node>& items() const { return nodes_; }

 private:
  std::vector<std::string> keys_;
  std::vector<of_file_node> nodes_;
};

inline Napi::Value text_or_null(Napi::Env env, const char* text) {
  return text != nullptr ? Napi::Value::From(env, text) : env.Null();
}

// Returns an array of {kind, count, key, entry}. The key may be null.
inline Napi::Value nodes_to_js(Napi::Env env, const of_file_node* nodes, size_t count) {
  return array_of(env, count, [=](size_t i) {
    auto object = Napi::Object::New(env);
    object.Set("kind", nodes[i].kind);
    object.Set("count", nodes[i].count);
    object.Set("key", text_or_null(env, nodes[i].key));
    object.Set("entry", nodes[i].as.entry);
    return object;
  });
}

}  // namespace oneflow::node
