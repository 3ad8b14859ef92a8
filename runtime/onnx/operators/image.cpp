#include "onnx/operators.h"

namespace oneflow::onnx {

std::span<const Operator> image_operators() { return {}; }

}  // namespace oneflow::onnx
