#include "einsum/product.h"

#include <algorithm>

#include "device/device.h"
#include "device/options.h"
#include "dispatch/dispatch.h"
#include "tensor/transfer.h"

namespace oneflow::einsum {

namespace {

constexpr of_device kHost{0, 0};  // the first device type is the CPU

// The dimensions of a product by their role.
struct Roles {
  std::vector<of_contraction_dim> batch, m, n, k;
};

Roles sort_roles(const Operand& out, const Operand& a, const Operand& b) {
  Roles roles;
  const auto add = [&](std::vector<of_contraction_dim>& role, const LabelledDim& dim) {
    role.push_back({dim.size, a.stride(dim.label), b.stride(dim.label), out.stride(dim.label)});
  };
  for (const LabelledDim& dim : out.dims)
    add(!b.find(dim.label) ? roles.m : !a.find(dim.label) ? roles.n : roles.batch, dim);
  for (const LabelledDim& dim : a.dims)
    if (!out.find(dim.label)) add(roles.k, dim);
  for (const LabelledDim& dim : b.dims)
    if (!out.find(dim.label) && !a.find(dim.label)) add(roles.k, dim);
  return roles;
}

of_contraction describe(const Roles& roles, const Operand& out, const Operand& a, const Operand& b) {
  of_contraction contraction{};
  contraction.struct_size = sizeof contraction;
  contraction.dtype = out.tensor->dtype();
  contraction.compute = compute_type(contraction.dtype);
  contraction.batch_count = static_cast<int32_t>(roles.batch.size());
  contraction.m_count = static_cast<int32_t>(roles.m.size());
  contraction.n_count = static_cast<int32_t>(roles.n.size());
  contraction.k_count = static_cast<int32_t>(roles.k.size());
  contraction.batch = roles.batch.data();
  contraction.m = roles.m.data();
  contraction.n = roles.n.data();
  contraction.k = roles.k.data();
  contraction.alpha = 1;
  contraction.c = out.tensor->mutable_data();
  contraction.a = a.tensor->data();
  contraction.b = b.tensor->data();
  return contraction;
}

// A contiguous copy on another device.
Operand copy_operand(const Operand& operand, of_device device) {
  Operand copy = allocate_operand(operand.dims, operand.tensor->dtype(), device);
  copy.tensor = copy_to_device(*view_as(operand, operand.dims), device);
  return copy;
}

void contract(const Call& call, const Operand& out, const Operand& a, const Operand& b);

// For devices without contractions: on the CPU, through copies.
void contract_on_host(const Call& call, const Operand& out, const Operand& a, const Operand& b) {
  if (fallback_is_error()) fail(OF_UNSUPPORTED, "%s has no contractions", device_name(out.tensor->device()).c_str());
  call.op.count_fallback();
  const Operand result = allocate_operand(out.dims, out.tensor->dtype(), kHost);
  contract(call, result, copy_operand(a, kHost), copy_operand(b, kHost));
  const TensorRef target = view_as(out, out.dims);
  static const OperatorName copy("copy");
  call_into(*target, copy, target, copy_to_device(*result.tensor, target->device()));
}

void contract(const Call& call, const Operand& out, const Operand& a, const Operand& b) {
  Device& device = get_device(out.tensor->device());
  if (!device.table().contract) return contract_on_host(call, out, a, b);
  const Roles roles = sort_roles(out, a, b);
  const of_contraction contraction = describe(roles, out, a, b);
  check(device.table().contract(device.index(), &contraction, device.stream()));
}

// Labels that only `a` has and that are summed: adding them up first saves doing so once for each element that only `b`
// has. Truths are left to the product, which knows what their sum is.
Operand without_lone_labels(const Operand& a, const Operand& b, const Operand& out) {
  const auto is_lone = [&](const LabelledDim& dim) { return !b.find(dim.label) && !out.find(dim.label); };
  const bool has_lone = std::any_of(a.dims.begin(), a.dims.end(), is_lone);
  const bool is_repeated =
      std::any_of(b.dims.begin(), b.dims.end(), [&](const LabelledDim& dim) { return !a.find(dim.label); });
  if (!has_lone || !is_repeated || a.tensor->dtype() == OF_BOOL) return a;
  std::vector<LabelledDim> kept;
  for (const LabelledDim& dim : a.dims)
    if (!is_lone(dim)) kept.push_back(dim);
  Operand sum = allocate_operand(kept, a.tensor->dtype(), a.tensor->device());
  sum_into(sum, a);
  return sum;
}

}  // namespace

void sum_into(const Operand& out, const Operand& a) {
  static const OperatorName copy("copy"), sum("sum"), any("any");
  std::vector<LabelledDim> dims = out.dims;
  Shape summed;
  for (const LabelledDim& dim : a.dims) {
    if (out.find(dim.label)) continue;
    summed.push_back(static_cast<int64_t>(dims.size()));
    dims.push_back(dim);
  }
  const TensorRef source = view_as(a, dims), target = view_as(out, out.dims);
  if (summed.empty()) {
    call_into(*target, copy, target, source);
  } else if (target->dtype() == OF_BOOL) {
    call_into(*target, any, source, summed, false);
  } else {
    call_into(*target, sum, source, summed, false, target->dtype());
  }
}

void multiply_into(const Call& call, const Operand& out, const Operand& a, const Operand& b) {
  const bool is_elementwise = (a.labels() | b.labels()) == out.labels();
  if (is_elementwise) {
    static const OperatorName mul("mul");
    call_into(*view_as(out, out.dims), mul, view_as(a, out.dims), view_as(b, out.dims));
  } else {
    contract(call, out, without_lone_labels(a, b, out), without_lone_labels(b, a, out));
  }
}

}  // namespace oneflow::einsum
