#include "onnx/entry.h"

#include "onnx/load.h"
#include "onnx/save.h"
#include "side/report_errors.h"

__attribute__((visibility("default"))) of_status of_onnx_library_load(const char* path,
                                                                      const of_onnx_load_options* options,
                                                                      of_graph* result, of_side_report report,
                                                                      void* context) {
  return oneflow::report_errors(report, context, [&] {
    const oneflow::Graph graph = oneflow::onnx::load(path, *options);
    *result = of_graph_retain(graph.get());
  });
}

__attribute__((visibility("default"))) of_status of_onnx_library_save(of_graph graph,
                                                                      const of_onnx_save_options* options,
                                                                      const char* location, of_onnx_write write,
                                                                      void* write_context, of_side_report report,
                                                                      void* context) {
  return oneflow::report_errors(report, context, [&] {
    const auto write_part = [&](bool is_external, std::string_view bytes) {
      oneflow::check(write(write_context, is_external, bytes.data(), bytes.size()));
    };
    oneflow::onnx::save(oneflow::Graph(of_graph_retain(graph)), *options, location, write_part);
  });
}
