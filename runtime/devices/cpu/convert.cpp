#include "convert.h"

#include "isa.h"

namespace oneflow::cpu {

namespace baseline {
Convert conversion(of_dtype from, of_dtype to);
}
#if defined(OF_X86_VARIANTS)
namespace avx2 {
Convert conversion(of_dtype from, of_dtype to);
}
namespace avx512 {
Convert conversion(of_dtype from, of_dtype to);
}
#endif

Convert find_conversion(of_dtype from, of_dtype to) {
#if defined(OF_X86_VARIANTS)
  if (best_isa() == Isa::avx512) return avx512::conversion(from, to);
  if (best_isa() == Isa::avx2) return avx2::conversion(from, to);
#endif
  return baseline::conversion(from, to);
}

}  // namespace oneflow::cpu
