// What oneflow_py/files.py is made of. The Python code checks all arguments.

#include <nanobind/stl/pair.h>

#include "nodes.h"

namespace oneflow::python {
namespace {

void save_file(const nb::bytes& path, const std::vector<Node>& items,
               const std::vector<std::pair<nb::bytes, nb::bytes>>& pairs, bool compress) {
  const std::vector<of_file_node> nodes = nodes_of(items);
  std::vector<of_file_metadata> metadata;
  for (const auto& [key, value] : pairs) metadata.push_back({key.c_str(), value.c_str()});
  of_save_options options{};
  options.struct_size = sizeof(options);
  options.compress = compress;
  options.metadata = metadata.data();
  options.metadata_count = metadata.size();
  // The caller keeps the tensors alive; nothing else refers to its lists.
  require(run_unlocked([&] { return of_file_save(path.c_str(), nodes.data(), nodes.size(), &options); }));
}

// An open file.
struct File {
  Owned<of_file, of_file_release> handle;
  // Returns tuples (name, dtype or None, type, shape, bytes).
  nb::list entries() const;
  nb::dict metadata() const;
  // Returns tuples (kind, count, key or None, position).
  nb::list nodes(bool flat) const;
  std::vector<OwnedTensor> read(const std::vector<uint64_t>& positions, std::optional<of_device> device,
                                bool copy) const;
};

File open_file(const nb::bytes& path) {
  of_file file = nullptr;
  require(run_unlocked([&] { return of_file_open(path.c_str(), &file); }));
  return {Owned<of_file, of_file_release>(file)};
}

nb::list File::entries() const {
  nb::list list;
  for (uint64_t i = 0, count = of_file_count(handle.get()); i < count; ++i) {
    of_file_entry entry{};
    entry.struct_size = sizeof(entry);
    require(of_file_entry_at(handle.get(), i, &entry));
    list.append(
        nb::make_tuple(entry.name, entry.dtype, entry.type, take(tuple_of(entry.sizes, entry.rank)), entry.bytes));
  }
  return list;
}

nb::dict File::metadata() const {
  const of_file_metadata* pairs = nullptr;
  uint64_t count = 0;
  require(of_file_get_metadata(handle.get(), &pairs, &count));
  nb::dict dictionary;
  for (uint64_t i = 0; i < count; ++i) dictionary[pairs[i].key] = pairs[i].value;
  return dictionary;
}

nb::list File::nodes(bool flat) const {
  const of_file_node* nodes = nullptr;
  uint64_t count = 0;
  require(of_file_get_nodes(handle.get(), flat, &nodes, &count));
  return list_of({nodes, count});
}

std::vector<OwnedTensor> File::read(const std::vector<uint64_t>& positions, std::optional<of_device> device,
                                    bool share) const {
  of_read_options options{};
  options.struct_size = sizeof(options);
  options.device = device ? *device : of_default_device();
  options.share = share;
  std::vector<of_tensor> tensors(positions.size());
  require(run_unlocked(
      [&] { return of_file_read(handle.get(), positions.data(), positions.size(), &options, tensors.data()); }));
  return {tensors.begin(), tensors.end()};
}

}  // namespace

void add_file_functions(PyObject* module) {
  auto scope = nb::borrow<nb::module_>(module);
  scope.def("_save_file", save_file);
  scope.def("_open_file", open_file);
  nb::class_<File>(scope, "_File", nb::is_final())
      .def("entries", &File::entries)
      .def("metadata", &File::metadata)
      .def("nodes", &File::nodes)
      .def("read", &File::read);
}

}  // namespace oneflow::python
