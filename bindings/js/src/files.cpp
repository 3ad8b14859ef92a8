// Files of tensors. JavaScript holds an open file as an external value.
#include <oneflow/files.h>

#include <memory>
#include <string>
#include <vector>

#include "functions.h"
#include "task.h"

namespace oneflow::node {
namespace {

// An owned reference to a file, which closeFile() takes away.
class FileHandle {
 public:
  explicit FileHandle(of_file file) : file_(file) {}
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  ~FileHandle() { of_file_release(file_); }

  of_file get() const { return file_; }
  void close() { of_file_release(std::exchange(file_, nullptr)); }

 private:
  of_file file_;
};

FileHandle* file_argument(napi_env env, const Call& call) {
  void* handle = nullptr;
  napi_get_value_external(env, call.value(0), &handle);
  return static_cast<FileHandle*>(handle);
}

of_file file_of(napi_env env, const Call& call) { return file_argument(env, call)->get(); }

// Makes the external value of a file, of which it takes ownership.
napi_value to_js(napi_env env, of_file file) {
  auto handle = std::make_unique<FileHandle>(file);
  const auto release = [](node_api_basic_env, void* data, void*) { delete static_cast<FileHandle*>(data); };
  napi_value value = nullptr;
  if (napi_create_external(env, handle.get(), release, nullptr, &value) == napi_ok) handle.release();
  return value;
}

napi_value undefined(napi_env env) {
  napi_value value = nullptr;
  napi_get_undefined(env, &value);
  return value;
}

// Returns a string; empty for null, with `*is_null` set.
std::string text_of(napi_env env, napi_value value, bool* is_null = nullptr) {
  size_t bytes = 0;
  const bool is_text = napi_get_value_string_utf8(env, value, nullptr, 0, &bytes) == napi_ok;
  if (is_null != nullptr) *is_null = !is_text;
  std::string text(is_text ? bytes : 0, '\0');
  if (is_text) napi_get_value_string_utf8(env, value, text.data(), bytes + 1, &bytes);
  return text;
}

// Calls take(item, position) for each item of an array.
template <class Take>
void each(napi_env env, napi_value array, Take take) {
  uint32_t length = 0;
  napi_get_array_length(env, array, &length);
  for (uint32_t i = 0; i < length; ++i) {
    napi_value item = nullptr;
    napi_get_element(env, array, i, &item);
    take(item, i);
  }
}

// ---------------------------------------------------------------- saving

// What saveFile() was given.
class SaveTask : public Task {
 public:
  ~SaveTask() override {
    for (of_file_node& node : nodes_) {
      if (node.kind == OF_NODE_TENSOR) of_tensor_release(node.as.tensor);
    }
  }

  // Copies the arguments (path, kinds, counts, keys, slots, metadata as keys and values in turn, compress). With
  // `snapshot`, later writes to the tensors do not reach the file.
  of_status capture(napi_env env, const Call& call, bool snapshot) {
    path_ = text_of(env, call.value(0));
    const std::vector<int64_t> kinds = call.integers(1), counts = call.integers(2), slots = call.integers(4);
    keys_.resize(kinds.size());
    nodes_.resize(kinds.size());
    each(env, call.value(3), [&](napi_value key, uint32_t i) {
      bool is_null = false;
      keys_[i] = text_of(env, key, &is_null);
      nodes_[i].key = is_null ? nullptr : keys_[i].c_str();
    });
    each(env, call.value(5), [&](napi_value text, uint32_t) { texts_.push_back(text_of(env, text)); });
    compress_ = call.boolean(6);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].kind = static_cast<int32_t>(kinds[i]);
      nodes_[i].count = static_cast<uint32_t>(counts[i]);
      if (nodes_[i].kind != OF_NODE_TENSOR) continue;
      const of_tensor tensor = call.environment().get(slots[i]);
      if (!snapshot) {
        nodes_[i].as.tensor = of_tensor_retain(tensor);
      } else if (of_status status = of_tensor_lazy_clone(tensor, &nodes_[i].as.tensor)) {
        return status;
      }
    }
    return OF_OK;
  }

  of_status run() override {
    std::vector<of_file_metadata> metadata;
    for (size_t i = 0; i + 1 < texts_.size(); i += 2) metadata.push_back({texts_[i].c_str(), texts_[i + 1].c_str()});
    of_save_options options{};
    options.struct_size = sizeof(options);
    options.compress = compress_;
    options.metadata = metadata.data();
    options.metadata_count = metadata.size();
    return of_file_save(path_.c_str(), nodes_.data(), nodes_.size(), &options);
  }

  napi_value finish(Environment* environment) override { return undefined(environment->env()); }

 private:
  std::string path_;
  std::vector<std::string> keys_, texts_;
  std::vector<of_file_node> nodes_;
  bool compress_ = false;
};

// ---------------------------------------------------------------- loading

class OpenTask : public Task {
 public:
  explicit OpenTask(std::string path) : path_(std::move(path)) {}
  ~OpenTask() override { of_file_release(file_); }

  of_status run() override { return of_file_open(path_.c_str(), &file_); }
  napi_value finish(Environment* environment) override {
    return to_js(environment->env(), std::exchange(file_, nullptr));
  }

 private:
  const std::string path_;
  of_file file_ = nullptr;
};

class ReadFileTask : public Task {
 public:
  ~ReadFileTask() override {
    of_file_release(file_);
    for (of_tensor tensor : tensors_) of_tensor_release(tensor);
  }

  // Copies the arguments (file, positions, device, copy).
  void capture(napi_env env, const Call& call) {
    file_ = of_file_retain(file_of(env, call));
    for (int64_t position : call.integers(1)) positions_.push_back(static_cast<uint64_t>(position));
    options_.struct_size = sizeof(options_);
    options_.device = call.device(2);
    options_.copy = call.boolean(3);
    tensors_.resize(positions_.size());
  }

  of_status run() override {
    return of_file_read(file_, positions_.data(), positions_.size(), &options_, tensors_.data());
  }

  // Returns the slots of the tensors.
  napi_value finish(Environment* environment) override {
    const napi_env env = environment->env();
    napi_value slots = nullptr;
    napi_create_array_with_length(env, tensors_.size(), &slots);
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const int32_t slot = environment->put(std::exchange(tensors_[i], nullptr));
      napi_set_element(env, slots, static_cast<uint32_t>(i), node::to_js(env, slot));
    }
    return slots;
  }

 private:
  of_file file_ = nullptr;
  std::vector<uint64_t> positions_;
  of_read_options options_{};
  std::vector<of_tensor> tensors_;
};

// ---------------------------------------------------------------- functions

// Runs a task on this thread.
napi_value run_now(const Call& call, Task& task) {
  if (of_status status = task.run()) return call.environment().fail(status);
  return task.finish(&call.environment());
}

// saveFile(path, kinds, counts, keys, slots, metadata, compress, ...keepAlive); saveFileAsync() returns a promise.
template <bool is_async>
napi_value save_file(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  auto task = std::make_unique<SaveTask>();
  if (of_status status = task->capture(env, call, is_async)) return call.environment().fail(status);
  return is_async ? Task::start(std::move(task), &call.environment()) : run_now(call, *task);
}

// openFile(path): returns a file; openFileAsync() returns a promise.
template <bool is_async>
napi_value open_file(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  auto task = std::make_unique<OpenTask>(text_of(env, call.value(0)));
  return is_async ? Task::start(std::move(task), &call.environment()) : run_now(call, *task);
}

// closeFile(file)
napi_value close_file(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  file_argument(env, call)->close();
  return undefined(env);
}

// readFile(file, positions, device, copy): returns slots; readFileAsync() returns a promise.
template <bool is_async>
napi_value read_file(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  auto task = std::make_unique<ReadFileTask>();
  task->capture(env, call);
  return is_async ? Task::start(std::move(task), &call.environment()) : run_now(call, *task);
}

// fileEntries(file): returns an array of {name, dtype, type, shape, bytes}. The dtype may be null.
napi_value file_entries(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const of_file file = file_of(env, call);
  napi_value array = nullptr, null = nullptr;
  napi_create_array(env, &array);
  napi_get_null(env, &null);
  for (uint64_t i = 0; i < of_file_count(file); ++i) {
    of_file_entry entry{};
    entry.struct_size = sizeof(entry);
    if (of_status status = of_file_entry_at(file, i, &entry)) return call.environment().fail(status);
    const bool has_dtype = entry.dtype != OF_DTYPE_NONE;
    napi_set_element(env, array, static_cast<uint32_t>(i),
                     node::to_js(env, {{"name", node::to_js(env, entry.name)},
                                       {"dtype", has_dtype ? node::to_js(env, of_dtype_name(entry.dtype)) : null},
                                       {"type", node::to_js(env, entry.type)},
                                       {"shape", node::to_js(env, entry.sizes, entry.rank)},
                                       {"bytes", node::to_js(env, entry.bytes)}}));
  }
  return array;
}

// fileMetadata(file): returns an array of pairs.
napi_value file_metadata(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const of_file_metadata* pairs = nullptr;
  uint64_t count = 0;
  if (of_status status = of_file_get_metadata(file_of(env, call), &pairs, &count)) {
    return call.environment().fail(status);
  }
  napi_value array = nullptr;
  napi_create_array(env, &array);
  for (uint64_t i = 0; i < count; ++i) {
    napi_value pair = nullptr;
    napi_create_array_with_length(env, 2, &pair);
    napi_set_element(env, pair, 0, node::to_js(env, pairs[i].key));
    napi_set_element(env, pair, 1, node::to_js(env, pairs[i].value));
    napi_set_element(env, array, static_cast<uint32_t>(i), pair);
  }
  return array;
}

// fileNodes(file, flat): returns an array of {kind, count, key, entry}. The key may be null.
napi_value file_nodes(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const of_file_node* nodes = nullptr;
  uint64_t count = 0;
  if (of_status status = of_file_get_nodes(file_of(env, call), call.boolean(1), &nodes, &count)) {
    return call.environment().fail(status);
  }
  napi_value array = nullptr, null = nullptr;
  napi_create_array_with_length(env, count, &array);
  napi_get_null(env, &null);
  for (uint64_t i = 0; i < count; ++i) {
    napi_set_element(env, array, static_cast<uint32_t>(i),
                     node::to_js(env, {{"kind", node::to_js(env, nodes[i].kind)},
                                       {"count", node::to_js(env, nodes[i].count)},
                                       {"key", nodes[i].key != nullptr ? node::to_js(env, nodes[i].key) : null},
                                       {"entry", node::to_js(env, nodes[i].as.entry)}}));
  }
  return array;
}

}  // namespace

void add_file_functions(Environment* environment, napi_value exports) {
  add_function<save_file<false>>(environment, exports, "saveFile");
  add_function<save_file<true>>(environment, exports, "saveFileAsync");
  add_function<open_file<false>>(environment, exports, "openFile");
  add_function<open_file<true>>(environment, exports, "openFileAsync");
  add_function<close_file>(environment, exports, "closeFile");
  add_function<read_file<false>>(environment, exports, "readFile");
  add_function<read_file<true>>(environment, exports, "readFileAsync");
  add_function<file_entries>(environment, exports, "fileEntries");
  add_function<file_metadata>(environment, exports, "fileMetadata");
  add_function<file_nodes>(environment, exports, "fileNodes");
}

}  // namespace oneflow::node
