// The instruction sets that the vectorised sources are compiled for, once each, with OF_ISA naming the one at hand.
//
// Such a source puts everything into namespace oneflow::cpu::OF_ISA and includes no header with functions that are
// not static: the linker keeps one copy of an inline function, which may be the one with instructions that this
// machine lacks.
#ifndef ONEFLOW_DEVICES_CPU_ISA_H_
#define ONEFLOW_DEVICES_CPU_ISA_H_

namespace oneflow::cpu {

enum class Isa { baseline, avx2, avx512 };

// The best one that this machine has and that was compiled in; ONEFLOW_CPU_ISA=baseline or avx2 in the environment
// asks for a lesser one, to get the results of another machine or to test its code.
Isa best_isa();

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ISA_H_
