#include "einsum/stage.h"

#include <algorithm>

#include "device/device.h"
#include "device/host_table.h"
#include "device/work_observer.h"
#include "dispatch/dispatch.h"
#include "dispatch/launch.h"
#include "tensor/complex.h"

namespace oneflow::einsum {

namespace {

// The role of a label in a contraction: it is in both operands and the result, in `a` and the result, in `b` and the
// result, or in both operands only.
enum Role { kBatch, kM, kN, kK };

// Appends the dimensions of a role.
void add_dims(Stage& stage, Role role) {
  const auto add = [&](const LabelledDim& dim, int64_t a, int64_t b, int64_t out) {
    stage.dims.push_back({dim.size, a, b, out});
    ++stage.counts[role];
  };
  if (role == kK) {
    for (const LabelledDim& dim : stage.layout_a)
      if (!find(stage.out, dim.label)) add(dim, dim.stride, find(stage.layout_b, dim.label)->stride, 0);
    return;
  }
  for (const LabelledDim& dim : stage.out) {
    const LabelledDim* in_a = find(stage.layout_a, dim.label);
    const LabelledDim* in_b = find(stage.layout_b, dim.label);
    if ((in_a ? in_b ? kBatch : kM : kN) != role) continue;
    add(dim, in_a ? in_a->stride : 0, in_b ? in_b->stride : 0, dim.stride);
  }
}

// Returns the arguments of the device's contract hook.
of_contraction describe(const Call& call, Device& device, const Stage& stage, const Tensor& out, const Tensor& a,
                        const Tensor& b, void** prepared) {
  of_contraction contraction{};
  contraction.struct_size = sizeof contraction;
  contraction.device = device.id();
  contraction.stream = device.stream();
  contraction.host = &host_table();
  contraction.op = call.name;
  contraction.dtype = out.dtype();
  contraction.compute = compute_type(contraction.dtype);
  contraction.batch_count = stage.counts[kBatch];
  contraction.m_count = stage.counts[kM];
  contraction.n_count = stage.counts[kN];
  contraction.k_count = stage.counts[kK];
  contraction.batch = stage.dims.data();
  contraction.m = contraction.batch + contraction.batch_count;
  contraction.n = contraction.m + contraction.m_count;
  contraction.k = contraction.n + contraction.n_count;
  contraction.alpha = 1;
  contraction.prepared = prepared;
  contraction.c = out.mutable_data();
  contraction.a = a.data();
  contraction.b = b.data();
  return contraction;
}

void multiply(const Call& call, const Stage& stage, const Tensor& out, const Tensor& a, const Tensor& b) {
  static const OperatorName mul("mul");
  TensorRef views[] = {view_as(out, stage.out, stage.out), view_as(a, stage.layout_a, stage.out),
                       view_as(b, stage.layout_b, stage.out)};
  if (find(stage.layout_a, kPart) && find(stage.layout_b, kPart))
    for (TensorRef& view : views) view = view_as_complex(*view);
  call_into(call, *views[0], mul, views[1], views[2]);
}

void contract(const Call& call, const Stage& stage, const Tensor& out, const Tensor& a, const Tensor& b) {
  Device& device = get_device(out.device());
  if (device.table().contract) {
    const Prepared::Use use(stage.prepared, device);
    const of_contraction contraction = describe(call, device, stage, out, a, b, use.slot());
    const of_status status = device.table().contract(&contraction);
    if (work_observer && status == OF_OK) [[unlikely]]
      work_observer->see_contraction(contraction);
    if (status != OF_UNSUPPORTED || device.id().type == kHost.type) return check(status);
    clear_device_error();
  }
  if (stage.counts[kK] > 0) leave_to_fallback(call, "contractions");
  multiply(call, stage, out, a, b);  // elementwise kernels can compute outer products as well
}

void sum(const Call& call, const Stage& stage, const Tensor& out, const Tensor& a) {
  static const OperatorName copy("copy"), sum("sum"), any("any");
  Layout dims = stage.out;
  Shape summed;
  for (const LabelledDim& dim : stage.layout_a) {
    if (find(stage.out, dim.label)) continue;
    summed.push_back(static_cast<int64_t>(dims.size()));
    dims.push_back(dim);
  }
  const TensorRef source = view_as(a, stage.layout_a, dims), target = view_as(out, stage.out, stage.out);
  if (summed.empty()) {
    call_into(call, *target, copy, target, source);
  } else if (target->dtype() == OF_BOOL) {
    call_into(call, *target, any, source, summed, false);
  } else {
    call_into(call, *target, sum, source, summed, false, target->dtype());
  }
}

// Returns one part of complex numbers, of their matrices or of their outer products, as a view with the dimensions
// `dims`. `summed` and `kept` are the indices along kSummedPart, if the layout has it, and along kPart.
TensorRef part(const Tensor& tensor, const Layout& layout, const Layout& dims, int64_t summed, int64_t kept) {
  const LabelledDim* row = find(layout, kSummedPart);
  const TensorRef view = view_as(tensor, layout, dims);
  const int64_t offset = (row ? summed * row->stride : 0) + kept * find(layout, kPart)->stride;
  return Tensor::view(*view, view->sizes(), view->strides(), view->offset() + offset);
}

// Writes each complex number as the matrix [[re, im], [-im, re]], whose rows are indexed by kSummedPart: the product of
// a row vector (re, im) with it is the product of the complex numbers.
void write_matrices(const Call& call, const Stage& stage, const Tensor& out, const Tensor& a) {
  static const OperatorName clone("clone"), neg("neg");
  const Layout dims = without_part(stage.layout_a);
  const auto write = [&](const OperatorName& name, int64_t row, int64_t column) {
    const TensorRef target = part(out, stage.out, dims, row, column);
    const TensorRef source = part(a, stage.layout_a, dims, 0, row ^ column);
    call_into(call, *target, name, source);
  };
  if (stage.out.back().label == kPart) {  // the first row has the layout of the number: one copy is sufficient
    call_into(call, *view_as(out, stage.out, stage.layout_a), clone, view_as(a, stage.layout_a, stage.layout_a));
  } else {
    write(clone, 0, 0);
    write(clone, 0, 1);
  }
  write(neg, 1, 0);
  write(clone, 1, 1);
}

// Combines outer products of parts: re = re re - im im, im = re im + im re.
void combine(const Call& call, const Stage& stage, const Tensor& out, const Tensor& a) {
  static const OperatorName sub("sub"), add("add");
  const Layout dims = without_part(stage.out);
  const auto write = [&](const OperatorName& name, int64_t kept) {
    const TensorRef target = part(out, stage.out, dims, 0, kept);
    const TensorRef left = part(a, stage.layout_a, dims, 0, kept);
    const TensorRef right = part(a, stage.layout_a, dims, 1, 1 - kept);
    call_into(call, *target, name, left, right);
  };
  write(sub, 0);
  write(add, 1);
}

}  // namespace

Stage make_single(Stage::Kind kind, size_t a, Layout out, Layout layout) {
  return {kind, a, a, std::move(out), std::move(layout), {}, {}, {}, {}};
}

Stage::Kind product_kind(const Layout& out, const Layout& layout_a, const Layout& layout_b, bool computes_directly) {
  const bool is_complex = find(layout_a, kPart) && find(layout_b, kPart);
  return sums(layout_a, out) || (is_outer(layout_a, layout_b) && computes_directly && !is_complex)
             ? Stage::Kind::kContract
             : Stage::Kind::kMultiply;
}

Stage make_product(Stage::Kind kind, size_t a, size_t b, Layout out, Layout layout_a, Layout layout_b) {
  Stage stage{kind, a, b, std::move(out), std::move(layout_a), std::move(layout_b), {}, {}, {}};
  if (kind == Stage::Kind::kContract)
    for (const Role role : {kBatch, kM, kN, kK}) add_dims(stage, role);
  return stage;
}

void run_stage(const Call& call, const Stage& stage, const Tensor& out, const Tensor& a, const Tensor* b) {
  switch (stage.kind) {
    case Stage::Kind::kSum:
      return sum(call, stage, out, a);
    case Stage::Kind::kMultiply:
      return multiply(call, stage, out, a, *b);
    case Stage::Kind::kContract:
      return contract(call, stage, out, a, *b);
    case Stage::Kind::kMatrices:
      return write_matrices(call, stage, out, a);
    case Stage::Kind::kCombine:
      return combine(call, stage, out, a);
  }
}

}  // namespace oneflow::einsum
