#include "einsum/product.h"

#include <algorithm>

#include "device/device.h"
#include "device/options.h"
#include "device/plugin_loading.h"
#include "dispatch/dispatch.h"
#include "tensor/transfer.h"

namespace oneflow::einsum {

namespace {

// The dimensions of one role: all of them are dimensions of one tensor.
struct Role {
  of_contraction_dim dims[OF_MAX_RANK];
  int32_t count = 0;

  void add(const of_contraction_dim& dim) { dims[count++] = dim; }
};

struct Roles {
  Role batch, m, n, k;
};

void sort_roles(Roles& roles, const Operand& out, const Operand& a, const Operand& b) {
  for (const LabelledDim& dim : out.dims) {
    const LabelledDim* in_a = a.find(dim.label);
    const LabelledDim* in_b = b.find(dim.label);
    Role& role = !in_b ? roles.m : !in_a ? roles.n : roles.batch;
    role.add({dim.size, in_a ? in_a->stride : 0, in_b ? in_b->stride : 0, dim.stride});
  }
  for (const LabelledDim& dim : a.dims)
    if (!out.find(dim.label)) roles.k.add({dim.size, dim.stride, b.stride(dim.label), 0});
}

of_contraction describe(const Call& call, Device& device, const Roles& roles, const Operand& out, const Operand& a,
                        const Operand& b) {
  of_contraction contraction{};
  contraction.struct_size = sizeof contraction;
  contraction.device = device.id();
  contraction.stream = device.stream();
  contraction.host = &host_table();
  contraction.op = call.name;
  contraction.dtype = out.tensor->dtype();
  contraction.compute = compute_type(contraction.dtype);
  contraction.batch_count = roles.batch.count;
  contraction.m_count = roles.m.count;
  contraction.n_count = roles.n.count;
  contraction.k_count = roles.k.count;
  contraction.batch = roles.batch.dims;
  contraction.m = roles.m.dims;
  contraction.n = roles.n.dims;
  contraction.k = roles.k.dims;
  contraction.alpha = 1;
  contraction.c = out.tensor->mutable_data();
  contraction.a = a.tensor->data();
  contraction.b = b.tensor->data();
  return contraction;
}

// A contiguous copy on another device.
Operand copy_operand(const Operand& operand, of_device device) {
  return contiguous_operand(copy_to_device(*view_as(operand, operand.dims), device), operand.dims);
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
  call_into(call, *target, copy, target, copy_to_device(*result.tensor, target->device()));
}

void contract(const Call& call, const Operand& out, const Operand& a, const Operand& b) {
  Device& device = get_device(out.tensor->device());
  if (!device.table().contract) return contract_on_host(call, out, a, b);
  Roles roles;
  sort_roles(roles, out, a, b);
  const of_contraction contraction = describe(call, device, roles, out, a, b);
  const of_status status = device.table().contract(&contraction);
  if (status != OF_UNSUPPORTED || device.id().type == kHost.type) return check(status);
  forget_device_error();
  contract_on_host(call, out, a, b);
}

// Whether `a` has labels of its own that are summed: adding them up first saves doing so once for each element of `b`.
bool has_sums_of_its_own(const Operand& a, const Operand& b, const Operand& out) {
  const auto is_own = [&](const LabelledDim& dim) { return !b.find(dim.label) && !out.find(dim.label); };
  return std::any_of(a.dims.begin(), a.dims.end(), is_own);
}

Operand without_own_sums(const Call& call, const Operand& a, const Operand& b, const Operand& out) {
  Dims kept(a.dims.get_allocator());
  for (const LabelledDim& dim : a.dims)
    if (b.find(dim.label) || out.find(dim.label)) kept.push_back(dim);
  Operand sum = allocate_operand(std::move(kept), a.tensor->dtype(), a.tensor->device());
  sum_into(call, sum, a);
  return sum;
}

}  // namespace

void sum_into(const Call& call, const Operand& out, const Operand& a) {
  static const OperatorName copy("copy"), sum("sum"), any("any");
  Dims dims = out.dims;
  Shape summed;
  for (const LabelledDim& dim : a.dims) {
    if (out.find(dim.label)) continue;
    summed.push_back(static_cast<int64_t>(dims.size()));
    dims.push_back(dim);
  }
  const TensorRef source = view_as(a, dims), target = view_as(out, out.dims);
  if (summed.empty()) {
    call_into(call, *target, copy, target, source);
  } else if (target->dtype() == OF_BOOL) {
    call_into(call, *target, any, source, summed, false);
  } else {
    call_into(call, *target, sum, source, summed, false, target->dtype());
  }
}

void multiply_into(const Call& call, const Operand& out, const Operand& a, const Operand& b) {
  const bool is_elementwise = (a.labels() | b.labels()) == out.labels();
  if (is_elementwise) {
    static const OperatorName mul("mul");
    call_into(call, *view_as(out, out.dims), mul, view_as(a, out.dims), view_as(b, out.dims));
  } else if (has_sums_of_its_own(a, b, out)) {
    multiply_into(call, out, without_own_sums(call, a, b, out), b);
  } else if (has_sums_of_its_own(b, a, out)) {
    multiply_into(call, out, a, without_own_sums(call, b, a, out));
  } else {
    contract(call, out, a, b);
  }
}

}  // namespace oneflow::einsum
