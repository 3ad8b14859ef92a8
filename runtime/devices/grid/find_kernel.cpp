#include "find_kernel.h"

#include <iterator>
#include <string_view>
#include <unordered_map>

#include "drivers.h"
#include "entries.h"
#include "generated/tables.h"  // of the backend that this is compiled for
#include "native.h"

namespace oneflow::grid {

#define OF_TABLE(name) extern const Row name##_rows[];
OF_EMITTED(OF_TABLE)
#undef OF_TABLE

namespace {

struct Native {
  std::string_view name;
  of_kernel kernel;
};
constexpr Native kNatives[] = {
    {"index", index}, {"index_put_", index_put}, {"nonzero", nonzero}, {"randperm", randperm}, {"sort", sort},
    {"topk", topk},
};

// All tables, by name. A name has a few rows, which are consecutive in their table.
class Tables {
 public:
  Tables() {
    Row* native = natives_;
#define OF_ADD(record, id)                                                                         \
  for (const Native& known : kNatives) {                                                           \
    if (known.name == record) *native++ = {record, id, static_cast<of_dtype>(kAny), known.kernel}; \
  }
    OF_NATIVE(OF_ADD)
#undef OF_ADD
    add(natives_);
#define OF_ADD(name) add(name##_rows);
    OF_EMITTED(OF_ADD)
#undef OF_ADD
  }

  of_kernel find(std::string_view name, uint64_t kernel_id, of_dtype compute) const {
    const auto rows = first_rows_.find(name);
    if (rows == first_rows_.end()) return nullptr;
    for (const Row* row = rows->second; row->name != nullptr && row->name == name; ++row) {
      if (row->kernel_id == kernel_id && (row->compute == compute || row->compute == kAny)) return row->kernel;
    }
    return nullptr;
  }

 private:
  void add(const Row* table) {
    for (; table->name != nullptr; ++table) first_rows_.emplace(table->name, table);
  }

  Row natives_[std::size(kNatives) + 1] = {};
  std::unordered_map<std::string_view, const Row*> first_rows_;
};

constexpr Drivers kDrivers = {run, run, run, run, run, run_copy};

// Stands for the table of the drivers. Never called.
of_status no_kernel(const of_kernel_context*) { return OF_INTERNAL_ERROR; }

}  // namespace

of_status find_kernel(of_device, const char* name, uint64_t kernel_id, of_dtype compute, of_kernel_entry* entry) {
  static const Tables tables;
  if (std::string_view(name) == kDriversName) {
    entry->function = no_kernel;
    entry->user = const_cast<Drivers*>(&kDrivers);
    return OF_OK;
  }
  entry->function = tables.find(name, kernel_id, compute);
  return entry->function != nullptr ? OF_OK : OF_UNSUPPORTED;
}

}  // namespace oneflow::grid
