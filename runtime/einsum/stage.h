// One stage of a plan: the sum over one operand, or of the products of two, worked out for operands of known layout.
#ifndef ONEFLOW_EINSUM_STAGE_H_
#define ONEFLOW_EINSUM_STAGE_H_

#include <oneflow/device_plugin.h>

#include "dispatch/call.h"
#include "einsum/layout.h"

namespace oneflow::einsum {

// What a device keeps between the calls of one contraction.
class Prepared {
 public:
  Prepared() = default;
  Prepared(Prepared&& other) noexcept : discard_(other.discard_), kept_(std::exchange(other.kept_, nullptr)) {}
  ~Prepared() {
    if (kept_) discard_(kept_);
  }

  // The place that the device, always the same one, may leave it at; NULL where it would not.
  void** place(const of_device_table& table) const {
    discard_ = table.discard_contraction;
    return discard_ ? &kept_ : nullptr;
  }

 private:
  mutable void (*discard_)(void*) = nullptr;
  mutable void* kept_ = nullptr;
};

struct Stage {
  enum class Kind : uint8_t {
    kSum,       // of one operand, over the labels that the result lacks; a copy where it lacks none
    kMultiply,  // two operands, element by element: nothing is summed
    kContract,  // sums of products, or products of all with all, by the device's contract hook
    kMatrices,  // of one operand: each complex number as the matrix of its real products
    kCombine,   // of one operand: sums of products of each part with each as complex numbers
  };

  Kind kind;
  size_t a, b;  // the operands' numbers; the stages' results are numbered on behind the inputs
  Layout out, layout_a, layout_b;
  // kContract: the dimensions of batch, m, n and k, one after the other, and how many of each there are.
  std::vector<of_contraction_dim> dims;
  int32_t counts[4];
  Prepared prepared;
};

// A stage of one operand. kSum: every label of `out` is in `layout`; kMatrices: `out` has the labels of `layout` and
// kSummedPart; kCombine: the other way round.
Stage make_single(Stage::Kind kind, size_t a, Layout out, Layout layout);

// How two operands are multiplied: by a contraction where labels are summed over, or where each operand is stretched
// along labels of the other, which elementwise kernels write out first. `computes_in_own`: whether products of the
// dtype are computed in it; contractions convert the others.
Stage::Kind product_kind(const Layout& out, const Layout& layout_a, const Layout& layout_b, bool computes_in_own);

// Every label of `out` is in one of the operands, every other one in both.
Stage make_product(Stage::Kind kind, size_t a, size_t b, Layout out, Layout layout_a, Layout layout_b);

// Writes to `out`; all have one real dtype. Stages of one operand have no `b`.
void run_stage(const Call& call, const Stage& stage, const Tensor& out, const Tensor& a, const Tensor* b);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_STAGE_H_
