// Converts what stands for tensors and numbers: arrays for tensors, tensors without dimensions for numbers.
#include <vector>

#include "objects/binder.h"
#include "objects/language.h"

namespace oneflow::objects {

of_data Binder::make_tensor(const char* function, const std::string& name, const of_type& type, of_native value) {
  const int32_t kind = type.kind == OF_TYPE_OPERAND && type.items != nullptr ? type.items->kind : type.kind;
  const of_tensor_request request = {function, name.c_str(), device_, kind == OF_TYPE_INTEGERS};
  of_tensor tensor = nullptr;
  const of_status status = language_.tensor(context_, value, &request, &tensor);
  if (status == OF_INTERRUPTED) throw Raised();
  if (status != OF_OK) throw Error(status, of_last_error());
  store_.tensors.push_back(tensor);
  return {OF_DATA_TENSOR, 0, {.tensor = tensor}, {}, nullptr};
}

of_data Binder::convert_array(const std::string& name, const of_type& type, of_native value) {
  const bool may_be_array = device_ != nullptr && type.kind != OF_TYPE_WRITTEN;
  if (!may_be_array || !language_.is_array(context_, value)) return refuse_type(name, type, value);
  if (type.kind == OF_TYPE_SINGLE && language_.find_tensor(context_, value) != nullptr)
    return refuse(OF_TYPE_MISMATCH, name + " must be one " + type.word + ", got several: the functions of " +
                                        type.name + " take one for each device of a process");
  return make_tensor(function_, name, type, value);
}

// Returns the number in a real tensor without dimensions; other data itself.
of_data Binder::number_in(const of_data& found) const {
  if (device_ == nullptr || found.kind != OF_DATA_TENSOR || of_tensor_rank(found.as.tensor) != 0) return found;
  const of_dtype dtype = of_tensor_dtype(found.as.tensor);
  if (dtype == OF_COMPLEX64 || dtype == OF_COMPLEX128) return found;
  of_scalar scalar{};
  if (const of_status status = of_tensor_item(found.as.tensor, &scalar)) throw Error(status, of_last_error());
  switch (scalar.kind) {
    case OF_SCALAR_BOOL:
      return {OF_DATA_BOOL, 0, {.boolean = scalar.as.integer != 0}, {}, nullptr};
    case OF_SCALAR_INT:
      return {OF_DATA_INT, 0, {.integer = scalar.as.integer}, {}, nullptr};
    case OF_SCALAR_UINT:
      return {OF_DATA_UINT, 0, {.natural = scalar.as.natural}, {}, nullptr};
    default:
      return {OF_DATA_FLOAT, 0, {.real = scalar.as.real}, {}, nullptr};
  }
}

// Returns whether a tensor with one dimension stands for a list of integers.
bool Binder::is_list_of_integers(const of_type& type, const of_data& found) const {
  if (device_ == nullptr || type.items->kind != OF_TYPE_INT || found.kind != OF_DATA_TENSOR) return false;
  const of_dtype dtype = of_tensor_dtype(found.as.tensor);
  const bool is_integer = dtype == OF_UINT8 || dtype == OF_INT8 || dtype == OF_INT16 || dtype == OF_UINT16 ||
                          dtype == OF_INT32 || dtype == OF_UINT32 || dtype == OF_INT64;
  return is_integer && of_tensor_rank(found.as.tensor) == 1;
}

// Returns the elements of a tensor with one dimension.
of_data Binder::integers_in(of_tensor tensor) {
  of_value arguments[2] = {}, result = {};
  arguments[0].kind = OF_VALUE_TENSOR;
  arguments[0].as.tensor = tensor;
  arguments[1].kind = OF_VALUE_DTYPE;
  arguments[1].as.dtype = OF_INT64;
  const auto check_call = [](of_status status) {
    if (status != OF_OK) throw Error(status, of_last_error());
  };
  check_call(of_call(of_op_find("cast"), arguments, 2, &result, 1));
  store_.tensors.push_back(result.as.tensor);
  std::vector<int64_t> elements(static_cast<size_t>(of_tensor_count(tensor)));
  check_call(of_tensor_read(result.as.tensor, elements.data(), elements.size() * sizeof(int64_t)));
  of_data* items = store_.memory.allocate<of_data>(elements.size());
  for (size_t i = 0; i < elements.size(); ++i) items[i] = {OF_DATA_INT, 0, {.integer = elements[i]}, {}, nullptr};
  return {OF_DATA_LIST, static_cast<uint32_t>(elements.size()), {.items = items}, {}, nullptr};
}

}  // namespace oneflow::objects
