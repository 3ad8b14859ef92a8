#include "parallel/processes/patterns.h"

#include "base/interrupt.h"
#include "device/copy.h"
#include "device/device.h"
#include "device/work_observer.h"
#include "dispatch/dispatch.h"
#include "dispatch/fallback.h"
#include "ops/parts.h"
#include "parallel/collective_rule.h"
#include "parallel/local/access.h"
#include "parallel/processes/route.h"
#include "parallel/processes/work.h"

namespace oneflow::processes {

namespace {

using collective::MergeOperators;

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

// Returns a contiguous copy on the same device.
TensorRef copied(const Context& context, const Tensor& tensor) {
  TensorRef copy = Tensor::allocate(tensor.sizes(), tensor.dtype(), tensor.device());
  collective::copy_elements(context.call.name, *copy, tensor);
  return copy;
}

// Returns a tensor in memory of a device: the tensor itself, or a copy.
TensorRef on_device(const Context& context, const TensorRef& tensor, of_device device) {
  if (tensor->device() == device) return tensor;
  const TensorRef packed = collective::packed(context.call.name, *tensor);
  TensorRef copy = Tensor::allocate(tensor->sizes(), tensor->dtype(), device);
  copy_from_host(device, copy->mutable_data(), packed->data(), static_cast<uint64_t>(packed->bytes()));
  return copy;
}

// Gives a result without memory.
void infer(Call& call, Sizes sizes) {
  set_result(call, 0, Tensor::without_memory(sizes, call.tensor(0).dtype(), call.device));
}

// What a pattern does: its calls agree by `described`, and `body` sets the outcome.
struct Plan {
  Described described;
  std::function<Task(Operation&, Outcome&)> body;
  const Group& group;
  uint64_t lane;  // the operations that it follows; see Operation
};

// Returns the plan of a collective of the group, whose ranks may differ in a dimension of the tensor; -1: in none.
template <class Body>
Plan plan_of(const Context& context, const Route& route, int free_dim, Body body) {
  return {Described(context.call, free_dim, route.device_type()), std::move(body), context.group, context.group.id()};
}

// What the route of a tensor depends on.
struct RouteOptions {
  const Group& group;             // the ranks that take it
  MergeOperators operators = {};  // if tensors are merged
  bool may_avoid_host = true;
};

std::shared_ptr<Route> choose_route(const Context& context, const RouteOptions& options) {
  const Tensor& input = context.input();
  if (input.device() == kHost) return host_route(context.call.name);
  std::string missing = "order of transfers with tags";
  std::shared_ptr<Route> route;
  if (options.may_avoid_host)
    route = device_route(context.call.name, context.job->engine(), options.group, input.device(), input.dtype(),
                         options.operators, missing);
  if (route) return route;
  note_fallback(context.call, missing);
  return host_route(context.call.name);
}

// Begins what make_plan(route) returns, and waits for its result, unless the call only begins it or has begun it
// before.
template <class MakePlan>
void perform(Call& call, const Context& context, const RouteOptions& options, MakePlan&& make_plan) {
  note_other_work();  // a session cannot replay it
  Starting* const starting = Starting::current();
  Ref<Work> work = Finishing::take();
  if (!work && !starting) work = InterruptedCall::of_this_thread().take(call);
  if (!work) {
    const Uninterrupted scope;  // the other ranks may have begun, so that this one must, too
    work = Ref<Work>::adopt(new Work);
    work->job = context.job;
    work->outcome = std::make_shared<Outcome>();
    if (context.size() == 1) {
      work->outcome->tensor = copied(context, context.input());
    } else {
      const std::shared_ptr<Route> route = choose_route(context, options);
      Plan plan = make_plan(route);
      route->note_placed();
      Engine& engine = context.job->engine();
      Operation::Body body = [body = std::move(plan.body), outcome = work->outcome](Operation& operation) {
        return body(operation, *outcome);
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
  const Outcome& outcome = *work->outcome;
  if (outcome.stream) get_device(call.device).current().depend_on(*outcome.stream, *outcome.ready);
  const TensorRef result = outcome.finish ? outcome.finish(outcome.tensor) : outcome.tensor;
  set_result(call, 0, on_device(context, result, call.device));
}

using RouteRef = std::shared_ptr<Route>;

// The arguments of a call that splits its tensor.
struct SplitArguments {
  int dim;
  std::optional<int64_t> part;

  SplitArguments(const Context& context, const char* dim_name)
      : dim(context.dim(dim_name)), part(context.given_integer("part")) {
    if (part && context.size() == 1) check_sum({*part}, context.input().size(dim));
  }

  int64_t own_size(const Context& context) const {
    return part.value_or(even_part(context.input().size(dim), context.own, context.size()).size);
  }
  // Returns the split of a tensor that this rank sends, or of one of which only the shape counts.
  Split of(const Context& context, const Route& route, bool is_sent = true) const {
    const Tensor& input = context.input();
    return {is_sent ? route.placed_for_split(input, dim) : TensorRef(), input.sizes(), input.dtype(), dim, part};
  }
};

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
  const uint32_t from = sends ? own : other, to = sends ? other : own;
  const Group& pair = Group::of({from, to});
  const int64_t tag = context.integer("tag");
  // Devices exchange tensors in one order, and transfers of several tags may have another one on each side.
  perform(call, context, {pair, {}, tag == 0}, [&](const RouteRef& route) {
    return Plan{Described::transfer(call, route->device_type()), make_body(context, route), pair,
                lane_of(from, to, tag)};
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
  perform(call, context, {context.group, operators}, [&](const RouteRef& route) {
    return plan_of(context, *route, -1,
                   [=, input = route->placed(context.input())](Operation& operation, Outcome& outcome) {
                     return route->all_reduce(operation, input, operators, outcome);
                   });
  });
}

void reduce_scatter(Call& call) {
  const Context context(call);
  const MergeOperators operators = collective::merge_operators(call, "input", context.input().dtype());
  const SplitArguments split(context, "dim");
  if (call.infer_only) return infer(call, resized(context.input().sizes(), split.dim, split.own_size(context)));
  perform(call, context, {context.group, operators}, [&](const RouteRef& route) {
    return plan_of(context, *route, -1,
                   [=, placed = split.of(context, *route)](Operation& operation, Outcome& outcome) {
                     return route->reduce_scatter(operation, placed, operators, outcome);
                   });
  });
}

void all_gather(Call& call) {
  const Context context(call);
  const Tensor& input = context.input();
  const int dim = context.dim("dim");
  const int64_t total = total_size(context, dim);
  if (call.infer_only) return infer(call, resized(input.sizes(), dim, total));
  perform(call, context, {context.group}, [&](const RouteRef& route) {
    return plan_of(context, *route, dim, [=, input = route->placed(input)](Operation& operation, Outcome& outcome) {
      return route->all_gather(operation, input, dim, outcome);
    });
  });
}

void all_to_all(Call& call) {
  const Context context(call);
  const int join = context.dim("concat_dim");
  const SplitArguments split(context, "split_dim");
  if (call.infer_only) {
    Shape sizes = resized(context.input().sizes(), split.dim, split.own_size(context));
    if (__builtin_mul_overflow(sizes[join], int64_t{context.size()}, &sizes[join]))
      fail(OF_SHAPE_ERROR, "the result has more elements than can be counted");
    return infer(call, sizes);
  }
  perform(call, context, {context.group}, [&](const RouteRef& route) {
    return plan_of(context, *route, join,
                   [=, placed = split.of(context, *route)](Operation& operation, Outcome& outcome) {
                     return route->all_to_all(operation, placed, join, outcome);
                   });
  });
}

void broadcast(Call& call) {
  const Context context(call);
  const uint32_t root = context.member("root");
  if (call.infer_only) return infer(call, context.input().sizes());
  perform(call, context, {context.group}, [&](const RouteRef& route) {
    // The elements of the other ranks' tensors are not used.
    const TensorRef input = context.own == root ? route->placed_copy(context.input()) : share(context.input());
    return plan_of(context, *route, -1, [=](Operation& operation, Outcome& outcome) {
      return route->broadcast(operation, root, input, outcome);
    });
  });
}

void reduce(Call& call) {
  const Context context(call);
  const MergeOperators operators = collective::merge_operators(call, "input", context.input().dtype());
  const uint32_t root = context.member("root");
  if (call.infer_only) return infer(call, context.input().sizes());
  perform(call, context, {context.group, operators}, [&](const RouteRef& route) {
    return plan_of(context, *route, -1,
                   [=, input = route->placed(context.input())](Operation& operation, Outcome& outcome) {
                     return route->reduce(operation, root, input, operators, outcome);
                   });
  });
}

void gather(Call& call) {
  const Context context(call);
  const Tensor& input = context.input();
  const uint32_t root = context.member("root");
  const int dim = context.dim("dim");
  const int64_t total = total_size(context, dim);
  if (call.infer_only) return infer(call, resized(input.sizes(), dim, total));
  perform(call, context, {context.group}, [&](const RouteRef& route) {
    return plan_of(context, *route, dim, [=, input = route->placed(input)](Operation& operation, Outcome& outcome) {
      return route->gather(operation, root, input, dim, outcome);
    });
  });
}

void scatter(Call& call) {
  const Context context(call);
  const uint32_t root = context.member("root");
  const SplitArguments split(context, "dim");
  if (call.infer_only) return infer(call, resized(context.input().sizes(), split.dim, split.own_size(context)));
  perform(call, context, {context.group}, [&](const RouteRef& route) {
    const bool is_sent = context.own == root;
    return plan_of(context, *route, -1,
                   [=, placed = split.of(context, *route, is_sent)](Operation& operation, Outcome& outcome) {
                     return route->scatter(operation, root, placed, outcome);
                   });
  });
}

void send(Call& call) {
  transfer(call, "to", true, [](const Context& context, const RouteRef& route) {
    return [=, input = route->placed_copy(context.input())](Operation& operation, Outcome& outcome) {
      return route->send(operation, 1, input, outcome);
    };
  });
}

void receive(Call& call) {
  transfer(call, "source", false, [](const Context& context, const RouteRef& route) {
    return [=, like = share(context.input())](Operation& operation, Outcome& outcome) {
      return route->receive(operation, 0, like, outcome);
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
