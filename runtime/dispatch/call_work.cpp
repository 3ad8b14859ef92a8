#include "dispatch/call_work.h"

#include <algorithm>
#include <utility>

#include "dispatch/dimension_map.h"
#include "dispatch/dispatch.h"

namespace oneflow {

namespace {

thread_local WorkCounter* counter = nullptr;

void add(uint64_t& sum, uint64_t bytes) {
  if (__builtin_add_overflow(sum, bytes, &sum)) fail(OF_SHAPE_ERROR, "the sizes are too large: bytes overflow uint64");
}

// Returns whether the device has a kernel for all calls in the body of a call.
bool has_whole_kernel(const Call& call) {
  const auto arguments = call.op.tensor_arguments();
  if (!call.schema().has_body || call.is_complex || arguments.empty() || !call.is_tensor(arguments[0])) return false;
  const of_dtype compute = compute_type(call.tensor(arguments[0]).dtype());
  return static_cast<bool>(call.op.kernel(match_variant(call), compute, call.device));
}

template <class Visit>
void for_each_output(const Call& call, Visit&& visit) {
  if (call.schema().gives_list) {
    for (const TensorRef& output : call.output_list) visit(*output);
  } else {
    for (int i = 0; i < call.schema().result_count; ++i) visit(*call.outputs[i]);
  }
}

}  // namespace

CallWork& CallWork::operator+=(const CallWork& other) {
  operations += other.operations;
  add(bytes_read, other.bytes_read);
  add(bytes_written, other.bytes_written);
  return *this;
}

WorkCounter::WorkCounter() : outer_(std::exchange(counter, this)) {}
WorkCounter::~WorkCounter() { counter = outer_; }

void WorkCounter::run(Call& call, void (*function)(Call&)) {
  counter ? counter->count(call, function) : function(call);
}

void WorkCounter::count_left_out(const Operator& op, const char* name, std::span<const of_value> arguments) {
  if (!counter) return;
  of_value results[kMaxResults]{};
  const std::span used(results, static_cast<size_t>(op.schema().result_count));
  call_inside(op, name, arguments, used, true);
  for (of_value& result : used) release_value(result);
}

void WorkCounter::count(Call& call, void (*function)(Call&)) {
  const Schema& schema = call.schema();
  const std::vector<Operand> operands = operands_of(call);
  const bool has_kernel = has_whole_kernel(call);
  const CallWork before = total_;
  const uint64_t calls_before = calls_++;
  function(call);
  if (schema.is_quick) return add_view(call, operands);
  const bool is_single = calls_ == calls_before + 1;
  if (is_single && schema.operations) total_.operations += schema.operations(call);
  if (!is_single && !has_kernel) return;
  total_.bytes_read = before.bytes_read;
  total_.bytes_written = before.bytes_written;
  add_memory(call, operands);
}

std::vector<WorkCounter::Operand> WorkCounter::operands_of(const Call& call) const {
  std::vector<Operand> operands;
  for_each_tensor(call, [&](int, int argument, const Tensor& tensor) {
    const bool is_written = call.schema().arguments[static_cast<size_t>(argument)].is_written;
    operands.push_back({share(tensor), bytes_of(tensor), is_written});
  });
  return operands;
}

void WorkCounter::add_view(const Call& call, const std::vector<Operand>& operands) {
  for_each_output(call, [&](const Tensor& output) {
    viewed_[&output] = operands[0].bytes;
    views_.push_back(share(output));
  });
}

void WorkCounter::add_memory(const Call& call, const std::vector<Operand>& operands) {
  uint64_t written = 0;
  for_each_output(call, [&](const Tensor& output) {
    const auto is_output = [&](const Operand& operand) { return operand.tensor.get() == &output; };
    if (std::none_of(operands.begin(), operands.end(), is_output)) add(written, bytes_of(output));
  });
  // Of an operand that indices select from, no more is read than they select.
  std::vector<bool> is_selected(operands.size(), false);
  if (!call.is_complex && !call.schema().has_body && !call.schema().gives_list) {
    DimensionMap map;
    call.schema().dimensions(const_cast<Call&>(call), call.outputs[0]->sizes(), map);
    for (const DimensionLink& link : map.links)
      if (link.relation == Relation::kIndexed) is_selected[static_cast<size_t>(link.operand)] = true;
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    add(total_.bytes_read, is_selected[i] ? std::min(operands[i].bytes, written) : operands[i].bytes);
    if (operands[i].is_written) add(written, operands[i].bytes);
  }
  add(total_.bytes_written, written);
}

uint64_t WorkCounter::bytes_of(const Tensor& tensor) const {
  const auto bytes = static_cast<uint64_t>(count_bytes(tensor.sizes(), tensor.dtype()));
  const auto found = viewed_.find(&tensor);
  return found == viewed_.end() ? bytes : std::min(bytes, found->second);
}

}  // namespace oneflow
