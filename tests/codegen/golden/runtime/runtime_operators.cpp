// generated from opdefs by codegen, do not edit
#include "dispatch/operator.h"

namespace oneflow {

extern const std::span<const Schema> kArithmeticOperators;
extern const std::span<const Schema> kReductionOperators;
extern const std::span<const Schema> kShapeOperators;

namespace {

constexpr const std::span<const Schema>* kAll[] = {
    &kArithmeticOperators,  // opdefs/arithmetic.yaml
    &kReductionOperators,   // opdefs/reduction.yaml
    &kShapeOperators,       // opdefs/shape.yaml
};

}  // namespace

constinit const std::span<const std::span<const Schema>* const> kFamilies = kAll;

}  // namespace oneflow
