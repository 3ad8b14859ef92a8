#include "contract_kernels.h"

#include "element.h"
#include "isa.h"

namespace oneflow::cpu {

namespace baseline {
const ContractKernels& contract_kernels(of_dtype dtype);
}
#if defined(OF_X86_VARIANTS)
namespace avx2 {
const ContractKernels& contract_kernels(of_dtype dtype);
}
namespace avx512 {
const ContractKernels& contract_kernels(of_dtype dtype);
}
#endif

const ContractKernels& contract_kernels(of_dtype dtype) {
#if defined(OF_X86_VARIANTS)
  switch (best_isa()) {
    case Isa::avx512:
      return avx512::contract_kernels(dtype);
    case Isa::avx2:
      return avx2::contract_kernels(dtype);
    case Isa::baseline:
      break;
  }
#endif
  return baseline::contract_kernels(dtype);
}

bool computes_in_itself(of_dtype dtype) { return dtype != OF_BOOL && item_size(dtype) == contract_kernels(dtype).size; }

}  // namespace oneflow::cpu
