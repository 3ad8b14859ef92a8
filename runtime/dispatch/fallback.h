// The fallback layer: runs the calls that a device has no kernel for on the host, on copies of their tensors.
#ifndef ONEFLOW_DISPATCH_FALLBACK_H_
#define ONEFLOW_DISPATCH_FALLBACK_H_

#include <string>

#include "dispatch/layers.h"

namespace oneflow {

// The function of the layer OF_LAYER_FALLBACK. It counts the calls that it runs on the host, and lets them fail if
// fallback_is_error(), or if the host has no kernel either. The calls of a body fall back by themselves.
of_status fall_back(void* context, of_layer_call* state);

// Counts a call that takes its tensors through the host itself, because its device has no `missing`; see
// leave_to_fallback(). Throws if fallbacks are errors.
void note_fallback(const Call& call, const std::string& missing);

// Makes the calls of a body leave their fallback to the call around them, for as long as the object lives.
class FallsBackWhole : OpenLayers {
 public:
  FallsBackWhole() : OpenLayers(thread_state.open_layers & ~(uint32_t{1} << OF_LAYER_FALLBACK)) {}
};

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_FALLBACK_H_
