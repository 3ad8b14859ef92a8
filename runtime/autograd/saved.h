// The values of a call that its gradient reads.
#ifndef ONEFLOW_AUTOGRAD_SAVED_H_
#define ONEFLOW_AUTOGRAD_SAVED_H_

#include <memory>
#include <string>
#include <vector>

#include "autograd/node.h"

namespace oneflow::autograd {

// A tensor of a call, as it was after the call.
class SavedTensor {
 public:
  SavedTensor() = default;
  // Saves an operand, with its history.
  static SavedTensor of(TensorRef tensor);
  // Saves only the shape, the layout, the dtype and the device.
  static SavedTensor form_of(const Tensor& tensor);
  // Saves a result. Its history is the node that saves it, so that it is added only by get().
  static SavedTensor result(const Tensor& tensor);

  // Returns the tensor. Throws InvalidArgument if its memory was written to since; `caller` is the recorded call.
  // `origin` is the history that a result gets.
  TensorRef get(const char* caller, Edge origin) const;

 private:
  TensorRef tensor_;
  uint64_t version_ = 0;
  bool is_result_ = false;
};

// An argument of a call: a tensor, a list of tensors, or another value with its memory.
class SavedValue {
 public:
  // Saves no tensors: add() adds those of a tensor or of a list.
  static SavedValue of(const of_value& value);
  void add(SavedTensor tensor) { tensors_.push_back(std::move(tensor)); }

  // Returns the value for a call; its tensors live as long as `holder`.
  of_value get(const char* caller, std::vector<TensorRef>& holder, std::vector<of_tensor>& handles) const;

 private:
  of_value value_{};
  std::vector<SavedTensor> tensors_;
  std::vector<int64_t> integers_;
  std::vector<of_device> devices_;
  std::string text_;
};

}  // namespace oneflow::autograd

#endif  // ONEFLOW_AUTOGRAD_SAVED_H_
