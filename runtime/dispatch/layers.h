// The layers that a call passes through before it reaches a kernel.
#ifndef ONEFLOW_DISPATCH_LAYERS_H_
#define ONEFLOW_DISPATCH_LAYERS_H_

#include <oneflow/oneflow.h>

#include <atomic>
#include <span>

#include "dispatch/operator.h"

// What a layer gets to go on with: where the call stands.
struct of_layer_call {
  int layer;
};

namespace oneflow {

// Installs a layer for the whole process; NULL removes it.
void set_layer(of_layer layer, of_layer_function function, void* context);

// How many layers are installed: what a call asks first.
extern std::atomic<int> layer_count;

// Passes a call to the first installed layer at or behind `first`. False when there is none left.
bool enter_layer(int first, const Operator& op, std::span<const of_value> arguments, std::span<of_value> results);

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_LAYERS_H_
