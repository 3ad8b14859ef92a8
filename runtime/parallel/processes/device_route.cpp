// The route between devices, by the communicator of their plugin. Ranks compare what they call by messages of the host
// before they submit work, so that no device waits for a rank that calls something else.
#include <algorithm>
#include <numeric>

#include "device/copy.h"
#include "dispatch/dispatch.h"
#include "parallel/local/access.h"
#include "parallel/local/ranks.h"
#include "parallel/processes/engine.h"
#include "parallel/processes/route.h"

namespace oneflow::processes {

namespace {

using collective::MergeOperators;
using Ready = std::shared_ptr<const Event>;

constinit const OperatorName kLazyClone("lazy_clone"), kAdd("add"), kMul("mul"), kMin("minimum"), kMax("maximum");

// Returns the reduction that operators do; nothing for none.
std::optional<of_reduction> reduction_of(const MergeOperators& operators) {
  if (operators.then) return OF_REDUCTION_MEAN;
  const std::pair<const OperatorName&, of_reduction> known[] = {
      {kAdd, OF_REDUCTION_SUM}, {kMul, OF_REDUCTION_PRODUCT}, {kMin, OF_REDUCTION_MIN}, {kMax, OF_REDUCTION_MAX}};
  for (const auto& [name, reduction] : known)
    if (operators.by == &*name) return reduction;
  return {};
}

// While it lives, a stream is the current one of the thread.
class OnStream {
 public:
  explicit OnStream(Stream& stream) : before_(ChosenStreams::current()) {
    ChosenStreams chosen;
    chosen.choose(stream);
    chosen.apply();
  }
  ~OnStream() { before_.apply(); }
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;

 private:
  const ChosenStreams before_;
};

// While it lives, ranks may wait for work that this one has to submit: unless it is submitted, the communicator fails.
class Submission {
 public:
  Submission(DeviceGroups& groups, const DeviceGroup& group) : groups_(groups), group_(&group) {}
  ~Submission() { fail("the call has failed there"); }
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  void succeed() { group_ = nullptr; }
  void fail(const std::string& text) {
    if (group_) groups_.fail(*std::exchange(group_, nullptr), text);
  }

 private:
  DeviceGroups& groups_;
  const DeviceGroup* group_;
};

// The order of dimensions in which one of them is the first, so that parts along it follow each other in memory.
struct FirstDim {
  int dim;

  // Returns whether a tensor of these sizes has the same order in memory anyway.
  bool is_outermost(const Shape& sizes) const {
    for (int d = 0; d < dim; ++d)
      if (sizes[d] != 1) return false;
    return true;
  }
  // Returns a tensor, or a contiguous copy, as a vector in that order.
  TensorRef pack(const char* caller, const Tensor& tensor) const {
    Shape sizes = tensor.sizes(), strides = tensor.strides();
    std::rotate(&sizes[0], &sizes[dim], &sizes[dim] + 1);
    std::rotate(&strides[0], &strides[dim], &strides[dim] + 1);
    return collective::flat(*collective::packed(caller, *Tensor::view(tensor, sizes, strides, tensor.offset())));
  }
  // Returns the tensor of these sizes that a vector in that order has from an element on.
  TensorRef unpack(const Tensor& vector, int64_t start, const Shape& sizes) const {
    Shape strides(sizes.rank());
    int64_t stride = 1;
    for (int d = sizes.rank() - 1; d >= 0; --d)
      if (d != dim) strides[d] = std::exchange(stride, stride * sizes[d]);
    if (sizes.rank() > 0) strides[dim] = stride;
    return Tensor::over(vector.storage(), vector.dtype(), sizes, strides, vector.offset() + start);
  }
};

// What this rank sends to others, in the order of the ranks, and how many elements it gets from them.
struct Exchange {
  TensorRef sent;  // a vector; NULL: nothing
  std::vector<int64_t> sent_counts, received_counts;

  explicit Exchange(uint32_t size) : sent_counts(size), received_counts(size) {}
};

class DeviceRoute final : public Route {
 public:
  DeviceRoute(const char* caller, Device& device, std::optional<of_reduction> reduction)
      : Route(caller), device_(device), reduction_(reduction) {}

  const char* device_type() const override { return device_.table().name; }

  TensorRef placed(const Tensor& tensor) const override {
    TensorRef packed = collective::packed(caller_, tensor);
    packed->data();  // computes it if that is deferred
    return packed;
  }
  TensorRef placed_for_split(const Tensor& tensor, int dim) const override {
    return placed(*FirstDim{dim}.pack(caller_, tensor));
  }
  TensorRef placed_copy(const Tensor& tensor) const override {
    return placed(*call_operator(kLazyClone, TensorRef::share(const_cast<Tensor*>(&tensor))));
  }
  void note_placed() override { placed_ = std::make_shared<const Event>(Event::mark(device_.current())); }

  Task all_reduce(Operation& operation, TensorRef input, MergeOperators, Outcome& outcome) const override {
    return reduce_to(operation, -1, input, outcome);
  }

  Task reduce(Operation& operation, uint32_t root, TensorRef input, MergeOperators, Outcome& outcome) const override {
    return reduce_to(operation, static_cast<int32_t>(root), input, outcome);
  }

  Task reduce_scatter(Operation& operation, Split split, MergeOperators, Outcome& outcome) const override {
    std::vector<Part> cuts;
    co_await cut(operation, split.sizes[split.dim], split.part, cuts);
    const Shape sizes = resized(split.sizes, split.dim, cuts[operation.position()].size);
    std::vector<uint64_t> counts;
    for (const Part& each : cuts)
      counts.push_back(static_cast<uint64_t>(count_elements(resized(split.sizes, split.dim, each.size))));
    const TensorRef& input = split.whole;
    co_await submit(operation, outcome, [&](const DeviceGroup& group, of_device_stream stream) {
      const TensorRef output = outcome.tensor = allocate(count_elements(sizes), split.dtype);
      if (input->count() == 0) return OF_OK;
      return group.hooks().reduce_scatter(group.communicator(), input->data(), output->mutable_data(), counts.data(),
                                          split.dtype, *reduction_, stream);
    });
    outcome.finish = unpacking(split.dim, sizes);
  }

  Task all_gather(Operation& operation, TensorRef input, int dim, Outcome& outcome) const override {
    std::vector<int64_t> extents;
    co_await exchange_numbers(operation, input->size(dim), extents);
    const std::vector<Shape> parts = sizes_of(input->sizes(), dim, extents);
    std::vector<uint64_t> bytes;
    for (const Shape& each : parts)
      bytes.push_back(static_cast<uint64_t>(count_elements(each) * input->element_bytes()));
    const int64_t count = std::accumulate(parts.begin(), parts.end(), int64_t{0},
                                          [](int64_t sum, const Shape& each) { return sum + count_elements(each); });
    co_await submit(operation, outcome, [&](const DeviceGroup& group, of_device_stream stream) {
      const TensorRef output = outcome.tensor = allocate(count, input->dtype());
      if (count == 0) return OF_OK;
      return group.hooks().all_gather(group.communicator(), input->data(), output->mutable_data(), bytes.data(),
                                      stream);
    });
    outcome.finish = joining(parts, {0}, dim);
  }

  Task all_to_all(Operation& operation, Split split, int join_dim, Outcome& outcome) const override {
    const uint32_t size = operation.size();
    std::vector<Part> cuts;
    co_await cut(operation, split.sizes[split.dim], split.part, cuts);
    Exchange exchange(size);
    exchange.sent = split.whole;
    std::vector<int64_t> extents(size), got;
    for (uint32_t to = 0; to < size; ++to) {
      const Shape part = resized(split.sizes, split.dim, cuts[to].size);
      exchange.sent_counts[to] = count_elements(part);
      extents[to] = part[join_dim];
    }
    co_await trade_numbers(operation, extents, got);
    const Shape own = resized(split.sizes, split.dim, cuts[operation.position()].size);
    const std::vector<Shape> parts = sizes_of(own, join_dim, got);
    std::ranges::transform(parts, exchange.received_counts.begin(), count_elements);
    co_await run(operation, exchange, split.dtype, outcome);
    outcome.finish = joining(parts, {split.dim}, join_dim);
  }

  Task broadcast(Operation& operation, uint32_t root, TensorRef input, Outcome& outcome) const override {
    co_await submit(operation, outcome, [&](const DeviceGroup& group, of_device_stream stream) {
      const TensorRef output = outcome.tensor = Tensor::allocate(input->sizes(), input->dtype(), device_.id());
      if (input->count() == 0) return OF_OK;
      const void* const source = operation.position() == root ? input->data() : nullptr;
      return group.hooks().broadcast(group.communicator(), static_cast<int32_t>(root), source, output->mutable_data(),
                                     static_cast<uint64_t>(output->bytes()), stream);
    });
  }

  Task gather(Operation& operation, uint32_t root, TensorRef input, int dim, Outcome& outcome) const override {
    std::vector<int64_t> extents;
    co_await exchange_numbers(operation, input->size(dim), extents);
    const std::vector<Shape> parts = sizes_of(input->sizes(), dim, extents);
    Exchange exchange(operation.size());
    exchange.sent = collective::flat(*input);
    exchange.sent_counts[root] = input->count();
    const bool is_root = operation.position() == root;
    if (is_root) std::ranges::transform(parts, exchange.received_counts.begin(), count_elements);
    co_await run(operation, exchange, input->dtype(), outcome);
    outcome.finish =
        is_root ? joining(parts, {0}, dim) : zeros(resized(input->sizes(), dim, total_of(extents)), input->dtype());
  }

  Task scatter(Operation& operation, uint32_t root, Split split, Outcome& outcome) const override {
    std::vector<Part> cuts;
    co_await cut(operation, split.sizes[split.dim], split.part, cuts);
    const auto sizes = [&](uint32_t rank) { return resized(split.sizes, split.dim, cuts[rank].size); };
    Exchange exchange(operation.size());
    exchange.sent = split.whole;
    if (operation.position() == root)
      for (uint32_t to = 0; to < operation.size(); ++to) exchange.sent_counts[to] = count_elements(sizes(to));
    exchange.received_counts[root] = count_elements(sizes(operation.position()));
    co_await run(operation, exchange, split.dtype, outcome);
    outcome.finish = unpacking(split.dim, sizes(operation.position()));
  }

  Task send(Operation& operation, uint32_t to, TensorRef input, Outcome& outcome) const override {
    Exchange exchange(operation.size());
    exchange.sent = collective::flat(*input);
    exchange.sent_counts[to] = input->count();
    co_await run(operation, exchange, input->dtype(), outcome);
    // Nothing waits for the transfer: `input` is a copy.
    outcome.tensor = input;
    outcome.stream = nullptr;
    outcome.finish = [](const TensorRef& sent) { return call_operator(kLazyClone, sent); };
  }

  Task receive(Operation& operation, uint32_t from, TensorRef like, Outcome& outcome) const override {
    Exchange exchange(operation.size());
    exchange.received_counts[from] = like->count();
    co_await run(operation, exchange, like->dtype(), outcome);
    outcome.finish = unpacking(0, like->sizes());
  }

 private:
  using Finish = std::function<TensorRef(const TensorRef&)>;

  TensorRef allocate(int64_t count, of_dtype dtype) const {
    return Tensor::allocate(Shape{count}, dtype, device_.id());
  }

  // Returns the sizes of parts that differ in a dimension.
  static std::vector<Shape> sizes_of(const Shape& like, int dim, const std::vector<int64_t>& extents) {
    total_of(extents);  // checks them
    std::vector<Shape> sizes;
    for (const int64_t each : extents) sizes.push_back(resized(like, dim, each));
    return sizes;
  }

  // Returns what makes a tensor of a vector in which a dimension comes first.
  Finish unpacking(int dim, const Shape& sizes) const {
    return [caller = caller_, first = FirstDim{dim}, sizes](const TensorRef& vector) {
      return collective::packed(caller, *first.unpack(*vector, 0, sizes));
    };
  }

  // Returns what joins tensors that follow each other in a vector, where the dimension `first` comes first in each.
  Finish joining(const std::vector<Shape>& parts, FirstDim first, int dim) const {
    return [caller = caller_, parts, first, dim](const TensorRef& vector) {
      int64_t start = 0, extent = 0;
      bool is_joined = true;
      Tensors tensors;
      for (const Shape& each : parts) {
        tensors.push_back(first.unpack(*vector, std::exchange(start, start + count_elements(each)), each));
        extent += each[dim];
        is_joined = is_joined && first.is_outermost(each) && FirstDim{dim}.is_outermost(each);
      }
      return is_joined ? FirstDim{0}.unpack(*vector, 0, resized(parts[0], dim, extent)) : joined(caller, tensors, dim);
    };
  }

  Finish zeros(const Shape& sizes, of_dtype dtype) const {
    return [device = device_.id(), sizes, dtype](const TensorRef&) {
      TensorRef result = Tensor::allocate(sizes, dtype, device);
      fill_bytes(device, result->mutable_data(), 0, static_cast<uint64_t>(result->bytes()));
      return result;
    };
  }

  // Reduces to one rank, or to all if `root` is negative.
  Task reduce_to(Operation& operation, int32_t root, TensorRef input, Outcome& outcome) const {
    const bool gets_it = root < 0 || static_cast<uint32_t>(root) == operation.position();
    co_await submit(operation, outcome, [&](const DeviceGroup& group, of_device_stream stream) {
      if (gets_it) outcome.tensor = Tensor::allocate(input->sizes(), input->dtype(), device_.id());
      if (input->count() == 0) return OF_OK;
      return group.hooks().reduce(group.communicator(), root, input->data(),
                                  gets_it ? outcome.tensor->mutable_data() : nullptr,
                                  static_cast<uint64_t>(input->count()), input->dtype(), *reduction_, stream);
    });
    if (!gets_it) outcome.finish = zeros(input->sizes(), input->dtype());
  }

  // Runs an exchange, whose result is the memory that is received.
  Task run(Operation& operation, const Exchange& exchange, of_dtype dtype, Outcome& outcome) const {
    const uint32_t size = operation.size();
    co_await submit(operation, outcome, [&](const DeviceGroup& group, of_device_stream stream) {
      const std::vector<int64_t>&sent_counts = exchange.sent_counts, &received_counts = exchange.received_counts;
      const int64_t received = std::accumulate(received_counts.begin(), received_counts.end(), int64_t{0});
      const TensorRef output = outcome.tensor = allocate(received, dtype);
      std::vector<const void*> inputs(size);
      std::vector<void*> outputs(size);
      std::vector<uint64_t> sent_bytes(size), received_bytes(size);
      const auto lay_out = [&](auto* at, const std::vector<int64_t>& counts, auto& addresses, auto& bytes) {
        for (uint32_t i = 0; i < size; at += bytes[i++]) {
          addresses[i] = at;
          bytes[i] = static_cast<uint64_t>(counts[i] * dtype_size(dtype));
        }
      };
      if (exchange.sent) lay_out(static_cast<const char*>(exchange.sent->data()), sent_counts, inputs, sent_bytes);
      lay_out(static_cast<char*>(output->mutable_data()), received_counts, outputs, received_bytes);
      const auto is_zero = [](uint64_t bytes) { return bytes == 0; };
      if (std::ranges::all_of(sent_bytes, is_zero) && std::ranges::all_of(received_bytes, is_zero)) return OF_OK;
      return group.hooks().exchange(group.communicator(), inputs.data(), sent_bytes.data(), outputs.data(),
                                    received_bytes.data(), stream);
    });
  }

  // Compares what the ranks call, and calls enqueue(group, stream) once the communicator is open.
  template <class Enqueue>
  Task submit(Operation& operation, Outcome& outcome, Enqueue enqueue) const {
    DeviceGroups& groups = operation.engine.device_groups();
    std::shared_ptr<DeviceGroup> group = groups.find(operation.lane, device_);
    int64_t number = group ? group->number() : 0;
    co_await agree(operation, number);
    if (number == 0) co_await open(operation, group);
    Submission submission(groups, *group);
    try {
      group->is_ready();  // or it has failed meanwhile
      {
        const OnStream on(group->stream());
        placed_->hold(group->stream());
        check_communication(enqueue(*group, group->stream().handle()));
      }
      const Operation::Condition is_submitted = [&group] { return group->is_ready(); };
      co_await operation.until(operation.group().ranks(), is_submitted);
      outcome.stream = &group->stream();
      const Ready ready = outcome.ready = std::make_shared<const Event>(Event::mark(group->stream()));
      group->note_work(caller_, placed_, ready);
      submission.succeed();
    } catch (const Error& error) {
      submission.fail(error.text());
      throw;
    }
  }

  Task open(Operation& operation, std::shared_ptr<DeviceGroup>& group) const {
    const uint32_t own = operation.position();
    Stream& stream = operation.engine.device_groups().stream(operation.lane, device_);
    const TensorRef memory = Tensor::allocate(Shape{OF_DEVICE_COMMUNICATOR_ID_SIZE}, OF_UINT8, kHost);
    auto& id = *static_cast<of_device_communicator_id*>(memory->mutable_data());
    if (own == 0) {
      check_communication(device_.table().communicator->make_id(&id));
      for (uint32_t to = 1; to < operation.size(); ++to) operation.send(to, *memory, &id, sizeof id);
      co_await operation.sent();
    } else {
      co_await receive_whole(operation, 0, memory);
    }
    group = std::make_shared<DeviceGroup>(operation.group(), own, stream, id);
    const Operation::Condition is_open = [&group] { return group->is_ready(); };
    co_await operation.until(operation.group().ranks(), is_open);
    operation.engine.device_groups().add(operation.lane, group);
  }

  Device& device_;
  const std::optional<of_reduction> reduction_;
  Ready placed_;
};

}  // namespace

std::shared_ptr<Route> device_route(const char* caller, Engine& engine, const Group& group, of_device device,
                                    of_dtype dtype, const MergeOperators& operators, std::string& missing) {
  if (const std::string why = engine.device_peers().why_not(group, device); !why.empty()) {
    missing = "communicator for group " + group.text() + ": " + why;
    return {};
  }
  Device& found = get_device(device);
  const std::optional<of_reduction> reduction = reduction_of(operators);
  if (operators.by && !(reduction && found.table().communicator->can_reduce(dtype, *reduction))) {
    missing = std::string("such reduction of ") + dtype_name(dtype) + " between processes";
    return {};
  }
  return std::make_shared<DeviceRoute>(caller, found, reduction);
}

}  // namespace oneflow::processes
