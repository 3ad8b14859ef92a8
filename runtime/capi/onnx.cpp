// The C API: ONNX models, which a library of its own reads and writes.
#include <filesystem>
#include <optional>

#include "capi/boundary.h"
#include "capi/side_library.h"
#include "files/output_file.h"
#include "onnx/entry.h"

using namespace oneflow;

namespace {

constinit SideLibrary library("onnx", "the ONNX library");

// The file of a model, and that of its external data, if it has any.
struct ModelOutput {
  explicit ModelOutput(const std::string& path) : external_path(path + ".data"), model(path) {}

  void write(bool is_external, const void* data, uint64_t bytes) {
    if (is_external && !external) external.emplace(external_path);
    (is_external ? *external : model).write(data, bytes);
  }
  // The model comes last: it refers to the other file.
  void commit() {
    if (external) external->commit();
    model.commit();
  }

  const std::string external_path;
  files::OutputFile model;
  std::optional<files::OutputFile> external;
};

}  // namespace

of_status of_onnx_load(const char* path, const of_onnx_load_options* options, of_graph* result) {
  return guard([&, name = __func__] {
    require(path, name, "path");
    require(result, name, "result");
    const of_onnx_load_options given = options ? read_struct(options, name, "options") : of_onnx_load_options{};
    if (given.size_count) require(given.sizes, name, "sizes");
    for (uint64_t i = 0; i < given.size_count; ++i) require(given.sizes[i].name, name, "a size's name");
    if (given.equal_size_count) require(given.equal_sizes, name, "equal_sizes");
    for (uint64_t i = 0; i < given.equal_size_count; ++i) {
      require(given.equal_sizes[i].name, name, "a size's name");
      require(given.equal_sizes[i].other, name, "a size's name");
    }
    if (given.value_count) {
      require(given.values, name, "values");
      require(given.value_names, name, "value_names");
    }
    for (uint64_t i = 0; i < given.value_count; ++i) {
      require(given.value_names[i], name, "a value's name");
      require_tensor(given.values[i], name, "a value");
    }
    const auto load = library.function<decltype(of_onnx_library_load)>("of_onnx_library_load");
    named("load", [&] { call_side(load, path, &given, result); });
  });
}

of_status of_onnx_save(of_graph graph, const char* path, const of_onnx_save_options* options) {
  return guard([&, name = __func__] {
    require(graph, name, "graph");
    require(path, name, "path");
    const of_onnx_save_options given = options ? read_struct(options, name, "options") : of_onnx_save_options{};
    const auto save = library.function<decltype(of_onnx_library_save)>("of_onnx_library_save");
    named("save", [&] {
      ModelOutput output(path);
      const std::string location = std::filesystem::path(output.external_path).filename();
      const of_onnx_write write = [](void* context, bool is_external, const void* data, uint64_t bytes) {
        return guard([&] { static_cast<ModelOutput*>(context)->write(is_external, data, bytes); });
      };
      call_side(save, graph, &given, location.c_str(), write, static_cast<void*>(&output));
      output.commit();
    });
  });
}
