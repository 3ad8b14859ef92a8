// The generated tables of kernels: those of this backend, or of a library of operators, whose generated/tables.h the
// source that includes this has included before.
#ifndef ONEFLOW_DEVICES_CPU_PLUGIN_EMITTED_TABLES_H_
#define ONEFLOW_DEVICES_CPU_PLUGIN_EMITTED_TABLES_H_

#include <string_view>
#include <unordered_map>

#include "plugin/emitted.h"
#include "simd/isa.h"

namespace oneflow::cpu {

#define OF_TABLE(name) extern const KernelEntry name##_kernels[];
namespace baseline {
OF_EMITTED(OF_TABLE)
}
#if defined(OF_X86_VARIANTS)
namespace avx2 {
OF_EMITTED(OF_TABLE)
}
namespace avx512 {
OF_EMITTED(OF_TABLE)
}
#endif
#undef OF_TABLE

// The generated tables for this machine's instruction set, indexed by kernel name. The entries of one name, one per
// compute type, are adjacent in their table.
class Emitted {
 public:
  Emitted() {
#define OF_ADD(name) add(OF_PREFIX::name##_kernels);
#if defined(OF_X86_VARIANTS)
    if (best_isa() == Isa::avx512) {
#define OF_PREFIX avx512
      OF_EMITTED(OF_ADD)
#undef OF_PREFIX
      return;
    }
    if (best_isa() == Isa::avx2) {
#define OF_PREFIX avx2
      OF_EMITTED(OF_ADD)
#undef OF_PREFIX
      return;
    }
#endif
#define OF_PREFIX baseline
    OF_EMITTED(OF_ADD)
#undef OF_PREFIX
#undef OF_ADD
  }

  const KernelEntry* find(std::string_view name, of_dtype compute) const {
    const auto first = first_entries_.find(name);
    if (first == first_entries_.end()) return nullptr;
    for (const KernelEntry* entry = first->second; entry->name != nullptr && entry->name == name; ++entry) {
      if (entry->compute == compute || entry->compute == OF_DTYPE_NONE) return entry;
    }
    return nullptr;
  }

 private:
  void add(const KernelEntry* table) {
    for (; table->name != nullptr; ++table) first_entries_.emplace(table->name, table);
  }

  std::unordered_map<std::string_view, const KernelEntry*> first_entries_;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_PLUGIN_EMITTED_TABLES_H_
