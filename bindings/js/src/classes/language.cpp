#include "classes/language.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "functions.h"
#include "pins.h"

namespace oneflow::node {
namespace {

const of_type kAnyType = {OF_TYPE_DATA, false, "any", nullptr, 0, nullptr, nullptr};

CallContext& context_of(void* context) { return *static_cast<CallContext*>(context); }

Napi::Value value_of(void* context, of_native value) {
  return {context_of(context).environment.env(), static_cast<napi_value>(value)};
}

// Calls a function that may throw an exception of JavaScript, which stays pending then.
template <class Work>
of_status guarded(const Work& work) {
  try {
    work();
    return OF_OK;
  } catch (const Napi::Error& error) {
    throw_in_js(error);
    return OF_INTERRUPTED;
  }
}

const std::string& keep(void* context, std::string text) {
  return context_of(context).texts.emplace_back(std::move(text));
}

// ------------------------------------------------------------------------------------------------ arguments

void look_at_number(const CallContext& context, const Napi::Value& value, of_data* data) {
  constexpr double kLargestSafe = 9007199254740991.0, kEnd = 9223372036854775808.0;
  const double number = value.As<Napi::Number>();
  const bool is_in_range = context.is_function ? number >= -kEnd && number < kEnd : std::abs(number) <= kLargestSafe;
  if (is_in_range && number == static_cast<double>(static_cast<int64_t>(number))) {
    data->kind = OF_DATA_INT;
    data->as.integer = static_cast<int64_t>(number);
  } else {
    data->kind = OF_DATA_FLOAT;
    data->as.real = number;
  }
}

void look_at_bigint(const Napi::Value& value, of_data* data) {
  bool is_lossless = false;
  const auto integer = value.As<Napi::BigInt>();
  data->kind = OF_DATA_INT;
  data->as.integer = integer.Int64Value(&is_lossless);
  if (is_lossless) return;
  data->kind = OF_DATA_UINT;
  data->as.natural = integer.Uint64Value(&is_lossless);
  if (!is_lossless) data->kind = OF_DATA_LARGE;
}

// Returns whether a string has no lone surrogate: in UTF-8, that is the replacement character, of three bytes.
bool is_valid(const Napi::String& string, const std::string& text) {
  if (text.find("\xEF\xBF\xBD") == std::string::npos) return true;
  const std::u16string units = string;
  for (size_t i = 0; i < units.size(); ++i) {
    if (units[i] < 0xD800 || units[i] > 0xDFFF) continue;
    const bool is_pair = units[i] < 0xDC00 && i + 1 < units.size() && units[i + 1] >= 0xDC00 && units[i + 1] <= 0xDFFF;
    if (!is_pair) return false;
    ++i;
  }
  return true;
}

// Looks at a string. Of one that is too long, the length is enough.
void look_at_text(void* context, const Napi::String& string, of_data* data) {
  size_t length = 0;
  napi_get_value_string_utf16(string.Env(), string, nullptr, 0, &length);
  data->kind = OF_DATA_BAD_TEXT;
  data->as.text = "";
  data->count = static_cast<uint32_t>(length);
  if (context_of(context).is_function && length > javascript.longest_text) return;
  const std::string& text = keep(context, string);
  if (is_valid(string, text)) data->kind = OF_DATA_TEXT;
  data->as.text = text.c_str();
  data->count = static_cast<uint32_t>(text.size());
}

// Says what is in the entries of a map.
void look_at_entries(napi_env env, napi_value entries, of_data* data) {
  data->kind = OF_DATA_MAP;
  data->count = Napi::Array(env, entries).Length();
}

// Looks at an object. lib/classes/object.js says what it is: identify() returns the slot of one that has one, the name
// of the class of a disposed object, the entries of a map as an array, the length of a list, the number that a Float
// is, or the device that a Device is as a property, or null.
void look_at_object(CallContext& context, const Napi::Value& value, of_data* data) {
  Environment& environment = context.environment;
  if (const auto known = context.slots.find(static_cast<napi_value>(value)); known != context.slots.end()) {
    const auto [slot, generation] = known->second;
    if (environment.generation(slot) == generation) return environment.look_at_slot(slot, data);
  }
  if (const auto known = context.entries.find(static_cast<napi_value>(value)); known != context.entries.end())
    return look_at_entries(environment.env(), known->second, data);
  if (value.IsArray()) {
    data->kind = OF_DATA_LIST;
    data->count = value.As<Napi::Array>().Length();
    data->as.natural = data->count;
    return;
  }
  const Napi::Value found = environment.host().identify(value);
  if (found.IsNumber()) {
    environment.look_at_slot(found.As<Napi::Number>(), data);
  } else if (found.IsString()) {
    data->kind = OF_DATA_DISPOSED;
    data->of.object = of_class_find(std::string(found.As<Napi::String>()).c_str());
  } else if (found.IsArray()) {
    context.entries[static_cast<napi_value>(value)] = found;  // getters run once, and may change the map
    look_at_entries(environment.env(), found, data);
  } else if (found.IsObject()) {
    const auto properties = found.As<Napi::Object>();
    const auto number = [&](const char* name) { return properties.Get(name).ToNumber(); };
    if (properties.Has("real")) {
      data->kind = OF_DATA_FLOAT;
      data->as.real = number("real");
    } else if (properties.Has("device")) {
      data->kind = OF_DATA_DEVICE;
      data->as.device = unpack_device(number("device"));
    } else if (context.is_function) {
      data->kind = OF_DATA_LIST;
      const double length = number("length").DoubleValue();
      data->count = static_cast<uint32_t>(std::min(length, static_cast<double>(UINT32_MAX)));
      data->as.natural = static_cast<uint64_t>(std::min(length, 1e18));
    }
  }
}

of_status look(void* context, of_native native, of_data* data) {
  return guarded([=] {
    const Napi::Value value = value_of(context, native);
    data->kind = OF_DATA_OTHER;
    switch (value.Type()) {
      case napi_undefined:
        data->kind = OF_DATA_ABSENT;
        break;
      case napi_null:
        data->kind = OF_DATA_NONE;
        break;
      case napi_boolean:
        data->kind = OF_DATA_BOOL;
        data->as.boolean = value.As<Napi::Boolean>();
        break;
      case napi_number:
        look_at_number(context_of(context), value, data);
        break;
      case napi_bigint:
        look_at_bigint(value, data);
        break;
      case napi_string:
        look_at_text(context, value.As<Napi::String>(), data);
        break;
      case napi_function:
        data->kind = OF_DATA_FUNCTION;
        break;
      case napi_object:
        look_at_object(context_of(context), value, data);
        break;
      default:
        break;
    }
  });
}

// Where an integer is wanted, an integral number beyond 64 bits is a large one; and the number in a tensor counts as an
// integer if its value is one.
of_status index(void* context, of_native native, of_data* data) {
  const double real = data->as.real;
  if (!context_of(context).is_function || data->kind != OF_DATA_FLOAT || std::trunc(real) != real) return OF_OK;
  of_data own{};
  if (const of_status status = look(context, native, &own)) return status;
  if (value_of(context, native).IsNumber() || own.kind == OF_DATA_TENSOR) {
    data->kind = std::abs(real) < 0x1p63 ? OF_DATA_INT : std::isfinite(real) ? OF_DATA_LARGE : OF_DATA_FLOAT;
    if (data->kind == OF_DATA_INT) data->as.integer = static_cast<int64_t>(real);
  }
  return OF_OK;
}

of_status items(void* context, of_native list, uint32_t count, of_native* items) {
  return guarded([=] {
    const auto array = value_of(context, list).As<Napi::Object>();
    for (uint32_t i = 0; i < count; ++i) items[i] = static_cast<napi_value>(array.Get(i));
  });
}

// Returns the entries of a map that was looked at.
Napi::Array entries_of(void* context, of_native map) {
  return {context_of(context).environment.env(), context_of(context).entries.at(static_cast<napi_value>(map))};
}

of_status entry(void* context, of_native map, uint32_t position, of_native* key, of_native* item) {
  return guarded([=] {
    const auto entry = entries_of(context, map).Get(position).As<Napi::Array>();
    *key = static_cast<napi_value>(entry.Get(0u));
    *item = static_cast<napi_value>(entry.Get(1u));
  });
}

of_status field(void* context, of_native map, const char* key, of_native* item) {
  return guarded([=] {
    const Napi::Array entries = entries_of(context, map);
    *item = static_cast<napi_value>(context_of(context).environment.env().Undefined());
    for (uint32_t i = 0; i < entries.Length(); ++i) {
      const auto entry = entries.Get(i).As<Napi::Array>();
      const Napi::Value name = entry.Get(0u);
      if (name.IsString() && std::string(name.As<Napi::String>()) == key)
        *item = static_cast<napi_value>(entry.Get(1u));
    }
  });
}

const char* type_name(void* context, of_native value) {
  of_data data{};
  if (!context_of(context).is_function && value_of(context, value).IsNumber() && look(context, value, &data) == OF_OK &&
      data.kind == OF_DATA_FLOAT && std::isfinite(data.as.real) && std::trunc(data.as.real) == data.as.real)
    return "number beyond 2**53; pass a BigInt";
  const std::string text = context_of(context).environment.host().describe(value_of(context, value));
  return keep(context, text).c_str();
}

const char* print(void* context, of_native value) {
  const Napi::Value printed = context_of(context).environment.host().call("print", value_of(context, value));
  return keep(context, printed.ToString()).c_str();
}

bool is_true(void* context, of_native value) { return value_of(context, value).ToBoolean(); }

// Calls a function of lib/classes/object.js, which returns a value, or a text that continues "must".
template <class Use>
of_status ask(void* context, const char* function, of_native value, of_status failure, const Use& use) {
  of_status status = OF_OK;
  const of_status guard = guarded([&] {
    const Napi::Value found = context_of(context).environment.host().call(function, value_of(context, value));
    if (found.IsString())
      status = of_fail(failure, std::string(found.As<Napi::String>()).c_str());
    else
      use(found);
  });
  return guard == OF_OK ? status : guard;
}

of_status path(void* context, of_native value, of_data* data) {
  data->kind = OF_DATA_OTHER;
  return ask(context, "path", value, OF_INVALID_ARGUMENT, [=](const Napi::Value& found) {
    if (!found.IsArray()) return;
    const Napi::Value path = found.As<Napi::Array>().Get(0u);
    look(context, static_cast<napi_value>(path), data);
  });
}

of_status range(void* context, of_native value, int64_t bounds[3]) {
  return ask(context, "range", value, OF_TYPE_MISMATCH, [=](const Napi::Value& found) {
    for (uint32_t i = 0; i < 3; ++i) bounds[i] = found.As<Napi::Array>().Get(i).As<Napi::Number>().Int64Value();
    if (bounds[1] < 0) bounds[1] = INT64_MAX;
  });
}

bool is_array(void* context, of_native native) {
  const Napi::Value value = value_of(context, native);
  if (value.IsTypedArray()) return true;
  of_data data{};
  if (look(context, native, &data) != OF_OK) return false;
  return data.kind == OF_DATA_LIST || (data.kind >= OF_DATA_BOOL && data.kind <= OF_DATA_FLOAT);
}

of_tensor find_tensor(void* context, of_native native) {
  of_data data{};
  if (!value_of(context, native).IsObject() || look(context, native, &data) != OF_OK) return nullptr;
  if (data.kind == OF_DATA_TENSOR) return data.as.tensor;
  of_tensor found = nullptr;
  guarded([&] {
    Environment& environment = context_of(context).environment;
    found = environment.get(environment.host().call("findTensor", value_of(context, native)).ToNumber());
  });
  return found;
}

const char* text_condition(void*, of_native) { return "valid Unicode"; }

of_status tensor(void* context, of_native native, const of_tensor_request* request, of_tensor* tensor) {
  return guarded([=] {
    Environment& environment = context_of(context).environment;
    const std::string subject = std::string(request->function) + ": " + request->argument;
    const of_device device = request->device != nullptr ? *request->device : of_default_device();
    const int64_t slot =
        environment.host().make_tensor(value_of(context, native), subject, pack_device(device), request->of_integers);
    *tensor = of_tensor_retain(environment.get(slot));
  });
}

// ------------------------------------------------------------------------------------------------ functions

// A function that is kept, and its environment.
struct Held {
  Environment& environment;
  void* pinned;
};

// Functions of JavaScript do not tell the names of their parameters.
of_status parameters(void*, of_native, uint32_t, const char**) { return OF_OK; }

void* hold(void* context, of_native function) {
  Environment& environment = context_of(context).environment;
  return new Held{environment, environment.pins()->pin(static_cast<napi_value>(function))};
}

void drop(void* held) {
  const std::unique_ptr<Held> owned(static_cast<Held*>(held));
  if (owned->pinned != nullptr) Pins::unpin(owned->pinned);
}

of_status call(void* held, const of_data* arguments, uint32_t count, of_receiver receive, void* receiver) {
  const auto& own = *static_cast<const Held*>(held);
  const napi_value function = own.pinned != nullptr ? Pins::value(own.pinned) : nullptr;
  if (function == nullptr)
    return of_fail(OF_UNSUPPORTED, "a JavaScript function runs only on the thread that it was made on");
  of_status status = OF_OK;
  const of_status guard = guarded([&] {
    const Napi::HandleScope scope(own.environment.env());
    std::vector<napi_value> values;
    for (uint32_t i = 0; i < count; ++i) values.push_back(to_javascript(own.environment, kAnyType, arguments[i]));
    const Napi::Value result = Napi::Function(own.environment.env(), function).Call(values);
    CallContext context(own.environment);
    status = receive(receiver, &context, static_cast<napi_value>(result));
  });
  return guard == OF_OK ? status : guard;
}

// ------------------------------------------------------------------------------------------------ results

// Returns the type of an item.
const of_type& item_type(const of_type& type, uint32_t position) {
  if (type.kind == OF_TYPE_DATA) return type;
  return type.items[type.kind == OF_TYPE_RECORD ? position : 0];
}

// Sets an own property, also for the key __proto__.
void set_own(Napi::Object& object, const char* key, const Napi::Value& value) {
  object.DefineProperty(Napi::PropertyDescriptor::Value(key, value, napi_default_jsproperty));
}

Napi::Value range_to_javascript(Environment& environment, const of_data& data) {
  auto range = Napi::Object::New(environment.env());
  const char* names[] = {"min", "max", "step"};
  for (uint32_t i = 0; i < 3; ++i) {
    const int64_t bound = data.as.items[i].as.integer;
    constexpr int64_t kLargestSafe = (int64_t{1} << 53) - 1;
    range.Set(names[i], bound > kLargestSafe ? std::numeric_limits<double>::infinity() : static_cast<double>(bound));
  }
  return range;
}

Napi::Value list_to_javascript(Environment& environment, const of_type& type, const of_data& data) {
  if (type.kind != OF_TYPE_RECORD) {
    return array_of(environment.env(), data.count,
                    [&](uint32_t i) { return to_javascript(environment, item_type(type, i), data.as.items[i]); });
  }
  auto record = Napi::Object::New(environment.env());
  for (uint32_t i = 0; i < data.count; ++i)
    record.Set(type.names[i], to_javascript(environment, type.items[i], data.as.items[i]));
  return environment.host().wrap_record(type.name, record);
}

Napi::Value map_to_javascript(Environment& environment, const of_type& type, const of_data& data) {
  auto map = Napi::Object::New(environment.env());
  for (uint32_t i = 0; i < data.count; ++i)
    set_own(map, data.of.keys[i], to_javascript(environment, item_type(type, i), data.as.items[i]));
  return map;
}

}  // namespace

const of_language javascript = {
    .struct_size = sizeof(of_language),
    .has_options = true,
    .names_fields = true,
    .text_word = "string",
    .nested_word = "Tensor, array, Map or object",
    .list_word = "array",
    .nothing_word = "nothing",
    .map_word = "object",
    .disposed_word = "a disposed one",
    .hides_positions = true,
    .disposed_text = "must be a live Tensor, got a disposed one",
    .outputs_word = "array",
    .flag_name = "requiresGrad",
    .flag_word = "boolean",
    .counts_flags = false,
    .longest_list = 1 << 20,
    .longest_text = 1 << 24,
    .too_large = "be between -2**63 and 2**64 - 1",
    .look = look,
    .index = index,
    .items = items,
    .entry = entry,
    .field = field,
    .type_name = type_name,
    .print = print,
    .is_true = is_true,
    .path = path,
    .range = range,
    .is_array = is_array,
    .tensor = tensor,
    .find_tensor = find_tensor,
    .text_condition = text_condition,
    .show_name = nullptr,
    .parameters = parameters,
    .hold = hold,
    .drop = drop,
    .call = call,
};

void check_call(Environment& environment, of_status status, bool has_own_names) {
  if (environment.env().IsExceptionPending()) throw environment.env().GetAndClearPendingException();
  if (status != OF_OK) throw environment.make_error(status, nullptr, has_own_names);
}

Napi::Value to_javascript(Environment& environment, const of_type& type, const of_data& data) {
  const Napi::Env env = environment.env();
  switch (data.kind) {
    case OF_DATA_NONE:
      return type.kind == OF_TYPE_NONE || type.kind == OF_TYPE_RECORD ? env.Undefined() : env.Null();
    case OF_DATA_BOOL:
      return Napi::Boolean::New(env, data.as.boolean);
    case OF_DATA_INT:
      return Napi::Number::New(env, static_cast<double>(data.as.integer));
    case OF_DATA_UINT:
      if (type.kind == OF_TYPE_WORD) return Napi::BigInt::New(env, data.as.natural);
      return Napi::Number::New(env, static_cast<double>(data.as.natural));
    case OF_DATA_FLOAT:
      return Napi::Number::New(env, data.as.real);
    case OF_DATA_TEXT:
      return Napi::String::New(env, data.as.text, data.count);
    case OF_DATA_DTYPE:
      return Napi::String::New(env, of_dtype_name(data.as.dtype));
    case OF_DATA_DEVICE: {
      char name[64];
      return Napi::String::New(env, of_device_name(data.as.device, name));
    }
    case OF_DATA_TENSOR:
      return environment.host().wrap_tensor(environment.put(of_tensor_retain(data.as.tensor)));
    case OF_DATA_OBJECT:
      data.of.object->retain(data.as.object);
      return environment.host().wrap_object(data.of.object->name, environment.put(data.of.object, data.as.object));
    case OF_DATA_FUNCTION:
      return {env, Pins::value(static_cast<const Held*>(of_function_held(data.as.function))->pinned)};
    case OF_DATA_LIST:
      if (type.kind == OF_TYPE_RANGE) return range_to_javascript(environment, data);
      return list_to_javascript(environment, type, data);
    case OF_DATA_RECORD:
    case OF_DATA_MAP:
      return map_to_javascript(environment, type, data);
    default:
      return env.Undefined();
  }
}

}  // namespace oneflow::node
