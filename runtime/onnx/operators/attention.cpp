#include "onnx/operators.h"

namespace oneflow::onnx {

std::span<const Operator> attention_operators() { return {}; }

}  // namespace oneflow::onnx
