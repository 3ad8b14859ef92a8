// ONNX models as graphs, and graphs as ONNX models.
#include <oneflow/onnx.h>

#include "objects/graph.h"

namespace oneflow::objects {
// load(path, sizes, values)
of_status onnx_load(void*, const of_data* given, Results& results) {
  auto options = sized<of_onnx_load_options>();
  std::vector<of_named_size> sizes;
  std::vector<of_equal_sizes> equal;
  for (uint32_t i = 0; i < given[1].count; ++i) {
    const of_data& size = given[1].as.items[i];
    if (size.kind == OF_DATA_TEXT) {
      equal.push_back({given[1].of.keys[i], size.as.text});
    } else {
      const of_data* bounds = size.as.items;
      sizes.push_back({given[1].of.keys[i], bounds[0].as.integer, bounds[1].as.integer, bounds[2].as.integer});
    }
  }
  std::vector<of_tensor> values;
  for (uint32_t i = 0; i < given[2].count; ++i) values.push_back(given[2].as.items[i].as.tensor);
  options.sizes = sizes.data();
  options.size_count = sizes.size();
  options.equal_sizes = equal.data();
  options.equal_size_count = equal.size();
  options.value_names = given[2].of.keys;
  options.values = values.data();
  options.value_count = values.size();
  of_graph graph = nullptr;
  results.check_named(of_onnx_load(given[0].as.text, &options, &graph));
  const of_data loaded = new_graph(results, graph);
  results.give(loaded);
  const std::string note = graph_of(loaded.as.object).info().note;
  if (!note.empty()) results.warn(std::string(results.method().name) + ": " + note);
  return OF_OK;
}

// save(graph, path, opset, external_bytes)
of_status onnx_save(void*, const of_data* given, Results& results) {
  auto options = sized<of_onnx_save_options>();
  options.opset = given[2].as.integer;
  options.external_bytes = static_cast<uint64_t>(given[3].as.integer);
  results.check_named(of_onnx_save(graph_of(given[0].as.object).graph(), given[1].as.text, &options));
  return OF_OK;
}

}  // namespace oneflow::objects
