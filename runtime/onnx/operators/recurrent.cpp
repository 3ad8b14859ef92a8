#include "onnx/operators.h"

namespace oneflow::onnx {

std::span<const Operator> recurrent_operators() { return {}; }

}  // namespace oneflow::onnx
