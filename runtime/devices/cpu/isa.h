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

// OF_EACH_ISA(declaration) declares what each such source defines, in the namespace of each that was compiled in;
// OF_BEST_ISA(name) is a call to that of best_isa(), as in OF_BEST_ISA(find_moves)(item_size).
#if defined(OF_X86_VARIANTS)
#define OF_EACH_ISA(declaration) \
  namespace baseline {           \
  declaration;                   \
  }                              \
  namespace avx2 {               \
  declaration;                   \
  }                              \
  namespace avx512 {             \
  declaration;                   \
  }
#define OF_BEST_ISA(name) \
  (best_isa() == Isa::avx512 ? avx512::name : best_isa() == Isa::avx2 ? avx2::name : baseline::name)
#else
#define OF_EACH_ISA(declaration) \
  namespace baseline {           \
  declaration;                   \
  }
#define OF_BEST_ISA(name) baseline::name
#endif

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ISA_H_
