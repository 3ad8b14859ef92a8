#include "graph/session/trace.h"

#include <algorithm>

#include "base/error.h"
#include "device/device.h"

namespace oneflow::graph {

namespace {

// The most bytes that a piece of work brings from the host.
constexpr uint64_t kMaxUpload = uint64_t{1} << 16;

of_device device_of(const Program& program) { return program.values.empty() ? kHost : program.values.front().device; }

bool is_empty(const of_kernel_tensor& tensor) {
  return std::any_of(tensor.sizes, tensor.sizes + tensor.rank, [](int64_t size) { return size == 0; });
}

}  // namespace

Trace::Trace(const Program& program, std::span<const of_tensor> inputs, uint64_t limit)
    : device_(device_of(program)), limit_(limit), outer_(work_observer) {
  is_complete_ = !outer_;
  for (const Constant& constant : program.constants) {
    const Buffer& buffer = constant.tensor->storage()->buffer();
    const auto* memory = static_cast<const char*>(buffer.data());
    // Tied constants share a buffer.
    if (!ranges_.contains(memory))
      add_range(memory, buffer.bytes(), {Base::kFixed, 0, reinterpret_cast<intptr_t>(memory)});
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = *to_tensor(inputs[i]);
    if (!(tensor.device() == device_) || !tensor.has_memory()) {
      is_complete_ = false;
      continue;
    }
    const Buffer& buffer = tensor.storage()->buffer();
    const auto* memory = static_cast<const char*>(buffer.data());
    const auto* data = static_cast<const char*>(tensor.data());
    if (tensor.count() > 0) add_range(memory, buffer.bytes(), {Base::kInput, static_cast<uint32_t>(i), memory - data});
  }
  work_observer = this;
}

void Trace::stop() noexcept {
  if (std::exchange(is_observing_, false)) work_observer = outer_;
}

void Trace::add_range(const void* memory, uint64_t bytes, Place first) {
  const auto* begin = static_cast<const char*>(memory);
  const auto next = ranges_.lower_bound(begin);
  const bool overlaps_next = next != ranges_.end() && next->first < begin + bytes;
  const bool overlaps_previous =
      next != ranges_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > begin;
  if (overlaps_next || overlaps_previous) {
    is_complete_ = false;
    return;
  }
  ranges_.emplace(begin, Range{bytes, first});
}

Place Trace::place_of(const void* address) {
  const auto* at = static_cast<const char*>(address);
  const auto next = ranges_.upper_bound(at);
  if (next != ranges_.begin()) {
    const auto& [begin, range] = *std::prev(next);
    if (at < begin + range.bytes) {
      Place place = range.first;
      place.offset += at - begin;
      return place;
    }
  }
  is_complete_ = false;
  return {};
}

WorkOperand Trace::operand_of(const of_kernel_tensor& tensor) {
  WorkOperand operand;
  operand.dtype = tensor.dtype;
  operand.scalar = tensor.scalar;
  operand.sizes.assign({tensor.sizes, static_cast<size_t>(tensor.rank)});
  operand.strides.assign({tensor.strides, static_cast<size_t>(tensor.rank)});
  if (tensor.data && !is_empty(tensor)) operand.place = place_of(tensor.data);
  return operand;
}

WorkOperand Trace::written(WorkOperand operand) {
  // Inputs and constants belong to others.
  if (operand.place.base == Base::kInput || operand.place.base == Base::kFixed) is_complete_ = false;
  return operand;
}

Work& Trace::add(Work::Kind kind, of_device device) {
  if (!(device == device_)) is_complete_ = false;
  Work& work = works_.emplace_back();
  work.kind = kind;
  work.call = call_;
  return work;
}

void Trace::see_kernel(of_kernel kernel, const of_kernel_context& context, bool is_pointwise) {
  Work& work = add(Work::Kind::kKernel, context.device);
  if (context.whole_sizes) is_complete_ = false;
  work.is_pointwise = is_pointwise;
  work.kernel = kernel;
  work.context = context;
  work.arguments = OwnedArguments(context.arguments, static_cast<size_t>(context.argument_count));
  for (int i = 0; i < context.input_count; ++i) work.reads.push_back(operand_of(context.inputs[i]));
  for (int i = 0; i < context.output_count; ++i) work.writes.push_back(written(operand_of(context.outputs[i])));
}

void Trace::see_contraction(const of_contraction& contraction) {
  Work& work = add(Work::Kind::kContraction, contraction.device);
  work.contraction = contraction;
  const size_t dims[] = {static_cast<size_t>(contraction.batch_count), static_cast<size_t>(contraction.m_count),
                         static_cast<size_t>(contraction.n_count), static_cast<size_t>(contraction.k_count)};
  const of_contraction_dim* groups[] = {contraction.batch, contraction.m, contraction.n, contraction.k};
  for (int group = 0; group < 4; ++group) work.dims.insert(work.dims.end(), groups[group], groups[group] + dims[group]);
  const auto operand = [&](const void* address) {
    WorkOperand result;
    result.dtype = contraction.dtype;
    if (address) result.place = place_of(address);
    return result;
  };
  for (const void* read : {contraction.a, contraction.b, contraction.bias}) work.reads.push_back(operand(read));
  if (contraction.beta != 0) work.reads.push_back(operand(contraction.c));
  work.writes.push_back(written(operand(contraction.c)));
}

Work& Trace::add_bytes(Work::Kind kind, of_device device, void* destination, uint64_t bytes) {
  Work& work = add(kind, device);
  work.bytes = bytes;
  WorkOperand target;
  target.place = place_of(destination);
  work.writes.push_back(written(std::move(target)));
  return work;
}

void Trace::see_copy(of_device device, void* destination, const void* source, uint64_t bytes) {
  add_bytes(Work::Kind::kCopy, device, destination, bytes).reads.emplace_back().place = place_of(source);
}

void Trace::see_upload(of_device device, void* destination, const void* source, uint64_t bytes) {
  if (bytes > kMaxUpload) return see_other();
  const auto* data = static_cast<const char*>(source);
  add_bytes(Work::Kind::kUpload, device, destination, bytes).data.assign(data, data + bytes);
}

void Trace::see_fill(of_device device, void* destination, uint8_t value, uint64_t bytes) {
  add_bytes(Work::Kind::kFill, device, destination, bytes).value = value;
}

void Trace::see_allocation(of_device device, const void* memory, uint64_t bytes) {
  if (!(device == device_)) is_complete_ = false;
  live_bytes_ += bytes;
  if (limit_ > 0 && live_bytes_ > limit_)
    fail(OF_OUT_OF_MEMORY, "the run needs at least %lu bytes, more than the memory limit of the session, %lu bytes",
         live_bytes_, limit_);
  const auto number = static_cast<uint32_t>(buffers_.size());
  buffers_.push_back({bytes});
  add_range(memory, std::max<uint64_t>(bytes, 1), {Base::kBuffer, number, 0});
}

void Trace::see_release(const void* memory) noexcept {
  const auto found = ranges_.find(static_cast<const char*>(memory));
  if (found == ranges_.end() || found->second.first.base != Base::kBuffer) return;
  live_bytes_ -= buffers_[found->second.first.number].bytes;
  ranges_.erase(found);
}

std::optional<TracedOutput> Trace::find_output(const Tensor& tensor) const {
  if (!tensor.has_memory()) return {};
  const Buffer* buffer = tensor.storage()->present_buffer();
  if (!buffer) return {};
  const auto found = ranges_.find(static_cast<const char*>(buffer->data()));
  if (found == ranges_.end() || found->second.first.base != Base::kBuffer) return {};
  return TracedOutput{found->second.first.number, tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.offset()};
}

}  // namespace oneflow::graph
