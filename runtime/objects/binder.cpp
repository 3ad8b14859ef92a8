#include "objects/binder.h"

#include <oneflow/front_end.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace oneflow::objects {
namespace {

constexpr uint32_t kLongestList = INT32_MAX;

void check_language(of_status status) {
  if (status != OF_OK) throw Raised();
}

// Returns "; pass dtype or device by name" for parameters of which some are passed by name only; else "".
std::string by_name(std::span<const of_parameter> parameters) {
  std::vector<std::string> names;
  for (const of_parameter& each : parameters)
    if (each.is_named) names.emplace_back(each.name);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return text.empty() ? "" : "; pass " + text + " by name";
}

}  // namespace

void Binder::refuse(of_status status, const std::string& text) const {
  throw Error(status, std::string(method_.name) + ": " + text);
}

void Binder::refuse_type(const std::string& name, const of_type& type, of_native value) const {
  refuse(OF_TYPE_MISMATCH, name + " must be " + type.word + ", got " + language_.type_name(context_, value));
}

void Binder::refuse_count(size_t count) const {
  const uint32_t most = positional_count();
  refuse(OF_TYPE_MISMATCH, "takes at most " + std::to_string(most) + " positional argument" + (most == 1 ? "" : "s") +
                               ", got " + std::to_string(count) + by_name(parameters()));
}

uint32_t Binder::positional_count() const {
  const auto is_positional = [](const of_parameter& each) { return !each.is_named; };
  return static_cast<uint32_t>(std::count_if(parameters().begin(), parameters().end(), is_positional));
}

of_data Binder::look(of_native value) {
  of_data found{};
  check_language(language_.look(context_, value, &found));
  return found;
}

of_data* Binder::bind(const Given& given) {
  Native* natives = memory_.allocate<Native>(method_.parameter_count);
  std::span<const of_native> positional = given.positional;
  const bool has_options = is_options(positional);
  if (has_options) positional = positional.first(positional.size() - 1);
  if (positional.size() > positional_count()) refuse_count(positional.size());
  for (size_t i = 0; i < positional.size(); ++i) natives[i] = {positional[i], true};
  for (size_t i = 0; i < given.names.size(); ++i) assign_named(given.names[i], given.named[i], natives);
  if (has_options) assign_options(given.positional.back(), natives);

  of_data* arguments = memory_.allocate<of_data>(method_.parameter_count);
  for (uint32_t i = 0; i < method_.parameter_count; ++i) {
    if (natives[i].is_given && look(natives[i].value).kind == OF_DATA_ABSENT) natives[i].is_given = false;
    if (!natives[i].is_given && parameters()[i].is_required)
      refuse(OF_TYPE_MISMATCH, std::string("missing argument ") + parameters()[i].name);
  }
  for (uint32_t i = 0; i < method_.parameter_count; ++i) {
    const of_parameter& parameter = parameters()[i];
    if (!natives[i].is_given) continue;
    const bool may_stand_for_default = !parameter.is_required && !parameter.type->is_optional;
    if (may_stand_for_default && look(natives[i].value).kind == OF_DATA_NONE) continue;
    arguments[i] = convert(parameter.name, *parameter.type, natives[i].value);
  }
  return arguments;
}

// Returns whether the last positional argument has the arguments by name: a map where the parameter is no map, or after
// the last one.
bool Binder::is_options(std::span<const of_native> positional) {
  if (!language_.has_options || positional.empty() || method_.parameter_count == 0) return false;
  const size_t last = positional.size() - 1;
  if (last > positional_count() || look(positional[last]).kind != OF_DATA_MAP) return false;
  return last == positional_count() ? last < method_.parameter_count : parameters().back().is_named;
}

void Binder::assign_named(const char* name, of_native value, Native* natives) {
  std::vector<const char*> names;
  for (const of_parameter& each : parameters()) names.push_back(each.name);
  const auto is_named = [=](const char* each) { return std::strcmp(each, name) == 0; };
  const auto at = static_cast<size_t>(std::find_if(names.begin(), names.end(), is_named) - names.begin());
  if (at == names.size()) {
    const int32_t nearest = of_nearest_name(name, names.data(), names.size());
    const std::string hint = nearest < 0 ? "" : std::string("; did you mean ") + names[nearest] + "?";
    refuse(OF_TYPE_MISMATCH, std::string("unknown argument ") + name + hint);
  }
  if (natives[at].is_given) refuse(OF_TYPE_MISMATCH, std::string("argument ") + name + " given twice");
  natives[at] = {value, true};
}

void Binder::assign_options(of_native options, Native* natives) {
  const uint32_t count = look(options).count;
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    of_native value = nullptr;
    check_language(language_.entry(context_, options, i, &name, &value));
    if (name != nullptr && look(value).kind != OF_DATA_ABSENT) assign_named(name, value, natives);
  }
}

of_data Binder::convert(const std::string& name, const of_type& type, of_native value) {
  const of_data found = look(value);
  if (found.kind == OF_DATA_NONE && type.is_optional) return found;
  switch (type.kind) {
    case OF_TYPE_BOOL:
      if (found.kind == OF_DATA_BOOL) return found;
      break;
    case OF_TYPE_INT:
    case OF_TYPE_WORD:
      if (found.kind >= OF_DATA_INT && found.kind <= OF_DATA_LARGE) return convert_integer(name, type, found, value);
      break;
    case OF_TYPE_FLOAT:
      if (found.kind == OF_DATA_FLOAT) return found;
      if (found.kind == OF_DATA_INT) return {OF_DATA_FLOAT, 0, {.real = static_cast<double>(found.as.integer)}, {}};
      if (found.kind == OF_DATA_UINT) return {OF_DATA_FLOAT, 0, {.real = static_cast<double>(found.as.natural)}, {}};
      break;
    case OF_TYPE_TEXT:
      if (found.kind == OF_DATA_TEXT || found.kind == OF_DATA_BAD_TEXT) return convert_text(name, found);
      break;
    case OF_TYPE_DTYPE:
      if (found.kind == OF_DATA_DTYPE || found.kind == OF_DATA_TEXT) return convert_dtype(name, found);
      break;
    case OF_TYPE_DEVICE:
      if (found.kind == OF_DATA_DEVICE || found.kind == OF_DATA_TEXT) return convert_device(name, found);
      break;
    case OF_TYPE_TENSOR:
      if (found.kind == OF_DATA_TENSOR) return found;
      break;
    case OF_TYPE_OBJECT:
      if (found.kind != OF_DATA_OBJECT && found.kind != OF_DATA_DISPOSED) break;
      if (std::strcmp(found.of.object->name, type.name) != 0) break;
      if (found.kind == OF_DATA_OBJECT) return found;
      refuse(OF_INVALID_ARGUMENT, name + " must be a live " + type.name + ", got a disposed one");
    case OF_TYPE_LIST:
      if (found.kind == OF_DATA_LIST) return convert_list(name, type, found, value);
      break;
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
  refuse_type(name, type, value);
}

of_data Binder::convert_integer(const std::string& name, const of_type& type, of_data found, of_native value) {
  const bool fits = type.kind == OF_TYPE_WORD ? found.kind != OF_DATA_LARGE : found.kind == OF_DATA_INT;
  if (fits) return found;
  const bool has_own_text = type.kind == OF_TYPE_WORD && language_.too_large != nullptr;
  const std::string text = has_own_text ? std::string(language_.too_large) + ", got " + language_.print(context_, value)
                                        : "fit into 64 bits, got a larger integer";
  refuse(OF_INVALID_ARGUMENT, name + " must " + text);
}

of_data Binder::convert_text(const std::string& name, of_data found) {
  if (found.kind == OF_DATA_BAD_TEXT)
    refuse(OF_INVALID_ARGUMENT, name + " must be valid Unicode, got a lone surrogate");
  if (std::memchr(found.as.text, 0, found.count) != nullptr)
    refuse(OF_INVALID_ARGUMENT, name + " must not have a null byte");
  found.as.text = memory_.copy({found.as.text, found.count});
  return found;
}

of_data Binder::convert_dtype(const std::string& name, const of_data& found) {
  if (found.kind == OF_DATA_DTYPE) return found;
  of_data result = {OF_DATA_DTYPE, 0, {}, {}};
  const of_data text = convert_text(name, found);
  if (of_dtype_parse(text.as.text, &result.as.dtype) != OF_OK)
    refuse(OF_INVALID_ARGUMENT, name + " must be the name of a dtype, got '" + text.as.text + "'");
  return result;
}

of_data Binder::convert_device(const std::string& name, const of_data& found) {
  if (found.kind == OF_DATA_DEVICE) return found;
  of_data result = {OF_DATA_DEVICE, 0, {}, {}};
  const of_status status = of_device_parse(convert_text(name, found).as.text, &result.as.device);
  if (status != OF_OK) refuse(status, of_last_error());
  return result;
}

of_data Binder::convert_list(const std::string& name, const of_type& type, of_data found, of_native value) {
  if (found.count > kLongestList)
    refuse(OF_INVALID_ARGUMENT, name + " must have a length of at most " + std::to_string(kLongestList));
  of_data* items = memory_.allocate<of_data>(found.count);
  for (uint32_t i = 0; i < found.count; ++i) {
    of_native item = nullptr;
    check_language(language_.item(context_, value, i, &item));
    items[i] = convert(name + "[" + std::to_string(i) + "]", *type.items, item);
  }
  found.as.items = items;
  return found;
}

of_data Binder::convert_map(const std::string& name, const of_type& type, of_data found, of_native value) {
  of_data* items = memory_.allocate<of_data>(found.count);
  const char** keys = memory_.allocate<const char*>(found.count);
  for (uint32_t i = 0; i < found.count; ++i) {
    of_native item = nullptr;
    check_language(language_.entry(context_, value, i, &keys[i], &item));
    if (keys[i] == nullptr) refuse_type(name, type, value);
    keys[i] = memory_.copy(keys[i]);
    items[i] = convert(name + "['" + keys[i] + "']", *type.items, item);
  }
  found.as.items = items;
  found.of.keys = keys;
  return found;
}

of_data Binder::convert_record(const std::string& name, const of_type& type, of_data found, of_native value) {
  of_data* fields = memory_.allocate<of_data>(type.count);
  if (!language_.names_fields && found.count != type.count) refuse_type(name, type, value);
  for (uint32_t i = 0; i < type.count; ++i) {
    of_native item = nullptr;
    if (!language_.names_fields) {
      check_language(language_.item(context_, value, i, &item));
    } else {
      check_language(language_.field(context_, value, type.names[i], &item));
    }
    fields[i] = convert(type.names[i], type.items[i], item);
  }
  return {OF_DATA_LIST, type.count, {.items = fields}, {}};
}

}  // namespace oneflow::objects
