// ONNX models as graphs.
#ifndef ONEFLOW_ONNX_LOAD_H_
#define ONEFLOW_ONNX_LOAD_H_

#include <oneflow/onnx.h>

#include <oneflow/session.hpp>
#include <string>

namespace oneflow::onnx {

// Loads a model; see of_onnx_load().
Graph load(const std::string& path, const of_onnx_load_options& options);

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_LOAD_H_
