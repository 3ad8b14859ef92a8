// The choice among the instruction sets that vectorised sources are compiled for.
//
// A source named *_vectorised.cpp, or generated, is compiled once per instruction set, with OF_ISA defined as its name.
// Such a source puts everything into namespace oneflow::cpu::OF_ISA, and includes no header with functions that are not
// static: the linker keeps one copy of an inline function, possibly one with instructions that this machine lacks.
#ifndef ONEFLOW_DEVICES_CPU_SIMD_ISA_H_
#define ONEFLOW_DEVICES_CPU_SIMD_ISA_H_

namespace oneflow::cpu {

enum class Isa { baseline, avx2, avx512 };

// Returns the best compiled instruction set that this machine supports. The environment variable ONEFLOW_CPU_ISA, if it
// is `baseline` or `avx2`, selects a lesser one, to reproduce the results of another machine or to test its code.
Isa best_isa();

// OF_EACH_ISA(declaration) declares a function of such a source in the namespace of each compiled instruction set.
// OF_BEST_ISA(name) is the function of best_isa(), as in OF_BEST_ISA(find_permute_loops)(item_size).
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

#endif  // ONEFLOW_DEVICES_CPU_SIMD_ISA_H_
