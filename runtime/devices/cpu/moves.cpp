#include "moves.h"

#include "isa.h"

namespace oneflow::cpu {

namespace baseline {
const Moves& find_moves(int64_t item_size);
}
#if defined(OF_X86_VARIANTS)
namespace avx2 {
const Moves& find_moves(int64_t item_size);
}
namespace avx512 {
const Moves& find_moves(int64_t item_size);
}
#endif

const Moves& moves_of(int64_t item_size) {
#if defined(OF_X86_VARIANTS)
  if (best_isa() == Isa::avx512) return avx512::find_moves(item_size);
  if (best_isa() == Isa::avx2) return avx2::find_moves(item_size);
#endif
  return baseline::find_moves(item_size);
}

}  // namespace oneflow::cpu
