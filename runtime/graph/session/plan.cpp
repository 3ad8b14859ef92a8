#include "graph/session/plan.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "base/dtype.h"
#include "base/error.h"
#include "base/first_failure.h"
#include "base/interrupt.h"
#include "dispatch/call.h"
#include "dispatch/dispatch.h"
#include "graph/program/bound_call.h"
#include "graph/session/buffer_uses.h"
#include "graph/session/in_place.h"

namespace oneflow::graph {

namespace {

constexpr uint64_t kAlignment = 64;

bool is_constant(const Place& place) { return place.base == Base::kFixed; }

uint64_t aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Returns whether the memory of two tensors overlaps.
bool reaches(const Tensor& tensor, const Tensor& other) {
  const auto range_of = [](const Tensor& each) {
    const Buffer& buffer = each.storage()->buffer();
    const auto* memory = static_cast<const char*>(buffer.data());
    return std::pair(memory, memory + buffer.bytes());
  };
  if (!tensor.has_memory() || !other.has_memory()) return false;
  const auto [begin, end] = range_of(tensor);
  const auto [other_begin, other_end] = range_of(other);
  return begin < other_end && other_begin < end;
}

// The places of buffers. Those that begin at the same offset are on one shelf: no two of them are used at the same
// time.
class Shelves {
 public:
  // Returns the offset of the lowest gap that is large enough throughout an interval.
  uint64_t find_gap(const Interval& interval, uint64_t bytes) const {
    uint64_t offset = 0;
    for (auto at = shelves_.begin(); at != shelves_.end() && offset + bytes > at->begin; ++at)
      if (at->whole.overlaps(interval)) offset = std::max(offset, at->end_within(interval));
    return offset;
  }
  void add(const Interval& interval, uint64_t offset, uint64_t bytes) {
    const auto found = std::ranges::lower_bound(shelves_, offset, {}, &Shelf::begin);
    Shelf& shelf = found != shelves_.end() && found->begin == offset ? *found : *shelves_.insert(found, Shelf{offset});
    shelf.add(interval, bytes);
  }

 private:
  struct Shelf {
    struct Part {
      size_t last;
      uint64_t end;  // of its memory
    };

    // Returns the end of the memory that is used at some time within an interval.
    uint64_t end_within(const Interval& interval) const {
      uint64_t end = 0;
      auto part = parts.upper_bound(interval.first);
      if (part != parts.begin() && std::prev(part)->second.last >= interval.first) --part;
      for (; part != parts.end() && part->first <= interval.last; ++part) end = std::max(end, part->second.end);
      return end;
    }
    void add(const Interval& interval, uint64_t bytes) {
      parts.emplace(interval.first, Part{interval.last, begin + bytes});
      whole.add(interval.first);
      whole.add(interval.last);
    }

    uint64_t begin;
    Interval whole = {};
    std::map<size_t, Part> parts = {};  // by the first work that uses each
  };

  std::vector<Shelf> shelves_;  // by their offsets
};

}  // namespace

bool InputLayout::matches(const Tensor& tensor) const {
  return tensor.dtype() == dtype && same_sizes(tensor.sizes(), sizes) && same_sizes(tensor.strides(), strides);
}

bool InputLayout::operator==(const InputLayout& other) const {
  return dtype == other.dtype && same_sizes(sizes, other.sizes) && same_sizes(strides, other.strides);
}

Ref<Plan> Plan::create(Trace& trace, std::span<const of_tensor> inputs, std::vector<TracedOutput> outputs,
                       const Program& program) {
  Ref<Plan> plan = Ref<Plan>::adopt(new Plan);
  for (const of_tensor input : inputs) {
    const Tensor& tensor = *to_tensor(input);
    plan->inputs_.push_back({tensor.dtype(), tensor.sizes(), tensor.strides()});
  }
  plan->device_ = trace.device();
  plan->works_ = std::move(trace.works());
  plan->outputs_ = std::move(outputs);
  plan->program_ = &program;
  plan->find_output_buffers(trace.buffers());
  std::vector<bool> is_output(trace.buffers().size());
  for (const OutputBuffer& output : plan->output_buffers_) is_output[output.buffer] = true;
  work_in_place(plan->works_, trace.buffers(), is_output);
  if (const of_graph_hooks* const hooks = get_device(plan->device_).table().graph)
    plan->chains_ = find_chains(plan->works_, hooks->tile_bytes);
  plan->lay_out(trace.buffers());
  return plan;
}

bool Plan::matches(std::span<const of_tensor> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i] || !(to_tensor(inputs[i])->device() == device_) || !inputs_[i].matches(*to_tensor(inputs[i])))
      return false;
  return true;
}

uint64_t Plan::output_bytes() const {
  uint64_t bytes = 0;
  for (const OutputBuffer& buffer : output_buffers_) bytes += buffer.bytes;
  return bytes;
}

void Plan::find_output_buffers(const std::vector<WorkBuffer>& buffers) {
  output_numbers_.assign(buffers.size(), -1);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TracedOutput& output = outputs_[i];
    const uint64_t bytes = buffers[output.buffer].bytes;
    const int known = output_buffer_of(output.buffer);
    if (known >= 0) {
      output_buffers_[static_cast<size_t>(known)].whole = -1;
      continue;
    }
    const bool is_whole = output.offset == 0 && is_contiguous(output.sizes, output.strides) &&
                          bytes == static_cast<uint64_t>(count_bytes(output.sizes, output.dtype));
    output_numbers_[output.buffer] = static_cast<int>(output_buffers_.size());
    output_buffers_.push_back({output.buffer, bytes, is_whole ? static_cast<int>(i) : -1});
  }
}

void Plan::lay_out(const std::vector<WorkBuffer>& buffers) {
  std::vector<Interval> intervals = buffer_uses(works_, buffers.size());
  // The work of a chain runs at the same time.
  std::vector<const Chain*> chain_of(works_.size(), nullptr);
  for (const Chain& chain : chains_)
    std::fill_n(chain_of.begin() + static_cast<std::ptrdiff_t>(chain.first), chain.tilings.size(), &chain);
  for (Interval& interval : intervals) {
    if (interval.is_empty()) continue;
    if (const Chain* const chain = chain_of[interval.first]) interval.first = chain->first;
    if (const Chain* const chain = chain_of[interval.last]) interval.last = chain->end() - 1;
  }
  // The largest buffers take the lowest places first; each takes the lowest gap that is large enough.
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (!intervals[i].is_empty() && output_buffer_of(i) < 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return buffers[a].bytes > buffers[b].bytes; });
  arena_offsets_.assign(buffers.size(), -1);
  const auto bytes_of = [&](uint32_t buffer) { return aligned(std::max<uint64_t>(buffers[buffer].bytes, 1)); };
  // While all of the arena is used at the busiest time, no gap needs to be looked for.
  std::vector<uint64_t> changes(works_.size() + 1);
  for (const uint32_t buffer : order) {
    changes[intervals[buffer].first] += bytes_of(buffer);
    changes[intervals[buffer].last + 1] -= bytes_of(buffer);
  }
  std::partial_sum(changes.begin(), changes.end(), changes.begin());
  const auto busiest = static_cast<size_t>(std::ranges::max_element(changes) - changes.begin());
  uint64_t used = 0;  // at that time
  Shelves shelves;
  for (const uint32_t buffer : order) {
    const Interval& interval = intervals[buffer];
    const uint64_t bytes = bytes_of(buffer);
    const bool is_there = interval.first <= busiest && busiest <= interval.last;
    const uint64_t offset = is_there && used == arena_bytes_ ? used : shelves.find_gap(interval, bytes);
    shelves.add(interval, offset, bytes);
    if (is_there) used += bytes;
    arena_offsets_[buffer] = static_cast<int64_t>(offset);
    arena_bytes_ = std::max(arena_bytes_, offset + bytes);
  }
}

void PlanMemory::Addresses::move_to(void* memory) {
  if (memory == start) return;
  start = static_cast<char*>(memory);
  for (const Address& address : list) *address.pointer = start + address.offset;
}

PlanMemory::PlanMemory(Ref<Plan> plan)
    : plan_(std::move(plan)),
      device_(get_device(plan_->device_)),
      input_addresses_(plan_->inputs_.size()),
      output_addresses_(plan_->output_buffers_.size()) {
  size_t count = 0;
  for (const Work& work : plan_->works_) count += work.reads.size() + work.writes.size();
  operands_.resize(count);
  bounds_.resize(plan_->works_.size());
  of_kernel_tensor* next = operands_.data();
  for (size_t i = 0; i < bounds_.size(); ++i) {
    bounds_[i].work = &plan_->works_[i];
    bind(bounds_[i], next);
  }
}

PlanMemory::~PlanMemory() {
  if (device_.lost()) return;
  for (const Bound& bound : bounds_)
    if (bound.prepared) device_.table().discard_contraction(bound.prepared);
}

void PlanMemory::add_address(const Place& place, void** pointer) {
  switch (place.base) {
    case Base::kNone:
      *pointer = nullptr;
      break;
    case Base::kFixed:
      *pointer = reinterpret_cast<void*>(place.offset);
      break;
    case Base::kInput:
      input_addresses_[place.number].list.push_back({pointer, place.offset});
      break;
    case Base::kBuffer:
      if (const int output = plan_->output_buffer_of(place.number); output >= 0)
        output_addresses_[static_cast<size_t>(output)].list.push_back({pointer, place.offset});
      else
        arena_addresses_.list.push_back({pointer, plan_->arena_offsets_[place.number] + place.offset});
      break;
  }
}

void PlanMemory::bind(Bound& bound, of_kernel_tensor*& next) {
  const Work& work = *bound.work;
  switch (work.kind) {
    case Work::Kind::kKernel: {
      bound.context = work.context;
      bound.context.arguments = work.arguments.data();
      bound.context.inputs = next;
      bound.context.outputs = next + work.reads.size();
      for (const std::vector<WorkOperand>* operands : {&work.reads, &work.writes}) {
        for (const WorkOperand& operand : *operands) {
          *next = {nullptr,       operand.dtype, operand.sizes.rank(), operand.sizes.data(), operand.strides.data(),
                   operand.scalar};
          add_address(operand.place, &next->data);
          ++next;
        }
      }
      break;
    }
    case Work::Kind::kContraction: {
      of_contraction& contraction = bound.contraction = work.contraction;
      contraction.batch = work.dims.data();
      contraction.m = contraction.batch + contraction.batch_count;
      contraction.n = contraction.m + contraction.m_count;
      contraction.k = contraction.n + contraction.n_count;
      contraction.prepared = device_.table().discard_contraction ? &bound.prepared : nullptr;
      contraction.constant_operands = (is_constant(work.reads[0].place) ? OF_CONSTANT_A : 0) |
                                      (is_constant(work.reads[1].place) ? OF_CONSTANT_B : 0);
      add_address(work.reads[0].place, const_cast<void**>(&contraction.a));
      add_address(work.reads[1].place, const_cast<void**>(&contraction.b));
      add_address(work.reads[2].place, const_cast<void**>(&contraction.bias));
      add_address(work.writes[0].place, &contraction.c);
      break;
    }
    case Work::Kind::kUpload:
      bound.source = work.data.data();
      add_address(work.writes[0].place, &bound.destination);
      break;
    case Work::Kind::kCopy:
      add_address(work.reads[0].place, const_cast<void**>(&bound.source));
      add_address(work.writes[0].place, &bound.destination);
      break;
    case Work::Kind::kFill:
      add_address(work.writes[0].place, &bound.destination);
      break;
  }
}

void PlanMemory::submit(Bound& bound, of_device_stream stream) {
  const Work& work = *bound.work;
  const of_device_table& table = device_.table();
  switch (work.kind) {
    case Work::Kind::kKernel:
      bound.context.stream = stream;
      return check(work.kernel(&bound.context));
    case Work::Kind::kContraction:
      bound.contraction.stream = stream;
      return check(table.contract(&bound.contraction));
    case Work::Kind::kCopy:
      return check(table.copy_within(device_.id(), bound.destination, bound.source, work.bytes, stream));
    case Work::Kind::kUpload:
      return check(table.copy_from_host(device_.id(), bound.destination, bound.source, work.bytes, stream));
    case Work::Kind::kFill:
      return check(table.fill(device_.id(), bound.destination, work.value, work.bytes, stream));
  }
}

void PlanMemory::submit_all(of_device_stream stream) {
  auto chain = plan_->chains_.begin();
  for (size_t i = 0; i < bounds_.size(); ++i) {
    throw_if_interrupted();
    if (chain != plan_->chains_.end() && chain->first == i) {
      run_chain(*chain, stream);
      i = chain++->end() - 1;
      continue;
    }
    try {
      submit(bounds_[i], stream);
    } catch (const Error& error) {
      fail_in_call(error, *plan_->program_, bounds_[i].work->call);
    }
  }
}

void PlanMemory::run_chain(const Chain& chain, of_device_stream stream) const {
  struct Tiles {
    const PlanMemory& memory;
    const Chain& chain;
    of_device_stream stream;
    std::mutex mutex;
    FirstFailure failure;

    void run(int64_t tile) noexcept {
      try {
        memory.run_tiles(chain, tile, stream);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure.keep_failure_of([] { throw; });
      }
    }
  } tiles{*this, chain, stream, {}, {}};
  const auto run = [](void* all, int64_t tile) { static_cast<Tiles*>(all)->run(tile); };
  const of_status status = device_.table().graph->run_tasks(chain.tile_count, run, &tiles);
  tiles.failure.rethrow();
  check(status);
}

void PlanMemory::run_tiles(const Chain& chain, int64_t tile, of_device_stream stream) const {
  for (size_t i = chain.first; i < chain.end(); ++i) {
    try {
      run_tile(bounds_[i], chain.tilings[i - chain.first], tile, stream);
    } catch (const Error& error) {
      fail_in_call(error, *plan_->program_, bounds_[i].work->call);
    }
  }
}

void PlanMemory::run_tile(const Bound& bound, const Tiling& tiling, int64_t tile, of_device_stream stream) const {
  const Work& work = *bound.work;
  of_kernel_context context = bound.context;
  context.stream = stream;
  int64_t sizes[OF_MAX_RANK];
  of_kernel_tensor operands[kMaxArguments + kMaxResults];
  of_kernel_tensor* next = operands;
  // The outputs follow the inputs.
  for (const std::vector<WorkOperand>* list : {&work.reads, &work.writes})
    for (const WorkOperand& operand : *list) {
      *next = context.inputs[next - operands];
      if (next->data) {
        const TileOperand part = tile_of(operand, tiling, tile, sizes);
        next->data = static_cast<char*>(next->data) + part.offset * dtype_size(operand.dtype);
        next->rank = part.rank;
        next->sizes = sizes;
        next->strides += tiling.dim;
      }
      ++next;
    }
  context.inputs = operands;
  context.outputs = operands + work.reads.size();
  check(work.kernel(&context));
}

// Finds out which outputs are written to the caller's tensors directly: those that have all of a buffer to themselves,
// and memory apart from that of all inputs and of other outputs.
bool PlanMemory::is_direct(size_t number, std::span<const of_tensor> inputs, std::span<const of_value> outputs) const {
  if (outputs[number].kind != OF_VALUE_TENSOR) return false;
  const Tensor& given = *to_tensor(outputs[number].as.tensor);
  const TracedOutput& output = plan_->outputs_[number];
  if (given.dtype() != output.dtype || !given.is_contiguous() || !(given.device() == device_.id())) return false;
  for (const of_tensor input : inputs)
    if (reaches(given, *to_tensor(input))) return false;
  for (size_t other = 0; other < outputs.size(); ++other)
    if (other != number && outputs[other].kind == OF_VALUE_TENSOR &&
        reaches(given, *to_tensor(outputs[other].as.tensor)))
      return false;
  return given.count() > 0;
}

void PlanMemory::store(std::span<of_value> outputs, std::span<const Ref<Storage>> storages) const {
  static constinit const OperatorName copy("copy");
  const auto found = [&](size_t number) {
    const TracedOutput& output = plan_->outputs_[number];
    const Ref<Storage>& storage = storages[static_cast<size_t>(plan_->output_buffer_of(output.buffer))];
    return storage ? Tensor::over(storage, output.dtype, output.sizes, output.strides, output.offset) : TensorRef();
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].kind != OF_VALUE_TENSOR) continue;
    const TensorRef tensor = found(i);
    if (!tensor) continue;  // it was written to directly
    const of_value arguments[] = {outputs[i], to_value(tensor)};
    call_inside(*copy, nullptr, arguments, {&outputs[i], 1}, false);
  }
  std::vector<TensorRef> results(outputs.size());  // the caller gets all or none
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].kind == OF_VALUE_ABSENT) results[i] = found(i);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (results[i]) outputs[i] = {OF_VALUE_TENSOR, 0, {.tensor = to_handle(results[i].detach())}};
}

void PlanMemory::run(std::span<const of_tensor> inputs, std::span<of_value> outputs) {
  device_.require_usable();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].kind == OF_VALUE_TENSOR)
      check_destination(*to_tensor(outputs[i].as.tensor), plan_->outputs_[i].sizes, plan_->outputs_[i].dtype);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!input_addresses_[i].list.empty()) input_addresses_[i].move_to(const_cast<void*>(to_tensor(inputs[i])->data()));
  if (plan_->arena_bytes_ > 0) {
    if (!arena_) arena_ = Buffer::allocate(device_.id(), plan_->arena_bytes_);
    arena_addresses_.move_to(arena_->data());
  }
  std::vector<Ref<Storage>> storages(plan_->output_buffers_.size());
  for (size_t i = 0; i < storages.size(); ++i) {
    const Plan::OutputBuffer& buffer = plan_->output_buffers_[i];
    if (buffer.whole >= 0 && is_direct(static_cast<size_t>(buffer.whole), inputs, outputs)) {
      output_addresses_[i].move_to(to_tensor(outputs[static_cast<size_t>(buffer.whole)].as.tensor)->mutable_data());
    } else {
      storages[i] = Storage::create(Buffer::allocate(device_.id(), buffer.bytes));
      output_addresses_[i].move_to(storages[i]->mutable_data());
    }
  }
  const of_device_stream stream = device_.stream();
  submit_all(stream);
  // On a device with streams, the next run may be in another one: the arena is reused as other memory is.
  if (device_.table().create_stream) arena_ = {};
  store(outputs, storages);
}

}  // namespace oneflow::graph
