#include "classes/language.h"

#include "functions.h"

namespace oneflow::node {
namespace {

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

void look_at_number(const Napi::Value& value, of_data* data) {
  constexpr double kLargestSafe = 9007199254740991.0;
  const double number = value.As<Napi::Number>();
  if (number >= -kLargestSafe && number <= kLargestSafe &&
      number == static_cast<double>(static_cast<int64_t>(number))) {
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

// Looks at an object. lib/object.js says whether it has a slot: identify() returns the slot, the name of the class of a
// disposed object, the entries of a map as an array, or null.
void look_at_object(CallContext& context, const Napi::Value& value, of_data* data) {
  Environment& environment = context.environment;
  if (value.IsArray()) {
    data->kind = OF_DATA_LIST;
    data->count = value.As<Napi::Array>().Length();
    return;
  }
  const Napi::Value found = environment.host().identify(value);
  if (found.IsNumber()) {
    environment.look_at_slot(found.As<Napi::Number>(), data);
  } else if (found.IsString()) {
    data->kind = OF_DATA_DISPOSED;
    data->of.object = of_class_find(std::string(found.As<Napi::String>()).c_str());
  } else if (found.IsArray()) {
    data->kind = OF_DATA_MAP;
    data->count = found.As<Napi::Array>().Length();
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
        look_at_number(value, data);
        break;
      case napi_bigint:
        look_at_bigint(value, data);
        break;
      case napi_string: {
        const std::string& text = keep(context, value.As<Napi::String>());
        data->kind = OF_DATA_TEXT;
        data->as.text = text.c_str();
        data->count = static_cast<uint32_t>(text.size());
        break;
      }
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

of_status item(void* context, of_native list, uint32_t position, of_native* item) {
  return guarded([=] { *item = static_cast<napi_value>(value_of(context, list).As<Napi::Array>().Get(position)); });
}

of_status entry(void* context, of_native map, uint32_t position, const char** key, of_native* item) {
  return guarded([=] {
    const Napi::Value entries = context_of(context).environment.host().identify(value_of(context, map));
    const auto entry = entries.As<Napi::Array>().Get(position).As<Napi::Array>();
    const Napi::Value name = entry.Get(0u);
    *key = name.IsString() ? keep(context, name.As<Napi::String>()).c_str() : nullptr;
    *item = static_cast<napi_value>(entry.Get(1u));
  });
}

of_status field(void* context, of_native map, const char* key, of_native* item) {
  return guarded([=] { *item = static_cast<napi_value>(value_of(context, map).As<Napi::Object>().Get(key)); });
}

const char* type_name(void* context, of_native value) {
  const std::string text = context_of(context).environment.host().describe(value_of(context, value));
  return keep(context, text).c_str();
}

const char* print(void* context, of_native value) { return keep(context, value_of(context, value).ToString()).c_str(); }

// ------------------------------------------------------------------------------------------------ results

Napi::Value list_to_javascript(Environment& environment, const of_type& type, const of_data& data) {
  if (type.kind != OF_TYPE_RECORD) {
    return array_of(environment.env(), data.count,
                    [&](uint32_t i) { return to_javascript(environment, *type.items, data.as.items[i]); });
  }
  auto record = Napi::Object::New(environment.env());
  for (uint32_t i = 0; i < data.count; ++i)
    record.Set(type.names[i], to_javascript(environment, type.items[i], data.as.items[i]));
  return record;
}

Napi::Value map_to_javascript(Environment& environment, const of_type& type, const of_data& data) {
  auto map = Napi::Object::New(environment.env());
  for (uint32_t i = 0; i < data.count; ++i)
    map.Set(data.of.keys[i], to_javascript(environment, *type.items, data.as.items[i]));
  return map;
}

}  // namespace

const of_language javascript = {
    .struct_size = sizeof(of_language),
    .has_options = true,
    .names_fields = true,
    .too_large = "be between -2**63 and 2**64 - 1",
    .look = look,
    .item = item,
    .entry = entry,
    .field = field,
    .type_name = type_name,
    .print = print,
};

Napi::Value to_javascript(Environment& environment, const of_type& type, const of_data& data) {
  const Napi::Env env = environment.env();
  switch (data.kind) {
    case OF_DATA_NONE:
      return type.kind == OF_TYPE_NONE ? env.Undefined() : env.Null();
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
    case OF_DATA_LIST:
      return list_to_javascript(environment, type, data);
    case OF_DATA_MAP:
      return map_to_javascript(environment, type, data);
    default:
      return env.Undefined();
  }
}

}  // namespace oneflow::node
