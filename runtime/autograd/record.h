// The layer that records calls, so that backward passes can follow them.
#ifndef ONEFLOW_AUTOGRAD_RECORD_H_
#define ONEFLOW_AUTOGRAD_RECORD_H_

namespace oneflow::autograd {

// Installs the layer, unless it is. Throws InvalidArgument if the process has another layer in its place.
void install();

}  // namespace oneflow::autograd

#endif  // ONEFLOW_AUTOGRAD_RECORD_H_
