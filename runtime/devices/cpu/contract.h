// The `contract` hook of the device table: matrix products over arbitrarily strided groups of dimensions.
//
// contract.cpp brings a contraction into a normal form and picks the way to compute it; contract_gemm.cpp is the
// blocked, packing one; contract_direct.cpp loops over the operands where they lie, for shapes too thin or too small
// to pay for packing; contract_rearranged.cpp copies what would be slow for either. The inner loops are in
// contract_vectorised.cpp, compiled once per instruction set.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cpu {

// Unsupported where the element types are others than `compute` goes with; InvalidArgument for negative sizes or
// counts.
of_status contract(const of_contraction* contraction);
void discard_contraction(void* prepared);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_H_
