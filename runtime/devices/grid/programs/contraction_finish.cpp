// The kernel of programs/contraction_finish.h.
#include "../contraction.h"
#include "kernels.h"  // of the backend that this is compiled for

namespace oneflow::grid {
namespace {

#include OF_PROGRAM(contraction_finish)

}  // namespace

const ByDtype& contraction_finish() {
  static const ByDtype kernels([]<class T, int S>() { return OF_KERNEL_HANDLE(T, S, contract_finish).of(S); });
  return kernels;
}

}  // namespace oneflow::grid
