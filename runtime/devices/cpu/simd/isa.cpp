#include "simd/isa.h"

#include <cstdlib>
#include <string_view>

#include "plugin/environment.h"

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
  const char* value = std::getenv("ONEFLOW_CPU_ISA");
  const std::string_view wanted(value == nullptr ? "" : value);
  if (wanted == "baseline") return Isa::baseline;
  if (wanted == "avx2") return machine == Isa::avx512 ? Isa::avx2 : machine;
  if (!wanted.empty()) report_ignored("ONEFLOW_CPU_ISA", "baseline or avx2", wanted);
  return machine;
}

}  // namespace

Isa best_isa() {
  static const Isa best = choose_isa();
  return best;
}

}  // namespace oneflow::cpu
