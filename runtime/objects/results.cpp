#include "objects/results.h"

#include <oneflow/front_end.h>

#include <algorithm>

#include "base/error.h"

namespace oneflow::objects {

Results::~Results() {
  for (const of_data& data : owned_) {
    if (data.kind == OF_DATA_TENSOR)
      of_tensor_release(data.as.tensor);
    else
      data.of.object->release(data.as.object);
  }
}

void Results::check_named(of_status status) const {
  if (status != OF_OK) of_error_set_caller(method_.name);
  check(status);
}

void Results::fail(of_status status, const std::string& text) const {
  throw Error(status, std::string(method_.name) + ": " + text);
}

of_data Results::text(std::string_view value) {
  return {OF_DATA_TEXT, static_cast<uint32_t>(value.size()), {.text = memory_.copy(value)}, {}, nullptr};
}

of_data Results::dtype(of_dtype value) const {
  return value == OF_DTYPE_NONE ? none() : of_data{OF_DATA_DTYPE, 0, {.dtype = value}, {}, nullptr};
}

of_data Results::tensor(of_tensor owned) {
  if (owned == nullptr) return none();
  return owned_.emplace_back(of_data{OF_DATA_TENSOR, 0, {.tensor = owned}, {}, nullptr});
}

of_data Results::object(const char* class_name, void* owned) {
  if (owned == nullptr) return none();
  return owned_.emplace_back(
      of_data{OF_DATA_OBJECT, 0, {.object = owned}, {.object = of_class_find(class_name)}, nullptr});
}

of_data Results::list(std::span<const of_data> items) {
  of_data* copies = memory_.allocate<of_data>(items.size());
  std::copy(items.begin(), items.end(), copies);
  return {OF_DATA_LIST, static_cast<uint32_t>(items.size()), {.items = copies}, {}, nullptr};
}

of_data Results::map(std::span<const of_data> items, std::span<const std::string> keys) {
  of_data map = list(items);
  const char** names = memory_.allocate<const char*>(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) names[i] = memory_.copy(keys[i]);
  map.kind = OF_DATA_MAP;
  map.of.keys = names;
  return map;
}

}  // namespace oneflow::objects
