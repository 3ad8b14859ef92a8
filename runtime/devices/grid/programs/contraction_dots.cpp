// The kernel of programs/contraction_dots.h.
#include "../contraction.h"
#include "kernels.h"  // of the backend that this is compiled for

namespace oneflow::grid {
namespace {

#include OF_PROGRAM(contraction_dots)

}  // namespace

const ByDtype& contraction_dots() {
  static const ByDtype kernels([]<class T, int S>() { return OF_KERNEL_HANDLE(T, S, contract_dots).of(S); });
  return kernels;
}

}  // namespace oneflow::grid
