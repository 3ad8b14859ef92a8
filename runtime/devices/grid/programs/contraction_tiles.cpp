// The kernel of programs/contraction_tiles.h.
#include "../contraction.h"
#include "kernels.h"  // of the backend that this is compiled for

namespace oneflow::grid {
namespace {

#include OF_PROGRAM(contraction_tiles)

}  // namespace

const ByDtype& contraction_tiles() {
  static const ByDtype kernels([]<class T, int S>() { return OF_KERNEL_HANDLE(T, S, contract_tiles).of(S); });
  return kernels;
}

}  // namespace oneflow::grid
