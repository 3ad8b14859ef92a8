// generated from opdefs by codegen, do not edit

#include "function_table.h"

namespace oneflow::python {
namespace {

// ---------------------------------------------------------------- arguments

const ArgumentRecord add_arguments[] = {
    {"input", "Tensor or number", ArgumentKind::kOperand, false, false, false, false, true},
    {"other", "Tensor or number", ArgumentKind::kOperand, false, false, false, false, true},
};

const ArgumentRecord gelu_arguments[] = {
    {"input", "Tensor", ArgumentKind::kTensor, false, false, false, false, true},
    {"approximate", "str", ArgumentKind::kString, false, false, false, true, false},
};

const ArgumentRecord max_dim_arguments[] = {
    {"input", "Tensor", ArgumentKind::kTensor, false, false, false, false, true},
    {"dim", "int", ArgumentKind::kInt, false, false, false, false, true},
    {"keepdim", "bool", ArgumentKind::kBool, false, false, false, false, false},
};

const ArgumentRecord zeros_arguments[] = {
    {"size", "list of ints", ArgumentKind::kInt, true, false, false, false, true},
    {"dtype", "dtype", ArgumentKind::kDtype, false, true, false, true, false},
    {"device", "device", ArgumentKind::kDevice, false, true, false, true, false},
};

const ArgumentRecord slice_arguments[] = {
    {"input", "Tensor", ArgumentKind::kTensor, false, false, false, false, true},
    {"dim", "int", ArgumentKind::kInt, false, false, false, false, false},
    {"start", "int", ArgumentKind::kInt, false, true, false, false, false},
    {"end", "int", ArgumentKind::kInt, false, true, false, false, false},
    {"step", "int", ArgumentKind::kInt, false, false, false, false, false},
};

const ArgumentRecord double_slice_arguments[] = {
    {"input", "Tensor", ArgumentKind::kTensor, false, false, false, false, true},
};

// ---------------------------------------------------------------- overloads

const OverloadRecord add_overloads[] = {
    {"add", add_arguments, 1, nullptr, 0, -1, true, true},
};

const OverloadRecord double_slice_overloads[] = {
    {"double_slice", double_slice_arguments, 1, nullptr, 0, -1, false, false},
};

const OverloadRecord doubled_overloads[] = {
    {"double_slice", double_slice_arguments, 1, nullptr, 0, -1, false, false},
};

const OverloadRecord gelu_overloads[] = {
    {"gelu", gelu_arguments, 1, nullptr, 0, -1, true, true},
};

const OverloadRecord max_overloads[] = {
    {"max.dim", max_dim_arguments, 2, "ValuesIndices", 0, -1, true, false},
};

const OverloadRecord slice_overloads[] = {
    {"slice", slice_arguments, 1, nullptr, 0, -1, false, false},
};

const OverloadRecord zeros_overloads[] = {
    {"zeros", zeros_arguments, 1, nullptr, -1, -1, true, false},
};

// ---------------------------------------------------------------- functions

const FunctionRecord functions[] = {
    {"", "add", "add_", true, "(input, other, *, out=None)", "($self, other, *, out=None)", "($self, other)",
     R"doc(flow.add(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor

Adds two tensors, element by element.

Examples:

    flow.add(flow.tensor([1.0, 2.0]), flow.tensor([10.0, 20.0]))  # [11.0, 22.0])doc",
     add_overloads},
    {"", "double_slice", nullptr, true, "(input)", "($self)", "($self, *args, **kwargs)",
     R"doc(flow.double_slice(input: Tensor) -> Tensor

Every second of every second element, twice over.

Examples:

    flow.double_slice(flow.tensor([1, 2, 3, 4, 5]))  # [2, 10])doc",
     double_slice_overloads},
    {"", "doubled", nullptr, true, "(input)", "($self)", "($self, *args, **kwargs)",
     R"doc(flow.doubled(input: Tensor) -> Tensor

Every second of every second element, twice over.

Examples:

    flow.double_slice(flow.tensor([1, 2, 3, 4, 5]))  # [2, 10])doc",
     doubled_overloads},
    {"", "gelu", "gelu_", true, "(input, *, approximate='none', out=None)", "($self, *, approximate='none', out=None)", "($self, *, approximate='none')",
     R"doc(flow.gelu(input: Tensor, *, approximate: str = 'none', out: Tensor | None = None) -> Tensor

Gaussian error linear unit.

Examples:

    flow.gelu(flow.tensor([-1.0, 0.0, 2.0]))  # [-0.1587, 0.0, 1.9545])doc",
     gelu_overloads},
    {"", "max", nullptr, true, "(input, dim, keepdim=False, *, out=None)", "($self, dim, keepdim=False, *, out=None)", "($self, *args, **kwargs)",
     R"doc(flow.max(input: Tensor, dim: int, keepdim: bool = False, *, out: tuple[Tensor, Tensor] | None = None) -> ValuesIndices

The largest element along one dimension, and where it is.

Of equal elements the first counts.

NaN counts as the largest of all.

Examples:

    flow.max(flow.tensor([[1.0, 5.0], [7.0, 3.0]]), 1)  # [5.0, 7.0], [1, 0])doc",
     max_overloads},
    {"", "slice", nullptr, true, "(input, dim=0, start=None, end=None, step=1)", "($self, dim=0, start=None, end=None, step=1)", "($self, *args, **kwargs)",
     R"doc(flow.slice(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor

The elements from `start` up to `end` along a dimension, in steps. The result is a view.

Examples:

    flow.slice(flow.tensor([0, 1, 2, 3, 4]), 0, 1, 5, 2)  # [1, 3])doc",
     slice_overloads},
    {"", "zeros", nullptr, false, "(size, *, dtype=None, device=None, out=None)", "($self, *args, **kwargs)", "($self, *args, **kwargs)",
     R"doc(flow.zeros(size: int | Sequence[int], *, dtype: DTypeLike | None = None, device: DeviceLike | None = None, out: Tensor | None = None) -> Tensor

A tensor of zeros.

Examples:

    flow.zeros([2], dtype=flow.int32)  # [0, 0])doc",
     zeros_overloads},
};

const ResultTypeRecord result_types[] = {
    {"ValuesIndices", "values indices"},
};

const SlotRecord slots[] = {
    {"__add__", "add"},
};

}  // namespace

const std::span<const FunctionRecord> function_records = functions;
const std::span<const ResultTypeRecord> result_type_records = result_types;
const std::span<const SlotRecord> slot_records = slots;

}  // namespace oneflow::python
