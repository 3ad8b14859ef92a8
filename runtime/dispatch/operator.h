// The operators of the process: their schemas, and the state that belongs to them at run time.
#ifndef ONEFLOW_DISPATCH_OPERATOR_H_
#define ONEFLOW_DISPATCH_OPERATOR_H_

#include <oneflow/device_plugin.h>
#include <oneflow/oneflow.h>

#include <atomic>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "dispatch/schema.h"

// The type that an of_op points to. oneflow::Operator is the only derived class, so to_operator() converts a handle.
struct of_op_object {};

namespace oneflow {

// A kernel of a device, with the user pointer for its context; false if there is none.
struct Kernel {
  of_kernel function = nullptr;
  void* user = nullptr;
  explicit operator bool() const { return function != nullptr; }
};

// An operator: its schema, its kernels on each device, and the number of its fallbacks. Thread-safe.
class Operator final : public of_op_object {
 public:
  explicit Operator(const Schema& schema);

  const Schema& schema() const { return schema_; }
  const of_op_info& info() const { return info_; }
  // Returns the positions of the arguments that are tensors, or numbers in place of tensors. They are the inputs of
  // kernels.
  std::span<const uint8_t> tensor_arguments() const { return {tensor_arguments_, tensor_argument_count_}; }
  // Returns the positions of the arguments whose dtypes are promoted: tensors other than masks and indices; for
  // operators without tensor arguments, those of type Number.
  std::span<const uint8_t> promoted_arguments() const { return {promoted_arguments_, promoted_argument_count_}; }
  // Returns whether the operator writes to arguments: "Tensor(a!)".
  bool writes_arguments() const { return writes_arguments_; }

  // Returns the device's kernel for a variant (see Match) and a compute type; null if there is none. The result of the
  // device's find_kernel hook is cached. Throws the hook's error.
  Kernel kernel(int variant, of_dtype compute, of_device device) const;

  // Counts a call that ran on the host because its device has no kernel.
  void count_fallback() const { fallbacks_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t fallbacks() const { return fallbacks_.load(std::memory_order_relaxed); }
  void reset_fallbacks() const { fallbacks_.store(0, std::memory_order_relaxed); }

 private:
  // The cached answer of a device. The user pointer is stored before the function.
  struct Slot {
    std::atomic<of_kernel> function{nullptr};
    std::atomic<void*> user{nullptr};
  };
  Kernel find_kernel(int variant, of_dtype compute, of_device device) const;
  // Returns the slots of all devices of a type, which the first call creates.
  Slot* slots_of(of_device device) const;

  // For device types with a number of at least kCachedDeviceTypes, find_kernel is called at each call.
  static constexpr int kCachedDeviceTypes = 8;

  const Schema& schema_;
  of_op_info info_{};
  std::vector<of_argument_info> argument_infos_;
  uint8_t tensor_arguments_[kMaxArguments];
  uint8_t promoted_arguments_[kMaxArguments];
  size_t tensor_argument_count_ = 0;
  size_t promoted_argument_count_ = 0;
  bool writes_arguments_ = false;
  int slots_per_device_;
  mutable std::atomic<Slot*> kernels_[kCachedDeviceTypes] = {};  // [device type], each [device][variant][compute type]
  mutable std::atomic<uint64_t> fallbacks_{0};
};

inline const Operator* to_operator(of_op handle) { return static_cast<const Operator*>(handle); }
inline of_op to_handle(const Operator* op) { return op; }

// Returns all operators of records, in the order of the definitions.
const std::deque<Operator>& operators();
// Returns the operator with a name such as "max.dim", or the gradient with a name such as "sin.gradient_input"; null if
// there is none.
const Operator* find_operator(std::string_view name);

// The operator of a stored call, and the signature of an earlier version that the call has; null for the present one.
struct StoredOperator {
  const Operator* op = nullptr;
  const FormerSignature* former = nullptr;
};
// Returns the operator to which a file refers by a name and a signature; null if there is none.
StoredOperator find_stored(std::string_view name, std::string_view signature);

// The name of an operator of a record. It is looked up at its first use.
class OperatorName {
 public:
  constexpr explicit OperatorName(const char* name) : name_(name) {}
  // Returns the operator. Throws Unsupported if the library was built without it: see docs/deploy.md.
  const Operator& operator*() const {
    const Operator* found = found_.load(std::memory_order_acquire);
    return found ? *found : find();
  }

 private:
  const Operator& find() const;

  const char* name_;
  mutable std::atomic<const Operator*> found_{nullptr};
};

// The generated schemas. A family is a file of operator definitions.
extern const std::span<const std::span<const Schema>* const> kFamilies;
// The generated schemas of the gradients of these operators.
extern const std::span<const std::span<const Schema>* const> kGradientFamilies;

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_OPERATOR_H_
