#include "simd/convert.h"

#include "simd/isa.h"

namespace oneflow::cpu {

OF_EACH_ISA(Convert conversion(of_dtype from, of_dtype to))

Convert find_conversion(of_dtype from, of_dtype to) { return OF_BEST_ISA(conversion)(from, to); }

}  // namespace oneflow::cpu
