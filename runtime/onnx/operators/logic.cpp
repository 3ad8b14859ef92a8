// Comparisons, and operators of truth values.
#include <array>
#include <oneflow/oneflow.hpp>

#include "onnx/operators.h"

namespace oneflow::onnx {

namespace {

constexpr std::array kOperators{
    ours("And", "logical_and"),
    ours("Or", "logical_or"),
    ours("Xor", "logical_xor"),
    ours("Not", "logical_not"),
    ours("Equal", "eq"),
    ours("Greater", "gt"),
    ours("Less", "lt"),
    ours("GreaterOrEqual", "ge", 12),
    ours("LessOrEqual", "le", 12),
};

}  // namespace

std::span<const Operator> logic_operators() { return kOperators; }

}  // namespace oneflow::onnx
