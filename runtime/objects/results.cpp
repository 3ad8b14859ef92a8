#include "objects/results.h"

#include <algorithm>

namespace oneflow::objects {

Results::~Results() {
  for (const of_data& data : owned_) {
    if (data.kind == OF_DATA_TENSOR)
      of_tensor_release(data.as.tensor);
    else
      data.of.object->release(data.as.object);
  }
}

of_data Results::text(std::string_view value) {
  return {OF_DATA_TEXT, static_cast<uint32_t>(value.size()), {.text = memory_.copy(value)}, {}};
}

of_data Results::dtype(of_dtype value) const {
  return value == OF_DTYPE_NONE ? none() : of_data{OF_DATA_DTYPE, 0, {.dtype = value}, {}};
}

of_data Results::tensor(of_tensor owned) {
  if (owned == nullptr) return none();
  return owned_.emplace_back(of_data{OF_DATA_TENSOR, 0, {.tensor = owned}, {}});
}

of_data Results::object(const char* class_name, void* owned) {
  if (owned == nullptr) return none();
  return owned_.emplace_back(of_data{OF_DATA_OBJECT, 0, {.object = owned}, {.object = of_class_find(class_name)}});
}

of_data Results::list(std::span<const of_data> items) {
  of_data* copies = memory_.allocate<of_data>(items.size());
  std::copy(items.begin(), items.end(), copies);
  return {OF_DATA_LIST, static_cast<uint32_t>(items.size()), {.items = copies}, {}};
}

}  // namespace oneflow::objects
