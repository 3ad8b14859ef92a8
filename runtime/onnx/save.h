// Graphs as ONNX models.
#ifndef ONEFLOW_ONNX_SAVE_H_
#define ONEFLOW_ONNX_SAVE_H_

#include <oneflow/onnx.h>

#include <functional>
#include <oneflow/session.hpp>
#include <string_view>

namespace oneflow::onnx {

// Appends bytes to the model's file, or to that of its external data.
using Write = std::function<void(bool is_external, std::string_view bytes)>;

// Writes a graph; see of_onnx_save(). `location` is the name of the file for external data.
void save(const Graph& graph, const of_onnx_save_options& options, std::string_view location, const Write& write);

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_SAVE_H_
