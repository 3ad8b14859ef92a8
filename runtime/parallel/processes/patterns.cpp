#include "parallel/processes/patterns.h"

#include <numeric>

#include "base/interrupt.h"
#include "device/copy.h"
#include "device/device.h"
#include "device/work_observer.h"
#include "dispatch/dispatch.h"
#include "ops/parts.h"
#include "parallel/collective_rule.h"
#include "parallel/local/access.h"
#include "parallel/local/ranks.h"
#include "parallel/processes/algorithms.h"
#include "parallel/processes/work.h"

namespace oneflow::processes {

namespace {

using collective::flat;
using collective::MergeOperators;

// Tensors with fewer bytes are sent to all ranks as a whole, if there are few: this takes one step instead of two.
constexpr int64_t kWholeBytes = 16 << 10;
constexpr uint32_t kWholeRanks = 8;

constinit const OperatorName kLazyClone("lazy_clone");

int position_of(const Schema& schema, const char* name) {
  for (size_t i = 0; i < schema.arguments.size(); ++i)
    if (std::string_view(schema.arguments[i].name) == name) return static_cast<int>(i);
  fail(OF_INTERNAL_ERROR, "there is no argument %s", name);
}

// What a call is about: its tensor, the group, and this rank in it.
struct Context {
  explicit Context(const Call& call)
      : call(call), job(Job::current()), group(group_of(*job, call)), own(job->position_in(group)) {
    // The program may write to the tensor of a call that only begins: then it gets another memory.
    if (Starting::current()) kept_ = Body(call).call(kLazyClone, call.tensor(0));
  }

  static const Group& group_of(const Job& job, const Call& call) {
    const int argument = position_of(call.schema(), "group");
    return job.group(call.is_given(argument) ? call.string(argument) : std::string_view());
  }

  const Tensor& input() const { return kept_ ? *kept_ : call.tensor(0); }
  uint32_t size() const { return group.size(); }
  int64_t integer(const char* name) const { return call.integer(position_of(call.schema(), name)); }
  std::optional<int64_t> given_integer(const char* name) const {
    const int argument = position_of(call.schema(), name);
    return call.is_given(argument) ? std::optional(call.integer(argument)) : std::nullopt;
  }
  // Returns a dimension of the tensor. Throws ShapeError if it has none.
  int dim(const char* name) const {
    check_has_dims(input(), call.schema().arguments[0].name);
    return static_cast<int>(integer(name));
  }
  // Returns a position in the group, by the rank of the job that an argument gives.
  uint32_t member(const char* name) const {
    const int64_t rank = integer(name);
    const auto position =
        rank < 0 || rank > UINT32_MAX ? std::optional<uint32_t>() : group.position_of(static_cast<uint32_t>(rank));
    if (!position)
      fail(OF_INVALID_ARGUMENT, "%s must be a rank of group %s, got %lld", name, group.text().c_str(),
           static_cast<long long>(rank));
    return *position;
  }

  const Call& call;
  const std::shared_ptr<Job> job;
  const Group& group;
  const uint32_t own;

 private:
  TensorRef kept_;
};

// Returns a contiguous copy in memory of the host.
TensorRef copied_to_host(const Context& context, const Tensor& tensor) {
  const TensorRef packed = collective::packed(context.call.name, tensor);
  TensorRef copy = Tensor::allocate(packed->sizes(), packed->dtype(), kHost);
  copy_to_host(copy->mutable_data(), packed->device(), packed->data(), static_cast<uint64_t>(packed->bytes()));
  return copy;
}

// Returns a contiguous tensor in memory of the host: the tensor itself, or a copy.
TensorRef on_host(const Context& context, const Tensor& tensor) {
  return tensor.device() == kHost ? collective::packed(context.call.name, tensor) : copied_to_host(context, tensor);
}

TensorRef on_device(TensorRef tensor, of_device device) {
  if (device == kHost) return tensor;
  TensorRef copy = Tensor::allocate(tensor->sizes(), tensor->dtype(), device);
  copy_from_host(device, copy->mutable_data(), tensor->data(), static_cast<uint64_t>(tensor->bytes()));
  return copy;
}

TensorRef allocate_on_host(Sizes sizes, of_dtype dtype) { return Tensor::allocate(sizes, dtype, kHost); }

// What is known of a result before its body allocates it: collectives that wait for their turn have no memory for
// results.
struct Layout {
  explicit Layout(const Tensor& tensor) : sizes(tensor.sizes()), dtype(tensor.dtype()) {}
  TensorRef allocate() const { return allocate_on_host(sizes, dtype); }

  Shape sizes;
  of_dtype dtype;
};

// Returns zeros, all of which are one element in memory.
TensorRef zeros(const Shape& sizes, of_dtype dtype) {
  const TensorRef zero = allocate_on_host(Shape{}, dtype);
  fill_bytes(kHost, zero->mutable_data(), 0, static_cast<uint64_t>(zero->bytes()));
  return Tensor::over(zero->storage(), dtype, sizes, Shape(sizes.rank()), 0);
}

Shape resized(const Tensor& tensor, int dim, int64_t size) {
  Shape sizes = tensor.sizes();
  sizes[dim] = size;
  return sizes;
}

// Gives a result without memory.
void infer(Call& call, Sizes sizes) {
  set_result(call, 0, Tensor::without_memory(sizes, call.tensor(0).dtype(), call.device));
}

// What a pattern does: its calls agree by `described`, and `body` sets the result.
struct Plan {
  Described described;
  std::function<Task(Operation&, TensorRef& result)> body;
  const Group& group;
  uint64_t lane;  // the operations that it follows; see Operation
};

// Returns the plan of a collective of the group, whose ranks may differ in a dimension of the tensor; -1: in none.
template <class Body>
Plan plan_of(const Context& context, int free_dim, Body body) {
  return {Described(context.call, free_dim), std::move(body), context.group, context.group.id()};
}

// Begins what make_plan() returns, and waits for its result, unless the call only begins it or has begun it before.
template <class MakePlan>
void perform(Call& call, const Context& context, MakePlan&& make_plan) {
  note_other_work();  // a session cannot replay it
  Starting* const starting = Starting::current();
  Ref<Work> work = Finishing::take();
  if (!work && !starting) work = InterruptedCall::of_this_thread().take(call);
  if (!work) {
    const Uninterrupted scope;  // the other ranks may have begun, so that this one must, too
    work = Ref<Work>::adopt(new Work);
    work->job = context.job;
    work->result = std::make_shared<TensorRef>();
    if (context.size() == 1) {
      *work->result = copied_to_host(context, context.input());
    } else {
      Plan plan = make_plan();
      Engine& engine = context.job->engine();
      Operation::Body body = [body = std::move(plan.body), result = work->result](Operation& operation) {
        return body(operation, *result);
      };
      work->operation =
          Ref<Operation>::adopt(new Operation(engine, plan.group, plan.lane, plan.described, std::move(body)));
      starting ? engine.start(work->operation) : engine.submit(work->operation);
    }
  }
  if (starting) {
    starting->work = std::move(work);
    return;
  }
  try {
    if (work->operation) work->job->engine().wait(*work->operation);
  } catch (const Error& error) {
    if (error.status() == OF_INTERRUPTED)
      InterruptedCall::of_this_thread() = {work, &call.schema(), share(call.tensor(0))};
    throw;
  }
  set_result(call, 0, on_device(*work->result, call.device));
}

std::vector<Part> even_cuts(int64_t size, uint32_t count) {
  std::vector<Part> cuts;
  for (uint32_t i = 0; i < count; ++i) cuts.push_back(even_part(size, i, count));
  return cuts;
}

// A tensor in memory of the host that is split along a dimension, one part for each rank. Without the size of the own
// part, which all ranks give then, the parts are even.
struct Split {
  TensorRef whole;
  int dim;
  std::optional<int64_t> part;

  Split(const Context& context, const char* dim_name)
      : dim(context.dim(dim_name)), part(context.given_integer("part")) {
    const Tensor& input = context.input();
    if (part && context.size() == 1) check_sum(std::vector{*part}, input.size(dim));
    if (!context.call.infer_only) whole = on_host(context, input);
  }

  int64_t own_size(const Context& context) const {
    return part.value_or(even_part(context.input().size(dim), context.own, context.size()).size);
  }

  static void check_sum(const std::vector<int64_t>& sizes, int64_t whole) {
    __int128 sum = 0;
    for (const int64_t each : sizes) sum += each;
    if (sum != whole)
      fail(OF_SHAPE_ERROR, "the parts of all ranks must have the sum %lld, the size of dim, got %lld",
           static_cast<long long>(whole), static_cast<long long>(std::min<__int128>(sum, INT64_MAX)));
  }

  // Sets the parts of the ranks, contiguous.
  Task cut(Operation& operation, const char* caller, Tensors& parts) const {
    const int64_t size = whole->size(dim);
    std::vector<Part> cuts = even_cuts(size, operation.size());
    if (part) {
      std::vector<int64_t> sizes;
      co_await exchange_numbers(operation, *part, sizes);
      check_sum(sizes, size);
      int64_t start = 0;
      for (size_t i = 0; i < sizes.size(); start += sizes[i++]) cuts[i] = {start, sizes[i]};
    }
    for (const Part& each : cuts) parts.push_back(collective::packed(caller, *narrow(*whole, dim, each)));
  }
};

// Returns vectors of the parts of a contiguous tensor.
Tensors flat_parts(const Tensor& whole, uint32_t count) {
  Tensors parts;
  for (const Part& cut : even_cuts(whole.count(), count)) parts.push_back(flat(whole, cut));
  return parts;
}

// Joins tensors along a dimension.
TensorRef joined(const char* caller, const Tensors& parts, int dim) {
  int64_t size = 0;
  for (const TensorRef& each : parts)
    if (__builtin_add_overflow(size, each->size(dim), &size))
      fail(OF_SHAPE_ERROR, "the result has more elements than can be counted");
  TensorRef whole = allocate_on_host(resized(*parts[0], dim, size), parts[0]->dtype());
  int64_t start = 0;
  for (const TensorRef& each : parts) {
    collective::copy_elements(caller, *narrow(*whole, dim, {start, each->size(dim)}), *each);
    start += each->size(dim);
  }
  return whole;
}

// ---------------------------------------------------------------- bodies, which are coroutines: arguments are copied

Task run_all_reduce(Operation& operation, TensorRef input, TensorRef output, MergeOperators operators) {
  if (operation.size() <= kWholeRanks && input->bytes() <= kWholeBytes) {
    co_await merge_of_all(operation, flat(*input), flat(*output), operators);
    co_return;
  }
  const Tensors parts = flat_parts(*input, operation.size());
  const Tensors targets = flat_parts(*output, operation.size());
  co_await exchange_and_merge(operation, parts, targets[operation.position()], operators);
  const TensorRef whole = flat(*output);
  co_await share_parts(operation, whole);
}

Task run_reduce_scatter(Operation& operation, const char* caller, Split split, MergeOperators operators,
                        TensorRef& result) {
  Tensors parts;
  co_await split.cut(operation, caller, parts);
  result = allocate_on_host(parts[operation.position()]->sizes(), split.whole->dtype());
  for (TensorRef& each : parts) each = flat(*each);
  const TensorRef target = flat(*result);
  co_await exchange_and_merge(operation, parts, target, operators);
}

Task run_all_gather(Operation& operation, const char* caller, TensorRef input, int dim, TensorRef& result) {
  const Tensors parts(operation.size(), input);
  co_await exchange(operation, caller, parts, input->sizes(), dim, result);
}

Task run_all_to_all(Operation& operation, const char* caller, Split split, int join_dim, TensorRef& result) {
  Tensors parts;
  co_await split.cut(operation, caller, parts);
  co_await exchange(operation, caller, parts, parts[operation.position()]->sizes(), join_dim, result);
}

Task run_reduce(Operation& operation, uint32_t root, TensorRef input, TensorRef output, MergeOperators operators) {
  const uint32_t own = operation.position(), size = operation.size();
  const TensorRef merged = own == root ? output : Layout(*output).allocate();
  const Tensors parts = flat_parts(*input, size), targets = flat_parts(*merged, size);
  co_await exchange_and_merge(operation, parts, targets[own], operators);
  if (own != root) {
    fill_bytes(kHost, output->mutable_data(), 0, static_cast<uint64_t>(output->bytes()));
    co_await send_whole(operation, root, targets[own]);
    co_return;
  }
  for (uint32_t from = 0; from < size; ++from)
    if (from != root) co_await receive_whole(operation, from, targets[from]);
}

Task run_gather(Operation& operation, const char* caller, uint32_t root, TensorRef input, int dim, TensorRef& result) {
  const uint32_t own = operation.position(), size = operation.size();
  std::vector<int64_t> sizes;
  co_await exchange_numbers(operation, input->size(dim), sizes);
  if (own != root) {
    const __int128 total = std::accumulate(sizes.begin(), sizes.end(), __int128{0});
    if (total > INT64_MAX) fail(OF_SHAPE_ERROR, "the result has more elements than can be counted");
    result = zeros(resized(*input, dim, static_cast<int64_t>(total)), input->dtype());
    co_await send_whole(operation, root, input);
    co_return;
  }
  Tensors received(size);
  received[own] = input;
  for (uint32_t from = 0; from < size; ++from) {
    if (from == own) continue;
    received[from] = allocate_on_host(resized(*input, dim, sizes[from]), input->dtype());
    co_await receive_whole(operation, from, received[from]);
  }
  result = joined(caller, received, dim);
}

Task run_scatter(Operation& operation, const char* caller, uint32_t root, Split split, TensorRef& result) {
  const uint32_t own = operation.position(), size = operation.size();
  Tensors parts;
  co_await split.cut(operation, caller, parts);
  result = allocate_on_host(parts[own]->sizes(), parts[own]->dtype());
  if (own != root) {
    co_await receive_whole(operation, root, result);
    co_return;
  }
  for (uint32_t to = 0; to < size; ++to)
    if (to != own) operation.send(to, *parts[to], parts[to]->data(), static_cast<size_t>(parts[to]->bytes()));
  collective::copy_elements(caller, *result, *parts[own]);
  co_await operation.sent();
}

// Returns the number of the lane of transfers from one rank to another with a tag.
uint64_t lane_of(uint32_t from, uint32_t to, int64_t tag) {
  uint64_t lane = 0x6C616E65;
  for (const uint64_t each : {uint64_t{from}, uint64_t{to}, static_cast<uint64_t>(tag)})
    lane = (lane ^ each) * 0x9E3779B97F4A7C15ull, lane ^= lane >> 29;
  return lane | 1;
}

// A transfer between this rank and another one, which are the group of the operation.
template <class MakeBody>
void transfer(Call& call, const char* other_name, bool sends, MakeBody&& make_body) {
  const Context context(call);
  const uint32_t other = context.group.ranks()[context.member(other_name)], own = context.job->rank();
  if (other == own) fail(OF_INVALID_ARGUMENT, "%s must be another rank, got %u", other_name, other);
  if (call.infer_only) return infer(call, context.input().sizes());
  perform(call, context, [&] {
    const uint32_t from = sends ? own : other, to = sends ? other : own;
    return Plan{Described::transfer(call), make_body(context), Group::of({from, to}),
                lane_of(from, to, context.integer("tag"))};
  });
}

// Returns the size of a dimension of a tensor, multiplied by the number of ranks.
int64_t total_size(const Context& context, int dim) {
  int64_t total = 0;
  if (__builtin_mul_overflow(context.input().size(dim), int64_t{context.size()}, &total))
    fail(OF_SHAPE_ERROR, "the result has more elements than can be counted");
  return total;
}

}  // namespace

void all_reduce(Call& call) {
  const Context context(call);
  const MergeOperators operators = collective::merge_operators(call, "input", context.input().dtype());
  if (call.infer_only) return infer(call, context.input().sizes());
  perform(call, context, [&] {
    const TensorRef input = on_host(context, context.input());
    return plan_of(context, -1, [=](Operation& operation, TensorRef& result) {
      result = Layout(*input).allocate();
      return run_all_reduce(operation, input, result, operators);
    });
  });
}

void reduce_scatter(Call& call) {
  const Context context(call);
  const MergeOperators operators = collective::merge_operators(call, "input", context.input().dtype());
  const Split split(context, "dim");
  if (call.infer_only) return infer(call, resized(context.input(), split.dim, split.own_size(context)));
  perform(call, context, [&] {
    return plan_of(context, -1, [=, caller = call.name](Operation& operation, TensorRef& result) {
      return run_reduce_scatter(operation, caller, split, operators, result);
    });
  });
}

void all_gather(Call& call) {
  const Context context(call);
  const Tensor& input = context.input();
  const int dim = context.dim("dim");
  const int64_t total = total_size(context, dim);
  if (call.infer_only) return infer(call, resized(input, dim, total));
  perform(call, context, [&] {
    const TensorRef tensor = on_host(context, input);
    return plan_of(context, dim, [=, caller = call.name](Operation& operation, TensorRef& result) {
      return run_all_gather(operation, caller, tensor, dim, result);
    });
  });
}

void all_to_all(Call& call) {
  const Context context(call);
  const Tensor& input = context.input();
  const int join = context.dim("concat_dim");
  const Split split(context, "split_dim");
  if (call.infer_only) {
    Shape sizes = resized(input, split.dim, split.own_size(context));
    if (__builtin_mul_overflow(sizes[join], int64_t{context.size()}, &sizes[join]))
      fail(OF_SHAPE_ERROR, "the result has more elements than can be counted");
    return infer(call, sizes);
  }
  perform(call, context, [&] {
    return plan_of(context, join, [=, caller = call.name](Operation& operation, TensorRef& result) {
      return run_all_to_all(operation, caller, split, join, result);
    });
  });
}

void broadcast(Call& call) {
  const Context context(call);
  const uint32_t root = context.member("root");
  if (call.infer_only) return infer(call, context.input().sizes());
  perform(call, context, [&] {
    // The elements of the other ranks' tensors are not used.
    const TensorRef tensor = context.own == root ? copied_to_host(context, context.input()) : TensorRef();
    const Layout layout(context.input());
    return plan_of(context, -1, [=](Operation& operation, TensorRef& result) {
      result = tensor ? tensor : layout.allocate();
      return broadcast_by_tree(operation, root, result);
    });
  });
}

void reduce(Call& call) {
  const Context context(call);
  const MergeOperators operators = collective::merge_operators(call, "input", context.input().dtype());
  const uint32_t root = context.member("root");
  if (call.infer_only) return infer(call, context.input().sizes());
  perform(call, context, [&] {
    const TensorRef input = on_host(context, context.input());
    return plan_of(context, -1, [=](Operation& operation, TensorRef& result) {
      result = Layout(*input).allocate();
      return run_reduce(operation, root, input, result, operators);
    });
  });
}

void gather(Call& call) {
  const Context context(call);
  const Tensor& input = context.input();
  const uint32_t root = context.member("root");
  const int dim = context.dim("dim");
  const int64_t total = total_size(context, dim);
  if (call.infer_only) return infer(call, resized(input, dim, total));
  perform(call, context, [&] {
    const TensorRef tensor = on_host(context, input);
    return plan_of(context, dim, [=, caller = call.name](Operation& operation, TensorRef& result) {
      return run_gather(operation, caller, root, tensor, dim, result);
    });
  });
}

void scatter(Call& call) {
  const Context context(call);
  const uint32_t root = context.member("root");
  const Split split(context, "dim");
  if (call.infer_only) return infer(call, resized(context.input(), split.dim, split.own_size(context)));
  perform(call, context, [&] {
    return plan_of(context, -1, [=, caller = call.name](Operation& operation, TensorRef& result) {
      return run_scatter(operation, caller, root, split, result);
    });
  });
}

void send(Call& call) {
  transfer(call, "to", true, [](const Context& context) {
    const TensorRef sent = on_host(context, context.input());
    const TensorRef output = copied_to_host(context, context.input());
    return [=](Operation& operation, TensorRef& result) {
      result = output;
      return send_whole(operation, 1, sent);
    };
  });
}

void receive(Call& call) {
  transfer(call, "source", false, [](const Context& context) {
    const Layout layout(context.input());
    return [=](Operation& operation, TensorRef& result) {
      result = layout.allocate();
      return receive_whole(operation, 0, result);
    };
  });
}

}  // namespace oneflow::processes

int64_t oneflow::group_size(const of_value& group) {
  const auto job = processes::Job::current();
  return job
      ->group(group.kind == OF_VALUE_STRING ? std::string_view(group.as.string, static_cast<size_t>(group.count))
                                            : std::string_view())
      .size();
}
