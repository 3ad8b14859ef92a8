#include "autograd/saved.h"

#include <algorithm>

#include "autograd/variable.h"
#include "base/error.h"
#include "dispatch/layers.h"
#include "dispatch/values.h"

namespace oneflow::autograd {

SavedTensor SavedTensor::of(TensorRef tensor) {
  SavedTensor saved;
  saved.version_ = tensor->has_memory() ? tensor->storage()->version() : 0;
  saved.tensor_ = std::move(tensor);
  return saved;
}

SavedTensor SavedTensor::form_of(const Tensor& tensor) {
  // Layers that see the backward pass must recognize the tensor.
  const uint32_t others = wanted_layers(tensor.carried_layers()) & ~(uint32_t{1} << OF_LAYER_AUTOGRAD);
  return of(others ? detached(tensor) : Tensor::without_memory(tensor));
}

SavedTensor SavedTensor::result(const Tensor& tensor) {
  SavedTensor saved = of(detached(tensor));
  saved.is_result_ = true;
  return saved;
}

TensorRef SavedTensor::get(const char* caller, Edge origin) const {
  if (tensor_ && tensor_->has_memory() && tensor_->storage()->version() != version_) {
    const char* const writer = tensor_->storage()->last_writer();
    fail(OF_INVALID_ARGUMENT,
         "a tensor of shape %s, which the gradient of %s reads, was changed by %s: it is at version %llu, but %s has "
         "seen version %llu; clone it before the change",
         to_text(tensor_->sizes()).c_str(), caller, writer ? writer : "a write outside of operators",
         static_cast<unsigned long long>(tensor_->storage()->version()), caller,
         static_cast<unsigned long long>(version_));
  }
  if (!is_result_) return tensor_;
  TensorRef found = detached(*tensor_);
  if (origin.node) Variable::of(*found).set_origin(origin.node, origin.output);
  return found;
}

SavedValue SavedValue::of(const of_value& value) {
  SavedValue saved;
  saved.value_ = value;
  const auto count = static_cast<size_t>(std::max(value.count, 0));
  switch (value.kind) {
    case OF_VALUE_STRING:
      saved.text_.assign(value.as.string, count);
      break;
    case OF_VALUE_INT_LIST:
      saved.integers_.assign(value.as.integers, value.as.integers + count);
      break;
    case OF_VALUE_DEVICE_LIST:
      saved.devices_.assign(value.as.devices, value.as.devices + count);
      break;
    default:
      break;
  }
  return saved;
}

of_value SavedValue::get(const char* caller, std::vector<TensorRef>& holder, std::vector<of_tensor>& handles) const {
  of_value value = value_;
  switch (value.kind) {
    case OF_VALUE_STRING:
      value.as.string = text_.data();
      break;
    case OF_VALUE_INT_LIST:
      value.as.integers = integers_.data();
      break;
    case OF_VALUE_DEVICE_LIST:
      value.as.devices = devices_.data();
      break;
    case OF_VALUE_TENSOR:
      holder.push_back(tensors_[0].get(caller, {}));
      return to_value(*holder.back());
    case OF_VALUE_TENSOR_LIST:
      for (const SavedTensor& each : tensors_) {
        holder.push_back(each.get(caller, {}));
        handles.push_back(to_handle(holder.back().get()));
      }
      return to_value(std::span(handles));
    default:
      break;
  }
  return value;
}

}  // namespace oneflow::autograd
