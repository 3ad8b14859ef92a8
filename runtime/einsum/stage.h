// The stages of a plan: each computes a sum of one operand, or a product of two, for operands of a known layout.
#ifndef ONEFLOW_EINSUM_STAGE_H_
#define ONEFLOW_EINSUM_STAGE_H_

#include <oneflow/device_plugin.h>

#include "dispatch/call.h"
#include "einsum/layout.h"

namespace oneflow::einsum {

// Owns the state that a device may keep between calls of the same contraction.
class Prepared {
 public:
  Prepared() = default;
  Prepared(Prepared&& other) noexcept : discard_(other.discard_), kept_(std::exchange(other.kept_, nullptr)) {}
  ~Prepared() {
    if (kept_) discard_(kept_);
  }

  // Returns the address at which the device may store its state, or NULL if it keeps none. All calls must pass the
  // table of the same device.
  void** slot(const of_device_table& table) const {
    discard_ = table.discard_contraction;
    return discard_ ? &kept_ : nullptr;
  }

 private:
  mutable void (*discard_)(void*) = nullptr;
  mutable void* kept_ = nullptr;
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
