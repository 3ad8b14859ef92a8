// Values of a model while it is loaded.
//
// Loading runs the model once per run of the capture (oneflow/graph.h). A value whose elements follow from constants
// and from sizes of inputs is known: it is computed at once and not recorded. Most known values are shapes and axes,
// which become numbers in the graph. One that varies with sizes and is needed as a tensor is recorded after all.
#ifndef ONEFLOW_ONNX_VALUE_H_
#define ONEFLOW_ONNX_VALUE_H_

#include <functional>
#include <memory>
#include <oneflow/oneflow.hpp>
#include <string>
#include <vector>

namespace oneflow::onnx {

struct Value;
using ValueRef = std::shared_ptr<Value>;

// Calls that are recorded only if one of their results is needed as a tensor.
struct PendingCalls {
  std::function<std::vector<Tensor>()> record;
  std::vector<std::weak_ptr<Value>> results;
};

struct Value {
  std::string name;
  Tensor known = {};                           // the elements; empty if they are not known
  bool varies = false;                         // whether known elements depend on sizes of inputs
  Tensor recorded = {};                        // stands for the value in the graph; empty if it is not recorded yet
  std::shared_ptr<PendingCalls> pending = {};  // of a value that varies

  bool is_known() const { return !known.is_empty_handle(); }
  // Returns what stands for the value in the graph: a constant, or the result of recorded calls.
  const Tensor& in_graph() {
    if (!recorded.is_empty_handle()) return recorded;
    if (!varies) return recorded = known;
    const std::vector<Tensor> tensors = pending->record();
    for (size_t i = 0; i < tensors.size(); ++i)
      if (const ValueRef result = pending->results[i].lock()) result->recorded = tensors[i];
    return recorded;
  }
};

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_VALUE_H_
