#include "contract/kernels.h"

#include "simd/element.h"
#include "simd/isa.h"

namespace oneflow::cpu {

OF_EACH_ISA(const ContractKernels& contract_kernels(of_dtype dtype))

const ContractKernels& contract_kernels(of_dtype dtype) { return OF_BEST_ISA(contract_kernels)(dtype); }

bool computes_in_itself(of_dtype dtype) { return dtype != OF_BOOL && item_size(dtype) == contract_kernels(dtype).size; }

}  // namespace oneflow::cpu
