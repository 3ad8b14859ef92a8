#include "dispatch/dispatch.h"

#include <algorithm>
#include <string>

#include "device/device.h"
#include "dispatch/arguments.h"
#include "dispatch/call_work.h"
#include "dispatch/dimension_map.h"
#include "dispatch/layers.h"
#include "tensor/overlap.h"

namespace oneflow {

namespace {

// Returns whether a value is a list of tensors without null items.
bool is_list_to_write(const of_value& value) {
  if (value.kind != OF_VALUE_TENSOR_LIST || value.count < 0 || (value.count > 0 && !value.as.tensors)) return false;
  return std::all_of(value.as.tensors, value.as.tensors + value.count, [](of_tensor each) { return each; });
}

// Checks that the results that are not absent are tensors to write to.
void check_kinds_of_given(Call& call) {
  for (const of_value& result : call.results) {
    if (result.kind == OF_VALUE_ABSENT) continue;
    if (call.schema().gives_list) {
      if (!is_list_to_write(result))
        fail(OF_TYPE_MISMATCH, "the result must be absent or a list of tensors to write to");
    } else if (result.kind != OF_VALUE_TENSOR || !result.as.tensor) {
      fail(OF_TYPE_MISMATCH, "a result must be absent or a tensor to write to");
    }
  }
  for_each_given(call.results, [&](const Tensor& given) { call.carried_layers |= given.carried_layers(); });
}

void check_results(Call& call) {
  const Schema& schema = call.schema();
  if (call.results.size() != static_cast<size_t>(schema.result_count)) [[unlikely]]
    fail(OF_INVALID_ARGUMENT, "has %d result%s, got room for %zu", schema.result_count,
         schema.result_count == 1 ? "" : "s", call.results.size());
  for (const of_value& result : call.results) call.writes_given |= result.kind != OF_VALUE_ABSENT;
  if (call.writes_given) [[unlikely]]
    check_kinds_of_given(call);
}

void check_disjoint(const Tensor& given, const Tensor& other) {
  if (given.device() == other.device() && overlap(given, other) != Overlap::kNone)
    fail(OF_INVALID_ARGUMENT, "the tensors to write to must not share memory");
}

// Checks that the caller's tensors for results are on the device of the call, and do not overlap each other.
void check_given_results(const Call& call) {
  for (size_t i = 0; i < call.results.size(); ++i) {
    if (call.results[i].kind != OF_VALUE_TENSOR) continue;
    const Tensor& given = *to_tensor(call.results[i].as.tensor);
    if (!(given.device() == call.device))
      fail(OF_DEVICE_ERROR, "the tensor to write to must be on %s, got one on %s", device_name(call.device).c_str(),
           device_name(given.device()).c_str());
    for (size_t k = 0; k < i; ++k) {
      const of_value& other = call.results[k];
      if (other.kind == OF_VALUE_TENSOR) check_disjoint(given, *to_tensor(other.as.tensor));
    }
  }
  const auto list = destination_list(call);
  for (size_t i = 0; i < list.size(); ++i)
    for (size_t k = 0; k < i; ++k) check_disjoint(*to_tensor(list[i]), *to_tensor(list[k]));
}

// Checks the arguments, and runs the call or passes it to the layers that want it.
void invoke(const Operator& op, const char* name, std::span<const of_value> arguments, std::span<of_value> results,
            bool infer_only, const Tensor* donated = nullptr, const of_box* box = nullptr) {
  Call call(op, name, results, infer_only, donated);
  if (box) [[unlikely]]
    set_box(call, *box);
  check_call(call, arguments);
  if (const uint32_t wanted = wanted_layers(call)) [[unlikely]]
    return run_through_layers(call, wanted);
  run_below_layers(call);
}

// Throws an error unless the box is within a tensor of valid sizes.
void check_box(const of_box& box) {
  if (box.rank < 0 || box.rank > OF_MAX_RANK)
    fail(OF_SHAPE_ERROR, "the rank of the box must be between 0 and %d, got %d", OF_MAX_RANK, box.rank);
  if (box.rank == 0) return;
  if (!box.whole_sizes || !box.origin || !box.sizes)
    fail(OF_INVALID_ARGUMENT, "whole_sizes, origin and sizes of the box must not be NULL");
  count_elements({box.whole_sizes, static_cast<size_t>(box.rank)});
  for (int d = 0; d < box.rank; ++d) {
    const int64_t whole = box.whole_sizes[d], origin = box.origin[d], size = box.sizes[d];
    if (origin < 0 || size < 0 || origin > whole || size > whole - origin)
      fail(OF_INDEX_OUT_OF_RANGE, "the box must be within dimension %d of size %ld, got origin %ld and size %ld", d,
           whole, origin, size);
  }
}

}  // namespace

void rethrow_with_name(const Schema& schema) {
  try {
    throw;
  } catch (const Error& error) {
    if (error.is_complete()) throw;
    throw Error(error.status(), std::string(schema.function_name) + ": " + error.text());
  } catch (const std::bad_alloc&) {
    throw Error(OF_OUT_OF_MEMORY, std::string(schema.function_name) + ": the host is out of memory");
  }
}

void set_box(Call& call, const of_box& box) {
  if (!call.schema().has_boxes)
    fail(OF_UNSUPPORTED, "only operators of kind generator compute parts of their results, this one is of kind %s",
         call.schema().kind);
  call.box = &box;
}

void check_call(Call& call, std::span<const of_value> arguments) {
  check_results(call);
  check_arguments(call, arguments);
}

void run_below_layers(Call& call) {
  const Schema& schema = call.schema();
  check_devices(call);
  if (call.writes_given) [[unlikely]]
    check_given_results(call);
  if (call.infer_only && schema.is_data_dependent) [[unlikely]]
    fail(OF_UNSUPPORTED, "the size of the result depends on data, so it cannot be inferred");
  const auto run = call.is_complex ? schema.run_complex : schema.run;
  call.infer_only ? WorkCounter::run(call, run) : run(call);
  store_results(call);
}

void call(const Operator& op, std::span<const of_value> arguments, std::span<of_value> results) {
  with_name(op.schema(), [&] { invoke(op, op.schema().function_name, arguments, results, false); });
}

void call_box(const Operator& op, std::span<const of_value> arguments, const of_box& box, std::span<of_value> results) {
  with_name(op.schema(), [&] {
    check_box(box);
    invoke(op, op.schema().function_name, arguments, results, false, nullptr, &box);
  });
}

void infer(const Operator& op, std::span<const of_value> arguments, std::span<of_value> results) {
  with_name(op.schema(), [&] { invoke(op, op.schema().function_name, arguments, results, true); });
}

void call_inside(const Operator& op, const char* name, std::span<const of_value> arguments, std::span<of_value> results,
                 bool infer_only, const Tensor* donated, const of_box* box) {
  invoke(op, name ? name : op.schema().function_name, arguments, results, infer_only, donated, box);
  if (infer_only) note_inner_call(op, arguments, results);
}

namespace {
thread_local ForeseenWrites* foreseen = nullptr;
}

ForeseenWrites::ForeseenWrites() : outer_(std::exchange(foreseen, this)) {}
ForeseenWrites::~ForeseenWrites() { foreseen = outer_; }

void ForeseenWrites::note(const Tensor& tensor) {
  if (foreseen) foreseen->tensors_.push_back(&tensor);
}

bool ForeseenWrites::contains(const Tensor& tensor) const {
  return std::find(tensors_.begin(), tensors_.end(), &tensor) != tensors_.end();
}

TensorRef readable(const Tensor& tensor, const char* caller) {
  static const OperatorName lazy_clone("lazy_clone");
  if (!wanted_layers(tensor.carried_layers())) [[likely]]
    return share(tensor);
  const of_value argument = to_value(tensor);
  of_value result{};
  call_inside(*lazy_clone, caller, {&argument, 1}, {&result, 1}, false);
  return TensorRef::adopt(to_tensor(result.as.tensor));
}

void release_value(of_value& value) noexcept {
  if (value.kind == OF_VALUE_TENSOR && value.as.tensor) to_tensor(value.as.tensor)->release();
  if (value.kind == OF_VALUE_TENSOR_LIST) {
    for (int i = 0; i < value.count; ++i)
      if (value.as.tensors[i]) to_tensor(value.as.tensors[i])->release();
    delete[] value.as.tensors;
  }
  value = {};
}

}  // namespace oneflow
