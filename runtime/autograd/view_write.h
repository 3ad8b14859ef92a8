// Writes to views, which change the history of the tensor that they are views of.
#ifndef ONEFLOW_AUTOGRAD_VIEW_WRITE_H_
#define ONEFLOW_AUTOGRAD_VIEW_WRITE_H_

#include "autograd/node.h"

namespace oneflow::autograd {

// Makes the base of a view the result of a write of output `output` of `node` to the view. The origins of all views of
// this base are out of date from then on.
void record_view_write(const Tensor& view, const Ref<Node>& node, int output);

}  // namespace oneflow::autograd

#endif  // ONEFLOW_AUTOGRAD_VIEW_WRITE_H_
