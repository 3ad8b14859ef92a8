// generated from opdefs/shape.yaml by codegen, do not edit
#include "dispatch/dispatch.h"
#include "dispatch/operator.h"
#include "dispatch/values.h"
#include "ops/kinds.h"
#include "ops/size_functions.h"
#include "ops/view_functions.h"

namespace oneflow {

extern const std::span<const Schema> kShapeOperators;

namespace {

constinit const OperatorName kAdd("add");
constinit const OperatorName kSlice("slice");

// zeros(size[] size, *, dtype? dtype=None, device? device=None) -> Tensor
constexpr Argument kZerosArguments[] = {
    {
        .name = "size",
        .type_text = "size[]",
        .type = ArgumentType::kSize,
        .is_list = true,
    },
    {
        .name = "dtype",
        .type_text = "dtype?",
        .default_text = "None",
        .default_value = kNone,
        .type = ArgumentType::kDType,
        .is_optional = true,
        .is_keyword_only = true,
    },
    {
        .name = "device",
        .type_text = "device?",
        .default_text = "None",
        .default_value = kNone,
        .type = ArgumentType::kDevice,
        .is_optional = true,
        .is_keyword_only = true,
    },
};

// slice(Tensor(a) input, dim dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)
ViewLayout slice_layout(const Call& call) {
  const Tensor& input = call.tensor(0);
  const Shape& sizes = input.sizes();
  const Shape& strides = input.strides();
  const int64_t base = input.offset();
  const int64_t dim = call.integer(1);
  const of_value& start = call.arguments[2];
  const of_value& end = call.arguments[3];
  const int64_t step = call.integer(4);
  const int64_t begin = slice_begin(start, step, member(sizes, dim));
  const int64_t length = slice_length(start, end, step, member(sizes, dim));
  return {replace(sizes, dim, length), replace(strides, dim, member(strides, dim) * step),
          base + begin * member(strides, dim)};
}

constexpr Argument kSliceArguments[] = {
    {
        .name = "input",
        .type_text = "Tensor",
        .type = ArgumentType::kTensor,
    },
    {
        .name = "dim",
        .type_text = "dim",
        .default_text = "0",
        .default_value = to_value(0),
        .type = ArgumentType::kDim,
    },
    {
        .name = "start",
        .type_text = "int?",
        .default_text = "None",
        .default_value = kNone,
        .type = ArgumentType::kInt,
        .is_optional = true,
    },
    {
        .name = "end",
        .type_text = "int?",
        .default_text = "None",
        .default_value = kNone,
        .type = ArgumentType::kInt,
        .is_optional = true,
    },
    {
        .name = "step",
        .type_text = "int",
        .default_text = "1",
        .default_value = to_value(1),
        .type = ArgumentType::kInt,
    },
};

// double_slice(Tensor input) -> Tensor
TensorRef double_slice_body(Body& body) {
  const of_value& input = body.argument(0);
  return body.call(kAdd, body.call(kSlice, input, 0, kNone, kNone, 4), body.call(kSlice, input, kDefault, kDefault, kDefault, 4));
}

constexpr Argument kDoubleSliceArguments[] = {
    {
        .name = "input",
        .type_text = "Tensor",
        .type = ArgumentType::kTensor,
    },
};

constexpr Schema kSchemas[] = {
    {
        .name = "zeros",
        .word = "zeros",
        .signature = "zeros(size[] size, *, dtype? dtype=None, device? device=None) -> Tensor",
        .summary = "A tensor of zeros.",
        .kind = "generator",
        .hash = 0x67c8dc2d233f7f5c,
        .arguments = kZerosArguments,
        .result_count = 1,
        .dtype = {.results = {ResultRule::kFloating}, .override_argument = 1},
        .rule = GeneratorRule{.size_argument = 0},
        .run = run_generator,
    },
    {
        .name = "slice",
        .word = "slice",
        .signature = "slice(Tensor(a) input, dim dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
        .summary = "The elements from `start` up to `end` along a dimension, in steps. The result is a view.",
        .kind = "view",
        .hash = 0xcfc10b789c17b0e5,
        .arguments = kSliceArguments,
        .result_count = 1,
        .dtype = {.results = {ResultRule::kSame}},
        .rule = ViewRule{slice_layout},
        .run = run_view,
    },
    {
        .name = "double_slice",
        .word = "double_slice",
        .signature = "double_slice(Tensor input) -> Tensor",
        .summary = "Every second of every second element, twice over.",
        .kind = "composite",
        .hash = 0x3313d9eb3461255e,
        .arguments = kDoubleSliceArguments,
        .result_count = 1,
        .dtype = {.results = {ResultRule::kSame}},
        .rule = CompositeRule{double_slice_body},
        .run = run_composite,
    },
};

}  // namespace

constinit const std::span<const Schema> kShapeOperators = kSchemas;

}  // namespace oneflow
