// The kernels that need no packing, as the table of one instruction set takes them.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_KERNELS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_KERNELS_H_

#include "contract_kernels.h"

namespace oneflow::cpu::OF_ISA {

// For T float, double, uint32_t or uint64_t.
template <class T>
void add_direct_kernels(ContractKernels& kernels);
template <class T>
void add_dot_kernels(ContractKernels& kernels);
template <class T>
void add_strip_kernels(ContractKernels& kernels);
template <class T>
void add_line_kernels(ContractKernels& kernels);

// The kernel of that name.
template <class T>
void turn_sums(const TurnedSums& turned);

// Makes kernels of float32 those of bfloat16, where this machine has instructions for it.
void add_pair_kernels(ContractKernels& kernels);

}  // namespace oneflow::cpu::OF_ISA

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_DIRECT_KERNELS_H_
