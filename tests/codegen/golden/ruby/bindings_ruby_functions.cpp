// generated from opdefs by codegen, do not edit
//
// The function table: each record's arguments, each public function's overloads and names.

#include <iterator>

#include "define.h"

namespace oneflow::ruby {
namespace {

// clang-format off
Argument add_arguments[] = {
    {"input", "Tensor or Numeric", ArgumentType::kOperand, false, false, false, true, false, 0},
    {"other", "Tensor or Numeric", ArgumentType::kOperand, false, false, false, true, false, 0},
};
Argument gelu_arguments[] = {
    {"input", "Tensor", ArgumentType::kTensor, false, false, false, true, false, 0},
    {"approximate", "String", ArgumentType::kStr, false, false, false, false, true, 0},
};
Argument max_dim_arguments[] = {
    {"input", "Tensor", ArgumentType::kTensor, false, false, false, true, false, 0},
    {"dim", "Integer", ArgumentType::kInt, false, false, false, true, false, 0},
    {"keepdim", "bool", ArgumentType::kBool, false, false, false, false, false, 0},
};
Argument zeros_arguments[] = {
    {"size", "Array of Integers", ArgumentType::kInt, true, false, false, true, false, 0},
    {"dtype", "dtype", ArgumentType::kDType, false, true, false, false, true, 0},
    {"device", "device", ArgumentType::kDevice, false, true, false, false, true, 0},
};
Argument slice_arguments[] = {
    {"input", "Tensor", ArgumentType::kTensor, false, false, false, true, false, 0},
    {"dim", "Integer", ArgumentType::kInt, false, false, false, false, false, 0},
    {"start", "Integer", ArgumentType::kInt, false, true, false, false, false, 0},
    {"end", "Integer", ArgumentType::kInt, false, true, false, false, false, 0},
    {"step", "Integer", ArgumentType::kInt, false, false, false, false, false, 0},
};
Argument double_slice_arguments[] = {
    {"input", "Tensor", ArgumentType::kTensor, false, false, false, true, false, 0},
};

Overload add_overloads[] = {
    {"add", add_arguments, 2, 2, 1, 0, -1, -1, true, true, true, nullptr},
};
Overload double_slice_overloads[] = {
    {"double_slice", double_slice_arguments, 1, 1, 1, 0, -1, -1, true, false, false, nullptr},
};
Overload doubled_overloads[] = {
    {"double_slice", double_slice_arguments, 1, 1, 1, 0, -1, -1, true, false, false, nullptr},
};
Overload gelu_overloads[] = {
    {"gelu", gelu_arguments, 2, 1, 1, 0, -1, -1, true, true, true, nullptr},
};
Overload max_overloads[] = {
    {"max.dim", max_dim_arguments, 3, 3, 2, 0, -1, -1, true, true, false, nullptr},
};
Overload slice_overloads[] = {
    {"slice", slice_arguments, 5, 5, 1, 0, 0, -1, false, false, false, nullptr},
};
Overload zeros_overloads[] = {
    {"zeros", zeros_arguments, 3, 1, 1, -1, -1, -1, true, true, false, nullptr},
};

Function functions[] = {
    {nullptr, "add", "add", "+", "add!", add_overloads, 1},
    {nullptr, "double_slice", "double_slice", nullptr, nullptr, double_slice_overloads, 1},
    {nullptr, "doubled", "doubled", nullptr, nullptr, doubled_overloads, 1},
    {nullptr, "gelu", "gelu", nullptr, "gelu!", gelu_overloads, 1},
    {nullptr, "max", "max", nullptr, nullptr, max_overloads, 1},
    {nullptr, "slice", "slice", nullptr, nullptr, slice_overloads, 1},
    {nullptr, "zeros", nullptr, nullptr, nullptr, zeros_overloads, 1},
};
// clang-format on

}  // namespace

void define_functions(VALUE module) {
  define_table<functions>(module, std::make_index_sequence<std::size(functions)>());
}

}  // namespace oneflow::ruby
