#include "dispatch/loaded_operators.h"

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/error.h"

namespace oneflow {

namespace {

struct Loaded {
  const Operator* op;
  std::span<const DeviceKernels> kernels;
};

// The operators that are loaded at some time. One more library makes a new object; earlier ones are kept, because other
// threads may read them.
struct LoadedOperators {
  std::vector<const Operator*> operators;
  std::unordered_map<std::string_view, Loaded> by_name;
};

std::atomic<const LoadedOperators*> current{nullptr};  // null: no library is loaded

// Returns what belongs to an operator or a gradient; null if there is none.
const Loaded* find(std::string_view name) {
  const LoadedOperators* all = current.load(std::memory_order_acquire);
  if (!all) return nullptr;
  const auto found = all->by_name.find(name);
  return found == all->by_name.end() ? nullptr : &found->second;
}

}  // namespace

void add_operators(std::span<const Schema> operators, std::span<const Schema> gradients,
                   std::span<const DeviceKernels> kernels) {
  const LoadedOperators* before = current.load(std::memory_order_acquire);
  auto next = before ? std::make_unique<LoadedOperators>(*before) : std::make_unique<LoadedOperators>();
  std::vector<std::unique_ptr<const Operator>> added;
  for (const std::span<const Schema> schemas : {operators, gradients})
    for (const Schema& schema : schemas) {
      if (find_operator(schema.name)) fail(OF_UNSUPPORTED, "there is an operator '%s' already", schema.name);
      const Operator* op = added.emplace_back(std::make_unique<const Operator>(schema)).get();
      next->by_name.emplace(schema.name, Loaded{op, kernels});
      if (schemas.data() == operators.data()) next->operators.push_back(op);
    }
  for (auto& each : added) each.release();  // operators live as long as the process
  current.store(next.release(), std::memory_order_release);
}

std::span<const Operator* const> loaded_operators() {
  const LoadedOperators* all = current.load(std::memory_order_acquire);
  return all ? std::span<const Operator* const>(all->operators) : std::span<const Operator* const>();
}

const Operator* find_loaded_operator(std::string_view name) {
  const Loaded* found = find(name);
  return found ? found->op : nullptr;
}

KernelFinder* find_loaded_kernels(const Operator& op, std::string_view device_type) {
  const Loaded* found = find(op.schema().name);
  if (!found || found->op != &op) return nullptr;
  for (const DeviceKernels& each : found->kernels)
    if (each.device_type == device_type) return each.find;
  return nullptr;
}

}  // namespace oneflow
