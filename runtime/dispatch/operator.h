// The operators of the process: each schema with what is found out about it at run time.
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

// The handle's type. oneflow::Operator is the only class derived from it, so a handle converts with to_operator().
struct of_op_object {};

namespace oneflow {

class Operator final : public of_op_object {
 public:
  explicit Operator(const Schema& schema);

  const Schema& schema() const { return schema_; }
  const of_op_info& info() const { return info_; }
  // The arguments that hold tensors, or numbers in the place of tensors: what kernels see as inputs.
  std::span<const uint8_t> tensor_arguments() const { return {tensor_arguments_, tensor_argument_count_}; }
  // Those whose dtypes are promoted. Without any tensor, the Number arguments.
  std::span<const uint8_t> promoted_arguments() const { return {promoted_arguments_, promoted_argument_count_}; }

  // The device's kernel for one variant (see Match) and compute type, or NULL. Asks the device once.
  of_kernel kernel(int variant, of_dtype compute, of_device device) const;

  void count_fallback() const { fallbacks_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t fallbacks() const { return fallbacks_.load(std::memory_order_relaxed); }
  void reset_fallbacks() const { fallbacks_.store(0, std::memory_order_relaxed); }

 private:
  of_kernel find_kernel(int variant, of_dtype compute, of_device device, std::atomic<of_kernel>* slot) const;

  // Device types beyond this many are asked at each call.
  static constexpr int kCachedDeviceTypes = 8;

  const Schema& schema_;
  of_op_info info_{};
  std::vector<of_argument_info> argument_infos_;
  uint8_t tensor_arguments_[kMaxArguments];
  uint8_t promoted_arguments_[kMaxArguments];
  size_t tensor_argument_count_ = 0;
  size_t promoted_argument_count_ = 0;
  int slots_per_device_;
  std::unique_ptr<std::atomic<of_kernel>[]> kernels_;  // [device type][variant][compute type]
  mutable std::atomic<uint64_t> fallbacks_{0};
};

inline const Operator* to_operator(of_op handle) { return static_cast<const Operator*>(handle); }
inline of_op to_handle(const Operator* op) { return op; }

// All operators, in the order of the definitions.
const std::deque<Operator>& operators();
// The operator of that name ("max.dim"), or NULL.
const Operator* find_operator(std::string_view name);

// An operator by a name that the program is sure of, looked up once.
class OperatorName {
 public:
  constexpr explicit OperatorName(const char* name) : name_(name) {}
  const Operator& operator*() const {
    const Operator* found = found_.load(std::memory_order_acquire);
    return found ? *found : find();
  }

 private:
  const Operator& find() const;

  const char* name_;
  mutable std::atomic<const Operator*> found_{nullptr};
};

// The schemas, generated from the definitions: one family per file.
extern const std::span<const std::span<const Schema>* const> kFamilies;

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_OPERATOR_H_
