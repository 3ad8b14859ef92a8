// The layers that a call passes through before it reaches a kernel.
#ifndef ONEFLOW_DISPATCH_LAYERS_H_
#define ONEFLOW_DISPATCH_LAYERS_H_

#include <oneflow/oneflow.h>

#include <atomic>
#include <span>

#include "dispatch/operator.h"

// The state of a call within a layer, with which of_layer_next() continues.
struct of_layer_call {
  int layer;  // the layer that received the call
};

namespace oneflow {

// Installs the function of a layer for the whole process; null removes it. Throws InvalidArgument for an invalid layer.
void set_layer(of_layer layer, of_layer_function function, void* context);

// The number of installed layers. Calls skip the layers if it is 0.
extern std::atomic<int> layer_count;

// Passes a call to the first installed layer from `first` on, and throws the failure that it returns. Returns false if
// there is no such layer.
bool enter_layer(int first, const Operator& op, std::span<const of_value> arguments, std::span<of_value> results);

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_LAYERS_H_
