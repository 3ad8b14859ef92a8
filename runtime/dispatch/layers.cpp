#include "dispatch/layers.h"

#include <deque>
#include <mutex>

#include "base/error.h"

namespace oneflow {

std::atomic<int> layer_count{0};

namespace {

struct Layer {
  of_layer_function function;
  void* context;
};

std::atomic<const Layer*> layers[OF_LAYER_COUNT];

}  // namespace

void set_layer(of_layer layer, of_layer_function function, void* context) {
  // A layer is never freed, because calls on other threads may still use it after it was replaced.
  static std::deque<Layer>& all = *new std::deque<Layer>;
  static std::mutex& mutex = *new std::mutex;
  if (static_cast<unsigned>(layer) >= OF_LAYER_COUNT)
    fail(OF_INVALID_ARGUMENT, "layer must be between 0 and %d, got %d", OF_LAYER_COUNT - 1, static_cast<int>(layer));
  const std::lock_guard lock(mutex);
  const bool was_there = layers[layer].load() != nullptr;
  layers[layer] = function ? &all.emplace_back(Layer{function, context}) : nullptr;
  layer_count += (function != nullptr) - was_there;
}

bool enter_layer(int first, const Operator& op, std::span<const of_value> arguments, std::span<of_value> results) {
  for (int i = first; i < OF_LAYER_COUNT; ++i) {
    if (const Layer* layer = layers[i].load(std::memory_order_acquire)) {
      of_layer_call call{i};
      const of_status status = layer->function(layer->context, &call, to_handle(&op), arguments.data(),
                                               arguments.size(), results.data(), results.size());
      if (status != OF_OK) throw Error(status, last_error(), last_error_is_complete());
      return true;
    }
  }
  return false;
}

}  // namespace oneflow
