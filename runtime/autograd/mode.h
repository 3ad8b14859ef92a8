// Whether the calls of a thread are recorded.
#ifndef ONEFLOW_AUTOGRAD_MODE_H_
#define ONEFLOW_AUTOGRAD_MODE_H_

#include <oneflow/oneflow.h>

#include "dispatch/layers.h"

namespace oneflow::autograd {

inline constexpr uint32_t kLayerBit = uint32_t{1} << OF_LAYER_AUTOGRAD;

// Returns whether the calls of the thread are recorded.
inline bool is_recording() { return thread_state.open_layers & kLayerBit; }
inline void set_recording(bool on) {
  thread_state.open_layers = on ? thread_state.open_layers | kLayerBit : thread_state.open_layers & ~kLayerBit;
}

// Switches recording on or off for as long as the object lives.
class GradMode {
 public:
  explicit GradMode(bool on) : before_(is_recording()) { set_recording(on); }
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;
  ~GradMode() { set_recording(before_); }

 private:
  const bool before_;
};

}  // namespace oneflow::autograd

#endif  // ONEFLOW_AUTOGRAD_MODE_H_
