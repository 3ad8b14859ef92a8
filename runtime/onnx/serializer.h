// Models as the bytes of ONNX files.
#ifndef ONEFLOW_ONNX_SERIALIZER_H_
#define ONEFLOW_ONNX_SERIALIZER_H_

#include <string>

#include "onnx/format.h"

namespace oneflow::onnx {

// Returns the bytes that parse_model() reads as the model. Functions, and attributes of nodes that are graphs, are not
// written.
std::string serialize(const ModelProto& model, std::string_view producer);

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_SERIALIZER_H_
