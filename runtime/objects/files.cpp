#include "objects/files.h"

#include "objects/handle.h"
#include "objects/nested.h"
#include "objects/values.h"

namespace oneflow::objects {

// save(data, path, metadata, compress)
of_status file_save(void*, const of_data* given, Results& results) {
  std::vector<of_file_node> nodes;
  add_nodes(given[0], nullptr, &nodes);
  std::vector<of_file_metadata> metadata;
  for (uint32_t i = 0; i < given[2].count; ++i) metadata.push_back({given[2].of.keys[i], given[2].as.items[i].as.text});
  auto options = sized<of_save_options>();
  options.metadata = metadata.data();
  options.metadata_count = metadata.size();
  options.compress = given[3].as.boolean;
  results.check_named(of_file_save(given[1].as.text, nodes.data(), nodes.size(), &options));
  return OF_OK;
}

// load(path, device, mmap, flat)
of_status file_load(void*, const of_data* given, Results& results) {
  of_file opened = nullptr;
  results.check_named(of_file_open(given[0].as.text, &opened));
  const Owned<of_file, of_file_release> file(opened);
  give_all(opened, read_options(given[1], given[2]), given[3].as.boolean, results);
  return OF_OK;
}

of_read_options read_options(const of_data& device, const of_data& mmap) {
  auto options = sized<of_read_options>();
  options.device = device_or_default(device);
  options.share = mmap.as.boolean;
  return options;
}

void give_all(of_file file, const of_read_options& options, bool is_flat, Results& results) {
  const of_file_node* nodes = nullptr;
  uint64_t count = 0;
  check(of_file_get_nodes(file, is_flat, &nodes, &count));
  std::vector<uint64_t> positions;
  for (const of_file_node& node : std::span(nodes, count))
    if (node.kind == OF_NODE_TENSOR) positions.push_back(node.as.entry);
  std::vector<of_tensor> tensors(positions.size());
  results.check_named(of_file_read(file, positions.data(), positions.size(), &options, tensors.data()));
  std::vector<of_data> read;
  for (of_tensor tensor : tensors) read.push_back(results.tensor(tensor));
  results.give(restored({nodes, count}, read, results));
}

}  // namespace oneflow::objects
