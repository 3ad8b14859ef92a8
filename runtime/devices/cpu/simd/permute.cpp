#include "simd/permute.h"

#include "simd/isa.h"

namespace oneflow::cpu {

OF_EACH_ISA(const PermuteLoops& find_permute_loops(int64_t item_size))

const PermuteLoops& permute_loops(int64_t item_size) { return OF_BEST_ISA(find_permute_loops)(item_size); }

}  // namespace oneflow::cpu
