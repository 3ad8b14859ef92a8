// The `contract` hook of the device table: batched matrix products over groups of arbitrarily strided dimensions.
//
// contract.cpp brings the descriptor into normal form (problem.h) and chooses a strategy (strategy.h):
// - contract/direct/ reads the operands in place: strips.h, and for products that are too thin or too small to pay for
//   packing, direct.h;
// - contract/rewrite/ changes the problem first: rearranged.h copies operands into another layout, converted.h converts
//   small operands to the compute type;
// - contract/gemm/ packs blocks of A and B into panels and multiplies those. It accepts every problem.
// The inner loops are in *_vectorised.cpp, compiled once per instruction set; kernels.h declares their table.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_CONTRACT_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_CONTRACT_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cpu {

// Computes a contraction. Fails with Unsupported for a combination of dtype and `compute` without kernels and for an
// epilogue, with InvalidArgument for negative sizes or more than OF_MAX_RANK dimensions in a group, with OutOfMemory.
of_status contract(const of_contraction* contraction);
// Destroys what contract() left at `contraction->prepared`.
void discard_contraction(void* prepared);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_CONTRACT_H_
