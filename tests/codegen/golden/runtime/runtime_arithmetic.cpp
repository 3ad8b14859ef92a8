// generated from opdefs/arithmetic.yaml by codegen, do not edit
#include "dispatch/operator.h"
#include "dispatch/values.h"
#include "ops/kinds.h"

namespace oneflow {

extern const std::span<const Schema> kArithmeticOperators;

namespace {

// add(Tensor|Number input, Tensor|Number other) -> Tensor
constexpr Argument kAddArguments[] = {
    {
        .name = "input",
        .type_text = "Tensor|Number",
        .type = ArgumentType::kOperand,
    },
    {
        .name = "other",
        .type_text = "Tensor|Number",
        .type = ArgumentType::kOperand,
    },
};

// gelu(Tensor input, *, str approximate='none') -> Tensor
constexpr const char* kGeluValues[] = {"none", "tanh"};

constexpr Argument kGeluArguments[] = {
    {
        .name = "input",
        .type_text = "Tensor",
        .type = ArgumentType::kTensor,
        .accepts = DTypeSet::kFloating,
    },
    {
        .name = "approximate",
        .type_text = "str",
        .default_text = "'none'",
        .default_value = to_value("none"),
        .type = ArgumentType::kString,
        .is_keyword_only = true,
    },
};

constexpr Schema kSchemas[] = {
    {
        .name = "add",
        .word = "add",
        .signature = "add(Tensor|Number input, Tensor|Number other) -> Tensor",
        .summary = "Adds two tensors, element by element.",
        .kind = "elementwise",
        .hash = 0xfb31519d84a897d8,
        .arguments = kAddArguments,
        .result_count = 1,
        .dtype = {.results = {ResultRule::kPromote}},
        .rule = ElementwiseRule{},
        .run = run_elementwise,
    },
    {
        .name = "gelu",
        .word = "gelu",
        .signature = "gelu(Tensor input, *, str approximate='none') -> Tensor",
        .summary = "Gaussian error linear unit.",
        .kind = "elementwise",
        .hash = 0x17b5224eee301bc9,
        .arguments = kGeluArguments,
        .result_count = 1,
        .dtype = {.results = {ResultRule::kSame}},
        .match = {.argument = 1, .values = kGeluValues},
        .rule = ElementwiseRule{},
        .run = run_elementwise,
    },
};

}  // namespace

constinit const std::span<const Schema> kArithmeticOperators = kSchemas;

}  // namespace oneflow
