// The instruction sets that the vectorised sources are compiled for, once each, with OF_ISA naming the one at hand.
//
// Such a source puts everything into namespace oneflow::cpu::OF_ISA and includes no header with functions that are
// not static: the linker keeps one copy of an inline function, which may be the one with instructions that this
// machine lacks.
#ifndef ONEFLOW_DEVICES_CPU_ISA_H_
#define ONEFLOW_DEVICES_CPU_ISA_H_

namespace oneflow::cpu {

enum class Isa { baseline, avx2, avx512 };

// The best one that this machine has and that was compiled in.
inline Isa best_isa() {
#if defined(OF_X86_VARIANTS)
  static const Isa best = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd")) {
      return Isa::avx512;
    }
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Isa::avx2 : Isa::baseline;
  }();
  return best;
#else
  return Isa::baseline;
#endif
}

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ISA_H_
