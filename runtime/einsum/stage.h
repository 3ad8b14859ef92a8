// The stages of a plan: each computes a sum of one operand, or a product of two, for operands of a known layout.
#ifndef ONEFLOW_EINSUM_STAGE_H_
#define ONEFLOW_EINSUM_STAGE_H_

#include <oneflow/device_plugin.h>

#include "device/device.h"
#include "dispatch/call.h"
#include "einsum/layout.h"

namespace oneflow::einsum {

// Owns the state that a device may keep between calls of the same contraction. The calls of one thread use it, one at a
// time.
class Prepared {
 public:
  Prepared() = default;
  Prepared(Prepared&& other) noexcept : device_(other.device_), kept_(std::exchange(other.kept_, nullptr)) {}
  ~Prepared() {
    if (kept_ && !device_->lost()) device_->table().discard_contraction(kept_);
  }

  // The use of the state by one call, for as long as the object lives.
  class Use {
   public:
    // All calls must pass the same device.
    Use(const Prepared& prepared, Device& device)
        : prepared_(prepared), is_nested_(std::exchange(prepared.is_used_, true)) {
      prepared.device_ = &device;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { prepared_.is_used_ = is_nested_; }

    // Returns the address at which the device may store its state. NULL if it keeps none, and for a call within another
    // one: an allocation of the device may run a garbage collector, whose finalizers may compute the same contraction.
    void** slot() const {
      return prepared_.device_->table().discard_contraction && !is_nested_ ? &prepared_.kept_ : nullptr;
    }

   private:
    const Prepared& prepared_;
    const bool is_nested_;
  };

 private:
  mutable Device* device_ = nullptr;
  mutable void* kept_ = nullptr;
  mutable bool is_used_ = false;
};

// A step of a plan. Kinds with one operand have equal `a` and `b`.
struct Stage {
  enum class Kind : uint8_t {
    kSum,       // sums one operand over the labels that the result lacks; copies it if the result lacks none
    kMultiply,  // multiplies two operands elementwise
    kContract,  // computes sums of products, or outer products, by the device's contract hook
    kMatrices,  // writes each complex number of one operand as a 2 x 2 matrix
    kCombine,   // combines the outer products of parts in one operand into complex numbers
  };

  Kind kind;
  size_t a, b;  // the numbers of the operands: first the inputs, then the results of the stages
  Layout out, layout_a, layout_b;
  // kContract: the dimensions of batch, m, n and k in this order, and the number of each.
  std::vector<of_contraction_dim> dims;
  int32_t counts[4];
  Prepared prepared;
};

// Returns a stage with one operand. For kSum, `layout` must have every label of `out`. For kMatrices, `out` must have
// the labels of `layout` and kSummedPart; for kCombine, `layout` those of `out` and kSummedPart.
Stage make_single(Stage::Kind kind, size_t a, Layout out, Layout layout);

// Returns the kind of a product of two operands: kContract if labels are summed over, or for an outer product, whose
// operands elementwise kernels would expand first. `computes_directly`: whether the contraction computes in the dtype
// of the operands; otherwise it would convert them, and outer products are elementwise.
Stage::Kind product_kind(const Layout& out, const Layout& layout_a, const Layout& layout_b, bool computes_directly);

// Returns a stage with two operands. Each label of `out` must be in one of them, each other label in both.
Stage make_product(Stage::Kind kind, size_t a, size_t b, Layout out, Layout layout_a, Layout layout_b);

// Runs a stage, which writes to `out`. All tensors have the same real dtype. `b` is NULL for a stage with one operand.
void run_stage(const Call& call, const Stage& stage, const Tensor& out, const Tensor& a, const Tensor* b);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_STAGE_H_
