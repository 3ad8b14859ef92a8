// The layers that calls pass through before they reach the function of the operator's kind.
//
// A thread has a mask of the layers that its calls may enter. Within the function of a layer, it has only the layers
// below; within the body of an operator, it has those that let the body be seen. Example: a profiler (4) passes softmax
// on with its body seen, autograd (8) with its body hidden: the parts of softmax enter the profiler only.
#ifndef ONEFLOW_DISPATCH_LAYERS_H_
#define ONEFLOW_DISPATCH_LAYERS_H_

#include <oneflow/oneflow.h>

#include <atomic>
#include <optional>

#include "base/error.h"
#include "device/device.h"
#include "dispatch/call.h"

// The state of a call within a layer.
struct of_layer_call {
  oneflow::Call& call;
  const int layer;
  std::optional<oneflow::KeptError> kept_error;  // to restore if the call succeeds
  bool lacks_kernel = false;                     // whether it failed with MissingKernel

  // Keeps the error text from before the call is passed on, for a layer that may handle a failure.
  void keep_error() {
    if (!kept_error) kept_error.emplace();
  }
};

namespace oneflow {

// Implement of_layer_install() and of_layer_remove().
void install_layer(of_layer layer, of_layer_scope scope, of_layer_function function, void* context);
void remove_layer(of_layer layer);
// Installs a layer of the runtime that calls request, unless it is installed. Throws InvalidArgument if another one has
// its number.
void require_layer(of_layer layer, of_layer_function function);

// What the calls of a thread start from; see of_thread_state.
struct ThreadState {
  uint32_t asked_layers = 0;
  uint32_t open_layers = ~uint32_t{0};
};
// The static TLS block makes it one load.
extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

// Sets the layers that the calls of the thread may enter, for as long as the object lives.
class OpenLayers {
 public:
  explicit OpenLayers(uint32_t layers) : before_(thread_state.open_layers) { thread_state.open_layers = layers; }
  OpenLayers(const OpenLayers&) = delete;
  OpenLayers& operator=(const OpenLayers&) = delete;
  ~OpenLayers() { thread_state.open_layers = before_; }

 private:
  const uint32_t before_;
};

// The layers of calls that nobody but the runtime sees: devices without a kernel leave them to the host.
constexpr uint32_t kOwnLayers = uint32_t{1} << OF_LAYER_FALLBACK;

// A bit for each installed layer that all calls enter.
extern std::atomic<uint32_t> common_layers;

// Returns a bit for each layer that wants a call: 0 for most. `carried` are those whose data its tensors carry.
inline uint32_t wanted_layers(uint32_t carried) {
  return carried | common_layers.load(std::memory_order_relaxed) | thread_state.asked_layers;
}

// Returns those that want a call: the fallback layer wants all calls of devices other than the host.
inline uint32_t wanted_layers(const Call& call) {
  return wanted_layers(call.carried_layers) | uint32_t{call.device.type != kHost.type} << OF_LAYER_FALLBACK;
}

// Runs a call whose arguments are checked, below all layers.
void run_below_layers(Call& call);

// Passes a call to the layers that want it, and runs it below them.
void run_through_layers(Call& call, uint32_t wanted);

// Passes a call on behalf of another one, whose layer it is made in, to the layers below that one.
void run_below(const Call& outer, Call& call);

// Implement of_layer_next() and of_layer_forward().
void next_layer(of_layer_call& state, of_layer_body body);
void forward_layer(of_layer_call& state, of_layer_body body, const Operator& op, std::span<const of_value> arguments);

// Returns where the results of a call go.
of_call_form form_of(const Call& call);

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_LAYERS_H_
