// generated from opdefs/reduction.yaml by codegen, do not edit
#include "dispatch/operator.h"
#include "dispatch/values.h"
#include "ops/kinds.h"

namespace oneflow {

extern const std::span<const Schema> kReductionOperators;

namespace {

// max(Tensor input, dim dim, bool keepdim=False) -> (Tensor values, Tensor indices)
constexpr Argument kMaxDimArguments[] = {
    {
        .name = "input",
        .type_text = "Tensor",
        .type = ArgumentType::kTensor,
    },
    {
        .name = "dim",
        .type_text = "dim",
        .type = ArgumentType::kDim,
    },
    {
        .name = "keepdim",
        .type_text = "bool",
        .default_text = "False",
        .default_value = to_value(false),
        .type = ArgumentType::kBool,
    },
};

constexpr Schema kSchemas[] = {
    {
        .name = "max.dim",
        .word = "max",
        .signature = "max(Tensor input, dim dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        .summary = "The largest element along one dimension, and where it is.",
        .kind = "reduction",
        .hash = 0xca479aeea31ee462,
        .arguments = kMaxDimArguments,
        .result_count = 2,
        .dtype = {.results = {ResultRule::kSame, ResultRule::kInt64}},
        .rule = ReductionRule{.dims_argument = 1, .keepdim_argument = 2, .allows_empty = false},
        .run = run_reduction,
    },
};

}  // namespace

constinit const std::span<const Schema> kReductionOperators = kSchemas;

}  // namespace oneflow
