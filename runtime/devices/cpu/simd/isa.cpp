#include "simd/isa.h"

#include <cstdlib>
#include <string_view>

namespace oneflow::cpu {
namespace {

Isa machine_isa() {
#if defined(OF_X86_VARIANTS)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd")) {
    return Isa::avx512;
  }
  // Every machine with AVX2 and FMA also supports F16C, BMI1 and BMI2, which -march=haswell enables, too.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::avx2;
#endif
  return Isa::baseline;
}

Isa choose_isa() {
  const Isa machine = machine_isa();
  const char* wanted = std::getenv("ONEFLOW_CPU_ISA");
  if (wanted == nullptr) return machine;
  if (wanted == std::string_view("baseline")) return Isa::baseline;
  return wanted == std::string_view("avx2") && machine == Isa::avx512 ? Isa::avx2 : machine;
}

}  // namespace

Isa best_isa() {
  static const Isa best = choose_isa();
  return best;
}

}  // namespace oneflow::cpu
