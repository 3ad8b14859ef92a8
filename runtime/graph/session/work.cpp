#include "graph/session/work.h"

namespace oneflow::graph {

OwnedArguments::OwnedArguments(const of_value* arguments, size_t count) : values_(arguments, arguments + count) {
  for (of_value& value : values_) {
    const auto items = static_cast<size_t>(value.count);
    switch (value.kind) {
      case OF_VALUE_STRING:
        value.as.string = strings_.emplace_back(value.as.string, items).data();
        break;
      case OF_VALUE_INT_LIST:
        value.as.integers = integers_.emplace_back(value.as.integers, value.as.integers + items).data();
        break;
      case OF_VALUE_DEVICE_LIST:
        value.as.devices = devices_.emplace_back(value.as.devices, value.as.devices + items).data();
        break;
      case OF_VALUE_TENSOR:
        value.as.tensor = nullptr;
        break;
      case OF_VALUE_TENSOR_LIST:
        value.as.tensors = nullptr;
        break;
      case OF_VALUE_GENERATOR:
        value.as.generator = nullptr;
        break;
      default:
        break;
    }
  }
}

}  // namespace oneflow::graph
