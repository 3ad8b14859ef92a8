// Files of tensors. JavaScript holds an open file as an external value.
#include <memory>
#include <string>
#include <vector>

#include "nodes.h"
#include "task.h"

namespace oneflow::node {
namespace {

struct ReleaseFile {
  void operator()(of_file file) const { of_file_release(file); }
};

// An owned reference to a file. JavaScript holds a pointer to one, from which closeFile() takes the reference away.
using File = std::unique_ptr<of_file_object, ReleaseFile>;

void delete_file(File* file) { delete file; }

of_file file_of(const Call& call) { return call.external<File>(0)->get(); }

// ---------------------------------------------------------------- saving

// What saveFile() was given.
class SaveTask : public Task {
 public:
  // Copies the arguments (path, kinds, counts, keys, slots, metadata as keys and values in turn, compress). With
  // `snapshot`, later writes to the tensors do not reach the file.
  void capture(const Call& call, bool snapshot) {
    path_ = call.string(0);
    nodes_.read(call, 1, snapshot);
    texts_ = call.strings(5);
    compress_ = call.boolean(6);
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

 private:
  std::string path_;
  std::vector<std::string> texts_;
  Nodes nodes_;
  bool compress_ = false;
};

// ---------------------------------------------------------------- loading

class OpenTask : public Task {
 public:
  explicit OpenTask(std::string path) : path_(std::move(path)) {}

  of_status run() override {
    of_file file = nullptr;
    const of_status status = of_file_open(path_.c_str(), &file);
    file_.reset(file);
    return status;
  }
  Napi::Value finish(Environment& environment) override {
    return owner_of<delete_file>(environment, new File(std::move(file_)));
  }

 private:
  const std::string path_;
  File file_;
};

class ReadFileTask : public Task {
 public:
  ~ReadFileTask() override {
    for (of_tensor tensor : tensors_) of_tensor_release(tensor);
  }

  // Copies the arguments (file, positions, device, share).
  explicit ReadFileTask(const Call& call) : file_(of_file_retain(file_of(call))) {
    for (int64_t position : call.integers(1)) positions_.push_back(static_cast<uint64_t>(position));
    options_.struct_size = sizeof(options_);
    options_.device = call.device(2);
    options_.share = call.boolean(3);
    tensors_.resize(positions_.size());
  }

  of_status run() override {
    return of_file_read(file_.get(), positions_.data(), positions_.size(), &options_, tensors_.data());
  }

  // Returns the slots of the tensors.
  Napi::Value finish(Environment& environment) override {
    return array_of(environment.env(), tensors_.size(),
                    [&](size_t i) { return environment.put(std::exchange(tensors_[i], nullptr)); });
  }

 private:
  File file_;
  std::vector<uint64_t> positions_;
  of_read_options options_{};
  std::vector<of_tensor> tensors_;
};

// ---------------------------------------------------------------- functions

// saveFile(path, kinds, counts, keys, slots, metadata, compress, ...keepAlive); saveFileAsync() returns a promise.
template <bool is_async>
Napi::Value save_file(const Call& call) {
  auto task = std::make_unique<SaveTask>();
  task->capture(call, is_async);
  return run_task<is_async>(call, std::move(task));
}

// openFile(path): returns a file; openFileAsync() returns a promise.
template <bool is_async>
Napi::Value open_file(const Call& call) {
  return run_task<is_async>(call, std::make_unique<OpenTask>(call.string(0)));
}

// readFile(file, positions, device, copy): returns slots; readFileAsync() returns a promise.
template <bool is_async>
Napi::Value read_file(const Call& call) {
  return run_task<is_async>(call, std::make_unique<ReadFileTask>(call));
}

// fileEntries(file): returns an array of {name, dtype, type, shape, bytes}. The dtype may be null.
Napi::Value file_entries(const Call& call) {
  const Napi::Env env = call.Env();
  const of_file file = file_of(call);
  return array_of(env, of_file_count(file), [=, &call](size_t i) {
    of_file_entry entry{};
    entry.struct_size = sizeof(entry);
    call.check(of_file_entry_at(file, i, &entry));
    auto object = Napi::Object::New(env);
    object.Set("name", entry.name);
    object.Set("dtype", text_or_null(env, entry.dtype != OF_DTYPE_NONE ? of_dtype_name(entry.dtype) : nullptr));
    object.Set("type", entry.type);
    object.Set("shape", integers_to_js(env, entry.sizes, entry.rank));
    object.Set("bytes", entry.bytes);
    return object;
  });
}

// fileMetadata(file): returns an array of pairs.
Napi::Value file_metadata(const Call& call) {
  const of_file_metadata* pairs = nullptr;
  uint64_t count = 0;
  call.check(of_file_get_metadata(file_of(call), &pairs, &count));
  return array_of(call.Env(), count, [&](size_t i) { return pair_of(call.Env(), pairs[i].key, pairs[i].value); });
}

// fileNodes(file, flat): returns an array of {kind, count, key, entry}. The key may be null.
Napi::Value file_nodes(const Call& call) {
  const of_file_node* nodes = nullptr;
  uint64_t count = 0;
  call.check(of_file_get_nodes(file_of(call), call.boolean(1), &nodes, &count));
  return nodes_to_js(call.Env(), nodes, count);
}

}  // namespace

void add_file_functions(Exports& exports) {
  exports.add<save_file<false>>("saveFile");
  exports.add<save_file<true>>("saveFileAsync");
  exports.add<open_file<false>>("openFile");
  exports.add<open_file<true>>("openFileAsync");
  exports.add<read_file<false>>("readFile");
  exports.add<read_file<true>>("readFileAsync");
  exports.add<file_entries>("fileEntries");
  exports.add<file_metadata>("fileMetadata");
  exports.add<file_nodes>("fileNodes");
  exports.add("closeFile", [](const Call& call) { call.external<File>(0)->reset(); });
}

}  // namespace oneflow::node
