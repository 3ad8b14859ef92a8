// The node of a function of a user, which computes its gradients itself.
#ifndef ONEFLOW_AUTOGRAD_FUNCTION_NODE_H_
#define ONEFLOW_AUTOGRAD_FUNCTION_NODE_H_

#include <oneflow/autograd.h>

#include <memory>
#include <span>
#include <string>

#include "autograd/node.h"

namespace oneflow::autograd {

// What belongs to a function of a user, which is freed with the last reference.
using Context = std::shared_ptr<void>;

// Makes the outputs results of the function, if an input requires a gradient and the thread records.
void record_function(const char* name, std::span<const of_tensor> inputs, std::span<const of_tensor> outputs,
                     of_backward_function backward, Context context);

}  // namespace oneflow::autograd

#endif  // ONEFLOW_AUTOGRAD_FUNCTION_NODE_H_
