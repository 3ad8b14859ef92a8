#include "dispatch/fallback.h"

#include <deque>
#include <optional>
#include <vector>

#include "device/copy.h"
#include "device/options.h"
#include "dispatch/dispatch.h"
#include "dispatch/launch.h"
#include "tensor/copy_strided.h"
#include "tensor/transfer.h"

namespace oneflow {

namespace {

[[maybe_unused]] const bool is_installed = [] {
  install_layer(OF_LAYER_FALLBACK, OF_LAYER_ON_REQUEST, fall_back, nullptr);
  return true;
}();

// A copy in host memory of the memory that a tensor spans, with the tensor's strides.
class HostCopy {
 public:
  explicit HostCopy(const Tensor& original)
      : original_(original), span_(span_of(original.sizes(), original.strides(), original.dtype())) {
    const auto bytes = static_cast<uint64_t>(span_.bytes);
    const Ref<Buffer> memory = Buffer::allocate(kHost, bytes);
    if (bytes > 0)
      copy_to_host(memory->data(), original.device(), static_cast<const char*>(original.data()) - span_.before, bytes);
    copy_ = Tensor::over(Storage::create(memory), original.dtype(), original.sizes(), original.strides(),
                         span_.before / original.element_bytes());
  }

  const Tensor& original() const { return original_; }
  const Tensor& tensor() const { return *copy_; }

  // Allocates what write_back() needs.
  void prepare_write_back() {
    original_.storage()->make_writable();
    if (has_gaps()) present_ = Buffer::allocate(kHost, static_cast<uint64_t>(span_.bytes));
  }

  // Writes the elements back. Those between them, if the tensor is a view with gaps, keep their present values.
  void write_back() const {
    if (span_.bytes == 0) return;
    const auto bytes = static_cast<uint64_t>(span_.bytes);
    char* const there = static_cast<char*>(original_.mutable_data()) - span_.before;
    const char* const first = static_cast<const char*>(copy_->data());
    if (!has_gaps()) return copy_from_host(original_.device(), there, first - span_.before, bytes);
    copy_to_host(present_->data(), original_.device(), there, bytes);
    copy_strided(static_cast<char*>(present_->data()) + span_.before, original_.strides(), first, original_.strides(),
                 original_.sizes(), original_.element_bytes());
    copy_from_host(original_.device(), there, present_->data(), bytes);
  }

 private:
  bool has_gaps() const { return original_.bytes() != span_.bytes; }

  const Tensor& original_;
  const Span span_;
  TensorRef copy_;
  Ref<Buffer> present_;
};

// The host copies of the tensors of a call.
class HostCopies {
 public:
  explicit HostCopies(of_device device) : device_(device) {}

  // Returns a value with the copies of its tensors, or the value itself if it has none.
  of_value value(const of_value& value) {
    if (value.kind == OF_VALUE_TENSOR) return to_value(of(*to_tensor(value.as.tensor)));
    if (value.kind != OF_VALUE_TENSOR_LIST) return value;
    std::vector<of_tensor>& list = lists_.emplace_back(value.as.tensors, value.as.tensors + value.count);
    for (of_tensor& each : list)
      if (each) each = to_handle(const_cast<Tensor*>(&of(*to_tensor(each))));
    return to_value(std::span(list));
  }

  // Writes the copies of the tensors of `call` that it has written back to their originals: all of them, unless there
  // is no memory for that.
  void write_back(const Call& call) {
    for_each_written(call, [](HostCopy& copy) { copy.prepare_write_back(); });
    for_each_written(call, [](const HostCopy& copy) { copy.write_back(); });
  }

  // Returns the tensor for a result: the original of a copy, or a new one on the device.
  TensorRef to_device(const Tensor& result) const {
    for (const HostCopy& copy : copies_)
      if (&copy.tensor() == &result) return share(copy.original());
    return copy_to_device(result, device_);
  }

 private:
  template <class Visit>
  void for_each_written(const Call& call, Visit visit) {
    const auto visit_copies = [&](std::span<const of_value> values) {
      for_each_given(values, [&](const Tensor& tensor) {
        for (HostCopy& copy : copies_)
          if (&copy.original() == &tensor) visit(copy);
      });
    };
    const auto& declared = call.schema().arguments;
    for (size_t i = 0; i < declared.size(); ++i)
      if (declared[i].is_written) visit_copies({&call.arguments[i], 1});
    visit_copies(call.results);
  }

  // Returns the copy of a tensor, or the tensor itself if it is on another device, where the operator takes it from.
  const Tensor& of(const Tensor& tensor) {
    if (!(tensor.device() == device_)) return tensor;
    for (const HostCopy& copy : copies_)
      if (&copy.original() == &tensor) return copy.tensor();
    return copies_.emplace_back(tensor).tensor();
  }

  const of_device device_;
  std::deque<HostCopy> copies_;
  std::deque<std::vector<of_tensor>> lists_;
};

void run_on_host(Call& call) {
  const auto& declared = call.schema().arguments;
  HostCopies copies(call.device);
  of_value arguments[kMaxArguments], results[kMaxResults];
  for (size_t i = 0; i < declared.size(); ++i) {
    const bool is_device = declared[i].type == ArgumentType::kDevice && !declared[i].is_list;
    arguments[i] = is_device ? to_value(kHost) : copies.value(call.arguments[i]);
  }
  for (size_t i = 0; i < call.results.size(); ++i) results[i] = copies.value(call.results[i]);

  const std::span<of_value> on_host(results, call.results.size());
  const NewResults release(on_host);
  Call host_call(call.op, call.name, on_host, false, nullptr);
  check_call(host_call, {arguments, declared.size()});
  host_call.device = kHost;
  host_call.random = call.random;
  host_call.box = call.box;
  run_below(call, host_call);
  get_device(kHost).synchronize();

  copies.write_back(call);
  if (call.schema().gives_list) {
    std::vector<TensorRef> list;
    for_each_given(on_host, [&](const Tensor& result) { list.push_back(copies.to_device(result)); });
    set_results(call, std::move(list));
  } else {
    for (size_t i = 0; i < on_host.size(); ++i)
      set_result(call, static_cast<int>(i), copies.to_device(*to_tensor(on_host[i].as.tensor)));
  }
  store_results(call);
}

}  // namespace

of_status fall_back(void*, of_layer_call* state) {
  std::optional<MissingKernel> missing;
  state->keep_error();
  try {
    next_layer(*state, OF_BODY_SEEN);
    return OF_OK;
  } catch (const MissingKernel& error) {
    if (fallback_is_error()) throw;
    missing = error;
  }
  try {
    run_on_host(state->call);
  } catch (const MissingKernel&) {  // of the host
    throw *missing;
  }
  state->call.op.count_fallback();
  return OF_OK;
}

void note_fallback(const Call& call, const std::string& missing) {
  if (fallback_is_error()) leave_to_fallback(call, missing.c_str());
  call.op.count_fallback();
}

}  // namespace oneflow
