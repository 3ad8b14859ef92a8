#include "dispatch/operator.h"

#include <deque>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "device/device.h"
#include "dispatch/loaded_operators.h"

namespace oneflow {

namespace {

// Marks a kernel in the cache that the device does not have. Never called.
of_status missing_kernel(const of_kernel_context*) { return OF_INTERNAL_ERROR; }

constexpr int kComputeTypes = 7;

// Returns the index of a compute type in the cache.
int compute_position(of_dtype compute) {
  switch (compute) {
    case OF_FLOAT32:
      return 0;
    case OF_FLOAT64:
      return 1;
    case OF_INT32:
      return 2;
    case OF_INT64:
      return 3;
    case OF_COMPLEX64:
      return 4;
    case OF_COMPLEX128:
      return 5;
    default:
      return 6;  // bool
  }
}

struct Registry {
  std::deque<Operator> operators, gradients;  // a deque does not move its elements when it grows
  std::unordered_map<std::string_view, const Operator*> by_name;
  std::unordered_multimap<std::string_view, StoredOperator> by_former_name;

  Registry() {
    add(kFamilies, operators);
    add(kGradientFamilies, gradients);
  }
  void add(std::span<const std::span<const Schema>* const> families, std::deque<Operator>& to) {
    for (const std::span<const Schema>* family : families)
      for (const Schema& schema : *family) {
        const Operator& op = to.emplace_back(schema);
        by_name.emplace(schema.name, &op);
        for (const FormerSignature& former : schema.formerly)
          by_former_name.emplace(former.name, StoredOperator{&op, &former});
      }
  }
};

// Returns the registry. It is never destroyed, because other threads may still call operators while the process exits.
const Registry& registry() {
  static const Registry& registry = *new Registry;
  return registry;
}
// Created when the library is loaded: a child that is forked during the creation would wait for it for ever.
[[maybe_unused]] const Registry& created_registry = registry();

}  // namespace

Operator::Operator(const Schema& schema) : schema_(schema) {
  bool has_tensors = false;
  argument_infos_.reserve(schema.arguments.size());
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const Argument& argument = schema.arguments[i];
    argument_infos_.push_back({argument.name, argument.type_text, argument.default_text, argument.is_keyword_only});
    writes_arguments_ |= argument.is_written;
    if (!argument.is_tensor()) continue;
    has_tensors = true;
    tensor_arguments_[tensor_argument_count_++] = static_cast<uint8_t>(i);
    // Masks and indices select elements; their dtypes do not affect the result.
    if (argument.accepts != DTypeSet::kBool && argument.accepts != DTypeSet::kIndex)
      promoted_arguments_[promoted_argument_count_++] = static_cast<uint8_t>(i);
  }
  for (size_t i = 0; i < schema.arguments.size() && !has_tensors; ++i) {
    if (schema.arguments[i].type == ArgumentType::kNumber)
      promoted_arguments_[promoted_argument_count_++] = static_cast<uint8_t>(i);
  }

  const size_t variants = schema.match.values.empty() ? 1 : schema.match.values.size();
  slots_per_device_ = static_cast<int>(variants) * kComputeTypes;

  info_.struct_size = sizeof(info_);
  info_.argument_count = static_cast<int32_t>(schema.arguments.size());
  info_.result_count = schema.result_count;
  info_.name = schema.name;
  info_.signature = schema.signature;
  info_.result_aliases = schema.result_aliases;
  info_.kind = schema.kind;
  info_.summary = schema.summary;
  info_.arguments = argument_infos_.data();
  info_.signature_id = schema.signature_id;
  info_.kernel_id = schema.kernel_id;
}

Kernel Operator::kernel(int variant, of_dtype compute, of_device device) const {
  Slot* slots = device.type < kCachedDeviceTypes ? kernels_[device.type].load(std::memory_order_acquire) : nullptr;
  if (!slots) [[unlikely]]
    return find_kernel(variant, compute, device);
  const Slot& slot = slots[device.index * slots_per_device_ + variant * kComputeTypes + compute_position(compute)];
  const of_kernel known = slot.function.load(std::memory_order_acquire);
  if (!known) [[unlikely]]
    return find_kernel(variant, compute, device);
  return {known == missing_kernel ? nullptr : known, slot.user.load(std::memory_order_relaxed)};
}

Operator::Slot* Operator::slots_of(of_device device) const {
  if (device.type >= kCachedDeviceTypes) return nullptr;
  std::atomic<Slot*>& place = kernels_[device.type];
  if (Slot* known = place.load(std::memory_order_acquire)) return known;
  auto created = std::make_unique<Slot[]>(device_count(device.type) * static_cast<size_t>(slots_per_device_));
  Slot* known = nullptr;
  if (place.compare_exchange_strong(known, created.get(), std::memory_order_acq_rel)) return created.release();
  return known;
}

Kernel Operator::find_kernel(int variant, of_dtype compute, of_device device) const {
  const of_device_table& table = get_device(device).table();
  std::string name = schema_.name;
  if (schema_.match.argument >= 0) name.append(":").append(schema_.match.values[variant]);
  of_kernel_entry entry{sizeof(entry), nullptr, nullptr};
  KernelFinder* const loaded = find_loaded_kernels(*this, table.name);
  const of_status status = loaded ? loaded(table, device, name.c_str(), schema_.kernel_id, compute, &entry)
                           : table.find_kernel
                               ? table.find_kernel(device, name.c_str(), schema_.kernel_id, compute, &entry)
                               : OF_UNSUPPORTED;
  if (status == OF_UNSUPPORTED)
    clear_device_error();
  else
    check(status);
  const Kernel found = status == OF_OK ? Kernel{entry.function, entry.user} : Kernel{};
  if (Slot* slots = slots_of(device)) {
    Slot& slot = slots[device.index * slots_per_device_ + variant * kComputeTypes + compute_position(compute)];
    slot.user.store(found.user, std::memory_order_relaxed);
    slot.function.store(found ? found.function : missing_kernel, std::memory_order_release);
  }
  return found;
}

const std::deque<Operator>& operators() { return registry().operators; }

const Operator* find_operator(std::string_view name) {
  const auto& by_name = registry().by_name;
  const auto found = by_name.find(name);
  return found == by_name.end() ? find_loaded_operator(name) : found->second;
}

StoredOperator find_stored(std::string_view name, std::string_view signature) {
  const Operator* present = find_operator(name);
  if (present && signature == present->schema().signature) return {present, nullptr};
  const auto [first, last] = registry().by_former_name.equal_range(name);
  for (auto each = first; each != last; ++each)
    if (signature == each->second.former->signature) return each->second;
  return {};
}

const Operator& OperatorName::find() const {
  const Operator* found = find_operator(name_);
  if (!found) fail(OF_UNSUPPORTED, "this library was built without the operator '%s'", name_);
  found_.store(found, std::memory_order_release);
  return *found;
}

}  // namespace oneflow
