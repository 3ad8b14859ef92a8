#include "../contraction_loops.h"

#include "../kernels.h"

namespace oneflow::opencl {
namespace {

using namespace grid;
#include OF_PROGRAM(contraction_loops)

}  // namespace

const ByDtype& contraction_pack_rows() {
  static const ByDtype kernels([]<class T, int S>() { return OF_KERNEL_HANDLE(T, S, contract_pack_rows).of(S); });
  return kernels;
}

const ByDtype& contraction_pack_columns() {
  static const ByDtype kernels([]<class T, int S>() { return OF_KERNEL_HANDLE(T, S, contract_pack_columns).of(S); });
  return kernels;
}

const ByDtype& contraction_panels() {
  static const ByDtype kernels([]<class T, int S>() { return OF_KERNEL_HANDLE(T, S, contract_panels).of(S); });
  return kernels;
}

const ByDtype& contraction_lines() {
  static const ByDtype kernels([]<class T, int S>() { return OF_KERNEL_HANDLE(T, S, contract_lines).of(S); });
  return kernels;
}

}  // namespace oneflow::opencl
