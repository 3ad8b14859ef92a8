// Functions that enter the kernels for unpacked operands into the table of kernels of one instruction set.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_KERNELS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_KERNELS_H_

#include "contract/kernels.h"

namespace oneflow::cpu::OF_ISA {

// Set the kernels of contract/direct for the compute type T: float, double, uint32_t or uint64_t.
template <class T>
void add_direct_kernels(ContractKernels& kernels);
template <class T>
void add_dot_kernels(ContractKernels& kernels);
template <class T>
void add_strip_kernels(ContractKernels& kernels);
template <class T>
void add_line_kernels(ContractKernels& kernels);

// The kernel of this name of the table, for kernels that call it directly.
template <class T>
void transpose_sums(const TransposedSums& sums);

// Replaces kernels of float32 by those that multiply pairs of bfloat16, where the instruction set has them.
void add_pair_kernels(ContractKernels& kernels);

}  // namespace oneflow::cpu::OF_ISA

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_KERNELS_H_
