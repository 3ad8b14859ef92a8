#include "moves.h"

#include "isa.h"

namespace oneflow::cpu {

OF_EACH_ISA(const Moves& find_moves(int64_t item_size))

const Moves& moves_of(int64_t item_size) { return OF_BEST_ISA(find_moves)(item_size); }

}  // namespace oneflow::cpu
