// Converts single values.
#include <oneflow/processes.h>

#include <cstring>

#include "objects/binder.h"
#include "objects/language.h"

namespace oneflow::objects {
namespace {

// Returns whether an object of a class is disposed, or a tensor without a name.
bool is_disposed(const of_data& found, const char* class_name) {
  if (found.kind != OF_DATA_DISPOSED) return false;
  if (class_name == nullptr || found.of.object == nullptr) return class_name == nullptr && found.of.object == nullptr;
  return std::strcmp(found.of.object->name, class_name) == 0;
}

bool is_integer(const of_data& found) { return found.kind >= OF_DATA_INT && found.kind <= OF_DATA_LARGE; }
bool is_number(const of_data& found) {
  return found.kind == OF_DATA_BOOL || found.kind == OF_DATA_INT || found.kind == OF_DATA_UINT ||
         found.kind == OF_DATA_FLOAT;
}
bool is_text(const of_data& found) { return found.kind == OF_DATA_TEXT || found.kind == OF_DATA_BAD_TEXT; }

// Groups live for ever, and their texts, too.
of_data text_of_group(of_group group) {
  const char* const text = of_group_text(group);
  return {OF_DATA_TEXT, static_cast<uint32_t>(std::strlen(text)), {.text = text}, {}, nullptr};
}

}  // namespace

of_data Binder::refuse_type(const std::string& name, const of_type& type, of_native value) {
  if (!says_types_) {
    refusal_.status = OF_TYPE_MISMATCH;
    return {};
  }
  return refuse(OF_TYPE_MISMATCH, name + " must be " + type.word + ", got " + language_.type_name(context_, value));
}

of_data Binder::refuse_disposed(const std::string& name, const of_type& type) {
  if (is_function_ && type.kind != OF_TYPE_OBJECT)
    return refuse(OF_INVALID_ARGUMENT, name + " " + language_.disposed_text);
  const std::string word = type.kind == OF_TYPE_OBJECT ? type.name : "Tensor";
  return refuse(OF_INVALID_ARGUMENT, name + " must be a live " + word + ", got " + language_.disposed_word);
}

of_data Binder::refuse_too_large(const std::string& name) {
  return refuse(OF_INVALID_ARGUMENT, name + " must fit into 64 bits, got a larger integer");
}

// Keeps the tensor or the object of an argument: code of the language that runs meanwhile may release it.
of_data Binder::keep(const of_data& found) {
  if (found.kind == OF_DATA_TENSOR) store_.keep(found.as.tensor);
  if (found.kind == OF_DATA_OBJECT) store_.keep(found.of.object, found.as.object);
  return found;
}

// Returns whether a value is of a type as it is.
bool Binder::accepts(const of_type& type, const of_data& found) const {
  if (found.kind == OF_DATA_NONE) return type.is_optional;
  switch (type.kind) {
    case OF_TYPE_BOOL:
      return found.kind == OF_DATA_BOOL;
    case OF_TYPE_TRUE:
    case OF_TYPE_FALSE:
      return found.kind == OF_DATA_BOOL && found.as.boolean == (type.kind == OF_TYPE_TRUE);
    case OF_TYPE_INT:
      return found.kind == OF_DATA_INT;
    case OF_TYPE_FLOAT:
      return found.kind == OF_DATA_FLOAT;
    case OF_TYPE_NUMBER:
      return is_number(found);
    case OF_TYPE_OPERAND:
      return is_number(found) || found.kind == OF_DATA_TENSOR;
    case OF_TYPE_TENSOR:
    case OF_TYPE_WRITTEN:
    case OF_TYPE_INTEGERS:
    case OF_TYPE_ARRAY:
    case OF_TYPE_SINGLE:
      return found.kind == OF_DATA_TENSOR;
    case OF_TYPE_DTYPE:
      return found.kind == OF_DATA_DTYPE;
    case OF_TYPE_DEVICE:
      return found.kind == OF_DATA_DEVICE;
    case OF_TYPE_OBJECT:
      return found.kind == OF_DATA_OBJECT && std::strcmp(found.of.object->name, type.name) == 0;
    case OF_TYPE_POSITIVE:
      return found.kind == OF_DATA_INT && found.as.integer > 0;
    case OF_TYPE_VALUE:
      return true;
    default:
      return false;
  }
}

of_data Binder::convert(const std::string& name, const of_type& type, of_native value) {
  const of_data found = look(value);
  if (accepts(type, found)) return keep(found);
  switch (type.kind) {
    case OF_TYPE_BOOL:
    case OF_TYPE_TRUE:
    case OF_TYPE_FALSE:
    case OF_TYPE_INT:
    case OF_TYPE_WORD:
    case OF_TYPE_FLOAT:
    case OF_TYPE_NUMBER:
      return convert_number(name, type, number_in(found), value);
    case OF_TYPE_OPERAND:
      if (found.kind == OF_DATA_LARGE) return refuse_too_large(name);
      [[fallthrough]];
    case OF_TYPE_TENSOR:
    case OF_TYPE_WRITTEN:
    case OF_TYPE_INTEGERS:
    case OF_TYPE_SINGLE:
      if (is_disposed(found, nullptr)) return refuse_disposed(name, type);
      return convert_array(name, type, value);
    case OF_TYPE_ARRAY:
      return make_tensor(function_, name, type, value);
    case OF_TYPE_POSITIVE:
      return refuse(OF_TYPE_MISMATCH, name + " must be " + type.word + ", got " + printed(language_, context_, value));
    case OF_TYPE_PATH:
      return convert_path(name, type, value);
    case OF_TYPE_RANGE:
      return convert_range(name, value);
    case OF_TYPE_SIZE:
      return convert_size(name, type, value);
    case OF_TYPE_NESTED:
      return convert_nested(name, type, value, 0);
    case OF_TYPE_DATA:
      return convert_any(name, value, 0);
    case OF_TYPE_FUNCTION:
      if (found.kind == OF_DATA_FUNCTION) return convert_function(value);
      break;
    case OF_TYPE_TEXT:
      if (is_text(found)) return convert_text(name, found);
      break;
    case OF_TYPE_STRING:
      if (is_text(found)) return convert_string(name, found, value);
      break;
    case OF_TYPE_DTYPE:
      if (is_text(found)) return convert_dtype(name, found, value);
      break;
    case OF_TYPE_DEVICE:
      if (is_text(found)) return convert_device(name, found, value);
      break;
    case OF_TYPE_OBJECT:
      if (is_disposed(found, type.name)) return refuse_disposed(name, type);
      break;
    case OF_TYPE_GROUP:
      if (is_text(found)) return convert_string(name, found, value);
      if (found.kind == OF_DATA_OBJECT && std::strcmp(found.of.object->name, type.name) == 0)
        return text_of_group(static_cast<of_group>(found.as.object));
      break;
    case OF_TYPE_ITEMS:
      return found.kind == OF_DATA_LIST ? convert_list(name, type, found, value)
                                        : convert_single(name, type, found, value);
    case OF_TYPE_LIST:
      if (found.kind == OF_DATA_LIST) return convert_list(name, type, found, value);
      break;
    case OF_TYPE_PAIR:
    case OF_TYPE_INTS:
      return convert_pair(name, type, found, value);
    case OF_TYPE_OUTPUTS:
      return convert_outputs(name, type, found, value);
    case OF_TYPE_MAP:
      if (found.kind == OF_DATA_MAP) return convert_map(name, type, found, value);
      break;
    case OF_TYPE_RECORD:
      if (found.kind == (language_.names_fields ? OF_DATA_MAP : OF_DATA_LIST))
        return convert_record(name, type, found, value);
      break;
    default:
      break;
  }
  return refuse_type(name, type, value);
}

of_data Binder::convert_number(const std::string& name, const of_type& type, of_data found, of_native value) {
  if (accepts(type, found)) return found;
  const bool is_of_integers = type.kind == OF_TYPE_INT || type.kind == OF_TYPE_WORD;
  if (is_of_integers) return convert_integer(name, type, found, value);
  if (type.kind == OF_TYPE_FLOAT) return convert_float(name, type, found, value);
  if (type.kind == OF_TYPE_NUMBER && found.kind == OF_DATA_LARGE) return refuse_too_large(name);
  return refuse_type(name, type, value);
}

of_data Binder::convert_integer(const std::string& name, const of_type& type, of_data found, of_native value) {
  if ((found.kind == OF_DATA_OTHER || found.kind == OF_DATA_FLOAT) && language_.index != nullptr)
    check_language(language_.index(context_, value, &found));
  if (!is_integer(found)) return refuse_type(name, type, value);
  if (found.kind == OF_DATA_INT || (found.kind == OF_DATA_UINT && type.kind == OF_TYPE_WORD)) return found;
  if (type.kind != OF_TYPE_WORD || language_.too_large == nullptr) return refuse_too_large(name);
  return refuse(OF_INVALID_ARGUMENT,
                name + " must " + language_.too_large + ", got " + printed(language_, context_, value));
}

of_data Binder::convert_float(const std::string& name, const of_type& type, of_data found, of_native value) {
  if (is_function_ && found.kind == OF_DATA_LARGE) return refuse_too_large(name);
  double real = 0;
  if (found.kind == OF_DATA_INT) {
    real = static_cast<double>(found.as.integer);
  } else if (found.kind == OF_DATA_UINT) {
    real = static_cast<double>(found.as.natural);
  } else if (found.kind == OF_DATA_BOOL && is_function_ && language_.counts_flags) {
    real = found.as.boolean ? 1 : 0;
  } else {
    return refuse_type(name, type, value);
  }
  return {OF_DATA_FLOAT, 0, {.real = real}, {}, nullptr};
}

of_data Binder::convert_text(const std::string& name, of_data found) {
  if (found.kind == OF_DATA_BAD_TEXT) return refuse(OF_INVALID_ARGUMENT, name + " must be valid Unicode");
  if (std::memchr(found.as.text, 0, found.count) != nullptr)
    return refuse(OF_INVALID_ARGUMENT, name + " must not have a null byte");
  found.as.text = store_.memory.copy({found.as.text, found.count});
  return found;
}

// Converts a text that may be invalid UTF-8.
of_data Binder::convert_string(const std::string& name, of_data found, of_native value) {
  if (language_.longest_text != 0 && found.count > language_.longest_text) {
    return refuse(OF_INVALID_ARGUMENT, name + " must have at most " + std::to_string(language_.longest_text) +
                                           " characters, got " + std::to_string(found.count));
  }
  if (found.as.text == nullptr)
    return refuse(OF_INVALID_ARGUMENT, name + " must be " + language_.text_condition(context_, value));
  found.kind = OF_DATA_TEXT;
  return convert_text(name, found);
}

of_data Binder::convert_dtype(const std::string& name, const of_data& found, of_native value) {
  of_data result = {OF_DATA_DTYPE, 0, {}, {}, nullptr};
  const of_data text = convert_string(name, found, value);
  if (is_refused()) return text;
  if (of_dtype_parse(text.as.text, &result.as.dtype) == OF_OK) return result;
  std::string shown = text.as.text;
  if (found.kind == OF_DATA_BAD_TEXT) {  // as a literal, without its quotes
    shown = language_.print(context_, value);
    const size_t begin = shown.find('"'), end = shown.rfind('"');
    if (begin < end) shown = shown.substr(begin + 1, end - begin - 1);
  }
  return refuse(OF_INVALID_ARGUMENT, name + " must be the name of a dtype, got " + quoted(shown));
}

of_data Binder::convert_device(const std::string& name, const of_data& found, of_native value) {
  of_data result = {OF_DATA_DEVICE, 0, {}, {}, nullptr};
  progress_.is_likely = true;  // an unknown name rather stands for a device than for a dtype
  const of_data text = convert_string(name, found, value);
  if (is_refused()) return text;
  const of_status status = of_device_parse(text.as.text, &result.as.device);
  if (status != OF_OK) return refuse(status, of_last_error());
  return result;
}

of_data Binder::convert_path(const std::string& name, const of_type& type, of_native value) {
  of_data path{};
  const of_status status = language_.path(context_, value, &path);
  if (status == OF_INTERRUPTED) throw Raised();
  if (status != OF_OK) return refuse(status, name + " must " + of_last_error());
  if (is_text(path)) return convert_text(name, path);
  return refuse_type(name, type, value);
}

of_data Binder::convert_size(const std::string& name, const of_type& type, of_native value) {
  of_data found = look(value);
  if (is_text(found)) return convert_text(name, found);
  if (found.kind == OF_DATA_OTHER && language_.index != nullptr)
    check_language(language_.index(context_, value, &found));
  if (found.kind == OF_DATA_INT && found.as.integer > 0) return bounds_of({found.as.integer, found.as.integer, 1});
  const bool is_number = found.kind == OF_DATA_INT || found.kind == OF_DATA_BOOL || found.kind == OF_DATA_NONE;
  int64_t bounds[3] = {};
  if (!is_number && language_.range(context_, value, bounds) == OF_OK) return bounds_of(bounds);
  if (found.kind == OF_DATA_MAP && language_.names_fields)
    return refuse(OF_TYPE_MISMATCH, name + " must " + of_last_error());
  return refuse(OF_TYPE_MISMATCH, name + " must be " + type.word + ", got " + printed(language_, context_, value));
}

// Returns the minimum, the maximum and the step of a size as data.
of_data Binder::bounds_of(const int64_t (&bounds)[3]) {
  of_data* items = store_.memory.allocate<of_data>(3);
  for (int i = 0; i < 3; ++i) items[i] = {OF_DATA_INT, 0, {.integer = bounds[i]}, {}, nullptr};
  return {OF_DATA_LIST, 3, {.items = items}, {}, nullptr};
}

of_data Binder::convert_range(const std::string& name, of_native value) {
  int64_t bounds[3] = {};
  const of_status status = language_.range(context_, value, bounds);
  if (status == OF_INTERRUPTED) throw Raised();
  if (status != OF_OK) return refuse(status, name + " must " + of_last_error());
  return bounds_of(bounds);
}

of_data Binder::convert_function(of_native value) {
  store_.functions.push_back({std::make_shared<const Function>(language_, context_, value)});
  return {OF_DATA_FUNCTION, 0, {.function = &store_.functions.back()}, {}, nullptr};
}

}  // namespace oneflow::objects
