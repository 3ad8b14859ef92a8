// Small contractions of an element type that the kernels do not compute in, such as float16 or int8: converts A and B
// to the compute type, multiplies them in place, and converts C back. The kernels for unpacked operands, which are the
// fastest for small problems such as ik,kj->ij with 64 x 64 matrices, read the compute type only.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_CONVERTED_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_CONVERTED_H_

#include "contract/strategy.h"

namespace oneflow::cpu {

// Takes no problem that is large, has an epilogue or operands with gaps, or whose dtype the kernels compute in. The
// cost is that without the conversions.
void offer_converted(const Work& work, Chooser& chooser);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_REWRITE_CONVERTED_H_
