#include "dispatch/layers.h"

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <mutex>

#include "base/error.h"
#include "base/fork_safe.h"
#include "dispatch/dimension_map.h"
#include "dispatch/dispatch.h"
#include "dispatch/launch.h"

namespace oneflow {

thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec"))) = {};
std::atomic<uint32_t> common_layers{0};

namespace {

uint32_t bit_of(int layer) { return uint32_t{1} << layer; }

// A place for a layer. A call counts itself before it reads `function`, and a removal clears `function` before it reads
// the count: either the call does not find the function, or the removal waits for the call.
struct Slot {
  std::atomic<of_layer_function> function{nullptr};
  void* context = nullptr;
  std::atomic<int32_t> calls{0};
  bool is_leaving = false;  // guarded by mutex
};
Slot slots[OF_LAYER_LIMIT];

// The calls of this thread within each layer.
thread_local int32_t depths[OF_LAYER_LIMIT];

// Guards the changes of slots. A removal does not hold it while it waits, because the calls that it waits for may
// install and remove other layers.
ForkSafe<std::mutex> mutex{LockLevel::kLayers};

// Only the calls of the thread that forks go on in the child.
[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, [] {
  for (int i = 0; i < OF_LAYER_LIMIT; ++i) {
    slots[i].calls = depths[i];
    slots[i].is_leaving = false;
  }
});

// Fills the slot of a layer. The caller holds the mutex.
void fill(of_layer layer, of_layer_function function, void* context) {
  Slot& slot = slots[layer];
  if (slot.function.load() || slot.is_leaving)
    fail(OF_INVALID_ARGUMENT, "layer %d is %s", layer, slot.is_leaving ? "being removed" : "installed already");
  slot.context = context;
  slot.function.store(function);
}

// Counts a call within a layer, for as long as the object lives.
class Visit {
 public:
  explicit Visit(int layer) : layer_(layer) {
    slots[layer].calls.fetch_add(1);
    ++depths[layer];
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() {
    --depths[layer_];
    Slot& slot = slots[layer_];
    if (slot.calls.fetch_sub(1) == 1 && !slot.function.load()) slot.calls.notify_all();
  }

 private:
  const int layer_;
};

bool is_there(const of_value& result) {
  return (result.kind == OF_VALUE_TENSOR && result.as.tensor) || result.kind == OF_VALUE_TENSOR_LIST;
}

// Calls the function of a layer, unless it was just removed. Returns whether it was called.
bool enter(Call& call, int layer) {
  const Visit visit(layer);
  const of_layer_function function = slots[layer].function.load();
  if (!function) return false;
  const OpenLayers opened(call.open_layers);
  NewResults results(call.results);
  of_layer_call state{call, layer, {}};
  if (const of_status status = function(slots[layer].context, &state); status != OF_OK) {
    if (state.lacks_kernel && status == OF_UNSUPPORTED) throw MissingKernel(last_error());
    throw Error(status, last_error(), last_error_is_complete());
  }
  if (state.kept_error) state.kept_error->restore();
  if (!std::ranges::all_of(call.results, is_there)) fail(OF_INTERNAL_ERROR, "layer %d has left no result", layer);
  results.keep();
  return true;
}

// Passes a call to the open layer with the lowest number that wants it, or runs it.
void proceed(Call& call) {
  while (const uint32_t wanted = call.wanted_layers & call.open_layers) {
    const int layer = std::countr_zero(wanted);
    call.open_layers &= ~(bit_of(layer) | (bit_of(layer) - 1));
    if (enter(call, layer)) return;
  }
  const OpenLayers opened(call.body_layers);
  run_below_layers(call);
}

// Runs `pass` for a call, which may only succeed once. After a failure, the call is as before.
template <class Pass>
void pass_once(of_layer_call& state, Pass pass) {
  Call& call = state.call;
  if (call.is_done) fail(OF_INVALID_ARGUMENT, "the call was already passed on");
  const uint32_t open = call.open_layers, body = call.body_layers;
  const size_t count = call.schema().arguments.size();
  of_value arguments[kMaxArguments];
  std::copy_n(call.arguments, count, arguments);
  const auto restore = [&] {
    call.open_layers = open;
    call.body_layers = body;
    std::copy_n(arguments, count, call.arguments);
    for (TensorRef& output : call.outputs) output = {};
    call.output_list.clear();
  };
  try {
    pass();
  } catch (const MissingKernel&) {
    state.lacks_kernel = true;
    restore();
    throw;
  } catch (...) {
    restore();
    throw;
  }
  call.is_done = true;
}

// Removes a layer from the mask of the calls of a body that it does not see.
void hide(uint32_t& body_layers, of_layer_body body, int layer) {
  if (body == OF_BODY_HIDDEN) body_layers &= ~bit_of(layer);
}

}  // namespace

void install_layer(of_layer layer, of_layer_scope scope, of_layer_function function, void* context) {
  check_layer(layer);
  if (!function) fail(OF_INVALID_ARGUMENT, "function must not be NULL");
  if (scope != OF_LAYER_ALL_CALLS && scope != OF_LAYER_ON_REQUEST)
    fail(OF_INVALID_ARGUMENT, "there is no scope number %d", static_cast<int>(scope));
  const std::lock_guard lock(mutex);
  fill(layer, function, context);
  if (scope == OF_LAYER_ALL_CALLS) common_layers.fetch_or(bit_of(layer));
}

void require_layer(of_layer layer, of_layer_function function) {
  if (slots[layer].function.load() == function) return;
  const std::lock_guard lock(mutex);
  if (slots[layer].function.load() != function) fill(layer, function, nullptr);
}

void remove_layer(of_layer layer) {
  check_layer(layer);
  Slot& slot = slots[layer];
  if (depths[layer] > 0) fail(OF_INVALID_ARGUMENT, "layer %d cannot be removed within a call of its own", layer);
  {
    const std::lock_guard lock(mutex);
    common_layers.fetch_and(~bit_of(layer));
    slot.function.store(nullptr);
    slot.is_leaving = true;
  }
  for (int32_t calls = slot.calls.load(); calls > 0; calls = slot.calls.load()) slot.calls.wait(calls);
  const std::lock_guard lock(mutex);
  slot.is_leaving = false;
}

void run_through_layers(Call& call, uint32_t wanted) {
  call.wanted_layers = wanted;
  call.open_layers = call.body_layers = thread_state.open_layers;
  proceed(call);
}

void run_below(const Call& outer, Call& call) {
  call.wanted_layers = wanted_layers(call);
  call.open_layers = outer.open_layers;
  call.body_layers = outer.body_layers;
  proceed(call);
}

void next_layer(of_layer_call& state, of_layer_body body) {
  pass_once(state, [&] {
    hide(state.call.body_layers, body, state.layer);
    proceed(state.call);
  });
}

void forward_layer(of_layer_call& state, of_layer_body body, const Operator& op, std::span<const of_value> arguments) {
  Call& outer = state.call;
  pass_once(state, [&] {
    Call call(op, outer.name, outer.results, outer.infer_only, nullptr);
    if (outer.box) set_box(call, *outer.box);
    check_call(call, arguments);
    hide(outer.body_layers, body, state.layer);
    run_below(outer, call);
  });
}

of_call_form form_of(const Call& call) {
  of_call_form form = OF_FORM_NEW;
  for_each_given(call.results, [&](const Tensor& given) {
    if (form == OF_FORM_NEW) form = OF_FORM_OUT;
    for_each_tensor(call, [&](int, int, const Tensor& operand) {
      if (&operand == &given) form = OF_FORM_IN_PLACE;
    });
  });
  return form;
}

}  // namespace oneflow
