#include "objects/values.h"

#include <span>

namespace oneflow::objects {
namespace {

std::span<const of_data> items_of(const of_data& list) { return {list.as.items, list.count}; }

of_value list_value(of_value_kind kind, size_t count) {
  of_value value{};
  value.kind = kind;
  value.count = static_cast<int32_t>(count);
  return value;
}

of_value tensor_list(const of_data& list, Memory& memory) {
  of_tensor* tensors = memory.allocate<of_tensor>(list.count);
  for (uint32_t i = 0; i < list.count; ++i)
    tensors[i] = list.as.items[i].kind == OF_DATA_TENSOR ? list.as.items[i].as.tensor : nullptr;
  of_value value = list_value(OF_VALUE_TENSOR_LIST, list.count);
  value.as.tensors = tensors;
  return value;
}

of_value device_list(const of_data& list, Memory& memory) {
  of_device* devices = memory.allocate<of_device>(list.count);
  for (uint32_t i = 0; i < list.count; ++i) devices[i] = list.as.items[i].as.device;
  of_value value = list_value(OF_VALUE_DEVICE_LIST, list.count);
  value.as.devices = devices;
  return value;
}

// Returns a list of integers: for a list of lists, that of their items, in which the length of a list precedes it.
of_value integer_list(const of_type& type, const of_data& list, Memory& memory) {
  const bool has_lengths = type.items->kind == OF_TYPE_INTS;
  size_t count = has_lengths ? list.count : 0;
  for (const of_data& item : items_of(list)) count += item.kind == OF_DATA_LIST ? item.count : 1;
  int64_t* integers = memory.allocate<int64_t>(count);
  int64_t* next = integers;
  for (const of_data& item : items_of(list)) {
    const std::span<const of_data> own = item.kind == OF_DATA_LIST ? items_of(item) : std::span(&item, 1);
    if (has_lengths) *next++ = static_cast<int64_t>(own.size());
    for (const of_data& integer : own) *next++ = integer.as.integer;
  }
  of_value value = list_value(OF_VALUE_INT_LIST, count);
  value.as.integers = integers;
  return value;
}

}  // namespace

of_value to_value(const of_type& type, const of_data& data, Memory& memory) {
  of_value value{};
  if (type.kind == OF_TYPE_VALUE) return value;
  switch (data.kind) {
    case OF_DATA_NONE:
      value.kind = OF_VALUE_NONE;
      break;
    case OF_DATA_BOOL:
      value.kind = OF_VALUE_BOOL;
      value.as.boolean = data.as.boolean;
      break;
    case OF_DATA_INT:
      value.kind = OF_VALUE_INT;
      value.as.integer = data.as.integer;
      break;
    case OF_DATA_UINT:
      value.kind = OF_VALUE_UINT;
      value.as.natural = data.as.natural;
      break;
    case OF_DATA_FLOAT:
      value.kind = OF_VALUE_FLOAT;
      value.as.real = data.as.real;
      break;
    case OF_DATA_TEXT:
      value.kind = OF_VALUE_STRING;
      value.count = static_cast<int32_t>(data.count);
      value.as.string = data.as.text;
      break;
    case OF_DATA_DTYPE:
      value.kind = OF_VALUE_DTYPE;
      value.as.dtype = data.as.dtype;
      break;
    case OF_DATA_DEVICE:
      value.kind = OF_VALUE_DEVICE;
      value.as.device = data.as.device;
      break;
    case OF_DATA_TENSOR:
      value.kind = OF_VALUE_TENSOR;
      value.as.tensor = data.as.tensor;
      break;
    case OF_DATA_OBJECT:
      value.kind = OF_VALUE_GENERATOR;
      value.as.generator = static_cast<of_generator>(data.as.object);
      break;
    case OF_DATA_LIST:
      switch (type.items->kind) {
        case OF_TYPE_TENSOR:
        case OF_TYPE_INTEGERS:
        case OF_TYPE_WRITTEN:
          return tensor_list(data, memory);
        case OF_TYPE_DEVICE:
          return device_list(data, memory);
        default:
          return integer_list(type, data, memory);
      }
    default:
      break;  // ABSENT
  }
  return value;
}

}  // namespace oneflow::objects
