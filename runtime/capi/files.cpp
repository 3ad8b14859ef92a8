// The C API: files of tensors.
#include <oneflow/files.h>

#include "base/characters.h"
#include "capi/boundary.h"
#include "device/device.h"
#include "dispatch/dispatch.h"
#include "files/format.h"
#include "files/names.h"
#include "files/tensor_file.h"

using namespace oneflow;
using namespace oneflow::files;

namespace {

const TensorFile& require_file(of_file handle, const char* function) {
  require(handle, function, "file");
  return *to_file(handle);
}

// Returns the tensors of nodes, with their names.
std::vector<Item> items_of(std::span<const of_file_node> nodes, std::vector<std::string> names) {
  std::vector<Item> items;
  for (const of_file_node& node : nodes) {
    if (node.kind != OF_NODE_TENSOR) continue;
    if (!node.as.tensor) fail(OF_INVALID_ARGUMENT, "a tensor must not be NULL");
    items.push_back({std::move(names[items.size()]), readable(*to_tensor(node.as.tensor), "save")});
  }
  return items;
}

Metadata metadata_of(const of_save_options& options) {
  Metadata metadata;
  for (uint64_t i = 0; i < options.metadata_count; ++i) {
    const auto& [key, value] = options.metadata[i];
    if (!key || !value) fail(OF_INVALID_ARGUMENT, "metadata must not be NULL");
    check_name("a key of the metadata", key);
    check_name("a value of the metadata", value);
    for (const auto& known : metadata)
      if (known.first == key) fail(OF_INVALID_ARGUMENT, "metadata '%s' occurs twice", printable(key).c_str());
    metadata.emplace_back(key, value);
  }
  return metadata;
}

}  // namespace

of_status of_file_save(const char* path, const of_file_node* nodes, uint64_t count, const of_save_options* options) {
  return guard([&, function = __func__] {
    require(path, function, "path");
    if (count) require(nodes, function, "nodes");
    const of_save_options given = options ? read_struct(options, function, "options") : of_save_options{};
    if (given.metadata_count) require(given.metadata, function, "metadata");
    named("save", [&] {
      const Format& format = format_of(path);
      if (!format.save) fail(OF_UNSUPPORTED, "files that end in %s can only be loaded", format.extension);
      if (given.compress && !format.compresses)
        fail(OF_INVALID_ARGUMENT, "files that end in %s cannot be compressed", format.extension);
      Flattened flat = flatten({nodes, count});
      Document document;
      document.items = items_of({nodes, count}, std::move(flat.names));
      document.metadata = metadata_of(given);
      document.structure = std::move(flat.structure);
      document.compress = given.compress;
      OutputFile file(path);
      format.save(file, document);
      file.commit();
    });
  });
}

of_status of_file_open(const char* path, of_file* result) {
  return guard([&, function = __func__] {
    require(path, function, "path");
    require(result, function, "result");
    *result = named("load", [&] { return TensorFile::open(path); }).detach();
  });
}

of_file of_file_retain(of_file file) {
  if (file) to_file(file)->retain();
  return file;
}

void of_file_release(of_file file) {
  if (file) to_file(file)->release();
}

uint64_t of_file_count(of_file file) { return file ? to_file(file)->entries().size() : 0; }

of_status of_file_entry_at(of_file handle, uint64_t position, of_file_entry* entry) {
  return guard([&, function = __func__] {
    const std::vector<Entry>& entries = require_file(handle, function).entries();
    if (position >= entries.size())
      fail(OF_INDEX_OUT_OF_RANGE, "%s: position must be below %zu, got %lu", function, entries.size(), position);
    const Entry& found = entries[position];
    of_file_entry result{};
    result.dtype = found.dtype;
    result.name = found.name.c_str();
    result.type = found.type.c_str();
    result.rank = found.sizes.rank();
    result.sizes = found.sizes.data();
    result.bytes = found.bytes;
    write_struct(entry, result, function, "entry");
  });
}

of_status of_file_find(of_file handle, const char* name, uint64_t* position) {
  return guard([&, function = __func__] {
    const TensorFile& file = require_file(handle, function);
    require(name, function, "name");
    require(position, function, "position");
    const int64_t found = file.find(name);
    if (found < 0) fail(OF_INDEX_OUT_OF_RANGE, "load: there is no tensor '%s'", printable(name).c_str());
    *position = static_cast<uint64_t>(found);
  });
}

of_status of_file_get_metadata(of_file handle, const of_file_metadata** metadata, uint64_t* count) {
  return guard([&, function = __func__] {
    const TensorFile& file = require_file(handle, function);
    require(metadata, function, "metadata");
    require(count, function, "count");
    *metadata = file.metadata().data();
    *count = file.metadata().size();
  });
}

of_status of_file_get_nodes(of_file handle, bool flat, const of_file_node** nodes, uint64_t* count) {
  return guard([&, function = __func__] {
    const TensorFile& file = require_file(handle, function);
    require(nodes, function, "nodes");
    require(count, function, "count");
    const std::vector<of_file_node>& found = named("load", [&]() -> const Tree& { return file.tree(flat); }).nodes();
    *nodes = found.data();
    *count = found.size();
  });
}

of_status of_file_read(of_file handle, const uint64_t* positions, uint64_t count, const of_read_options* options,
                       of_tensor* results) {
  return guard([&, function = __func__] {
    const std::vector<Entry>& entries = require_file(handle, function).entries();
    const of_read_options given = read_struct(options, function, "options");
    if (count == 0) return;
    require(positions, function, "positions");
    require(results, function, "results");
    std::vector<TensorRef> tensors;
    named("load", [&] {
      get_device(given.device);
      for (uint64_t i = 0; i < count; ++i) {
        if (positions[i] >= entries.size())
          fail(OF_INDEX_OUT_OF_RANGE, "position must be below %zu, got %lu", entries.size(), positions[i]);
        tensors.push_back(read_tensor(entries[positions[i]], given.device, !given.share));
      }
    });
    for (uint64_t i = 0; i < count; ++i) results[i] = to_handle(tensors[i].detach());
  });
}
