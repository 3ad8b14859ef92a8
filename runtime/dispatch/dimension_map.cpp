#include "dispatch/dimension_map.h"

#include <algorithm>
#include <map>

#include "dispatch/arguments.h"
#include "dispatch/dispatch.h"

namespace oneflow {

namespace {

using Links = std::vector<DimensionLink>;

// Returns the links from the dimensions that `outer` starts at to those that `inner` ends at.
DimensionLink compose(const DimensionLink& outer, const DimensionLink& inner) {
  return {.operand = outer.operand,
          .dim = outer.dim,
          .result_dim = inner.result_dim,
          .relation = std::max(outer.relation, inner.relation),
          .factor = outer.factor * inner.factor,
          .begin = outer.begin + outer.factor * inner.begin};
}

// The links from the operands of an operator to the tensors that its body makes.
class Trace {
 public:
  explicit Trace(const Call& call) : outer_(active) {
    for_each_tensor(call, [&](int operand, int, const Tensor& tensor) {
      Links& links = links_[&tensor];
      for (int d = 0; d < tensor.rank(); ++d) links.push_back({operand, d, d, Relation::kSame});
    });
    active = this;
  }
  ~Trace() { active = outer_; }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  void note(const Operator& op, std::span<const of_value> arguments, std::span<const of_value> results) {
    const DimensionMap inner = dimension_map(op, arguments);
    std::vector<const Tensor*> operands;
    for_each_tensor(arguments, [&](int, int, const Tensor& tensor) { operands.push_back(&tensor); });
    DimensionMap found;
    for (const Tensor* operand : operands)
      for (const DimensionLink& link : links_[operand])
        if (link.result_dim < 0) found.add(link);
    for (const DimensionLink& link : inner.links)
      for (const DimensionLink& before : links_[operands[static_cast<size_t>(link.operand)]])
        if (before.result_dim == link.dim) found.add(compose(before, link));
    for_each_tensor(results, [&](int, int, const Tensor& tensor) {
      made_.push_back(share(tensor));  // so that no later tensor has its address
      links_[&tensor] = found.links;
    });
  }

  const Links& links(const Tensor& tensor) { return links_[&tensor]; }

  static thread_local Trace* active;

 private:
  Trace* const outer_;
  std::map<const Tensor*, Links> links_;
  std::vector<TensorRef> made_;
};

thread_local Trace* Trace::active = nullptr;

// The results of an inference, which is not traced itself.
class InferredResults {
 public:
  InferredResults(const Operator& op, std::span<const of_value> arguments)
      : outer_(std::exchange(Trace::active, nullptr)) {
    try {
      infer(op, arguments, {values_, static_cast<size_t>(op.schema().result_count)});
    } catch (...) {
      Trace::active = outer_;
      throw;
    }
  }
  ~InferredResults() {
    for (of_value& each : values_) release_value(each);
    Trace::active = outer_;
  }
  InferredResults(const InferredResults&) = delete;
  InferredResults& operator=(const InferredResults&) = delete;

  // Returns the first result, or the first tensor of a list; null for an empty list.
  const Tensor* first() const {
    const of_value& value = values_[0];
    if (value.kind != OF_VALUE_TENSOR_LIST) return to_tensor(value.as.tensor);
    return value.count > 0 ? to_tensor(value.as.tensors[0]) : nullptr;
  }

 private:
  Trace* const outer_;
  of_value values_[kMaxResults]{};
};

}  // namespace

void DimensionMap::add(const DimensionLink& link) {
  for (DimensionLink& each : links) {
    if (each.operand != link.operand || each.dim != link.dim || each.result_dim != link.result_dim) continue;
    if (each.relation < link.relation) each = link;
    return;
  }
  links.push_back(link);
}

DimensionMap dimension_map(const Operator& op, std::span<const of_value> arguments) {
  const InferredResults results(op, arguments);
  Call call(op, op.schema().function_name, {}, true, nullptr);
  check_arguments(call, arguments);
  DimensionMap map;
  if (const Tensor* first = results.first()) op.schema().dimensions(call, first->sizes(), map);
  return map;
}

void add_broadcast(int operand, const Tensor& tensor, const Shape& result, DimensionMap& map) {
  for (int d = 0; d < tensor.rank(); ++d) {
    const int aligned = result.rank() - tensor.rank() + d;
    const bool is_same = tensor.size(d) == result[aligned];
    map.add({operand, d, aligned, is_same ? Relation::kSame : Relation::kBroadcast});
  }
}

void trace_dimensions(Call& call, void (*run)(Call&), DimensionMap& map) {
  Trace trace(call);
  run(call);
  const Tensor& result = call.schema().gives_list ? *call.output_list[0] : *call.outputs[0];
  for (const DimensionLink& link : trace.links(result)) map.add(link);
}

void note_inner_call(const Operator& op, std::span<const of_value> arguments, std::span<const of_value> results) {
  if (Trace::active) Trace::active->note(op, arguments, results);
}

}  // namespace oneflow
