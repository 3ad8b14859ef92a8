#include "functions.h"

#include <new>

#include "calls/arguments.h"

namespace oneflow::node {
namespace {

int64_t to_integer(const Napi::Value& value) {
  int64_t integer = 0;
  napi_get_value_int64(value.Env(), value, &integer);
  return integer;
}

std::string to_string(const Napi::Value& value) {
  if (!value.IsString()) return {};
  std::string text = value.As<Napi::String>();
  for (size_t at = 0; (at = text.find('\0', at)) != std::string::npos;) text.replace(at, 1, "\\x00");
  return text;
}

Environment& environment_of(napi_env env, napi_callback_info info) {
  void* environment = nullptr;
  napi_get_cb_info(env, info, nullptr, nullptr, nullptr, &environment);
  return *static_cast<Environment*>(environment);
}

// Calls a function, which throws exceptions of JavaScript only.
napi_value checked(napi_env env, napi_callback_info info, napi_callback function) {
  try {
    return function(env, info);
  } catch (const std::bad_alloc&) {
    throw environment_of(env, info).make_error(OF_OUT_OF_MEMORY, "out of host memory");
  }
}

template <class Item, class Convert>
std::vector<Item> items_of(const Napi::Value& value, Convert convert) {
  if (!value.IsArray()) return {};
  const auto array = value.As<Napi::Array>();
  std::vector<Item> items(array.Length());
  for (uint32_t i = 0; i < items.size(); ++i) items[i] = convert(array.Get(i));
  return items;
}

}  // namespace

int64_t Call::integer(size_t i) const { return to_integer((*this)[i]); }

std::string Call::string(size_t i) const { return to_string((*this)[i]); }

std::vector<std::string> Call::strings(size_t i) const { return items_of<std::string>((*this)[i], to_string); }

std::vector<int64_t> Call::integers(size_t i) const { return items_of<int64_t>((*this)[i], to_integer); }

napi_value Exports::guarded(napi_env env, napi_callback_info info, napi_callback function) {
  try {
    return checked(env, info, function);
  } catch (const Napi::Error& error) {
    throw_in_js(error);
    return nullptr;
  }
}

napi_value Exports::settled(napi_env env, napi_callback_info info, napi_callback function) {
  of_status status = OF_OK;
  napi_value result = nullptr;
  try {
    result = checked(env, info, function);
  } catch (const Napi::Error& error) {
    status = OF_INTERRUPTED;
    result = thrown_by(error);
  }
  environment_of(env, info).frame.header()->status = status;
  return result;
}

void Exports::add_callback(const char* name, napi_callback function) {
  // Two source files with a function of the same name would be a mistake.
  if (object_.HasOwnProperty(name)) throw Napi::Error::New(env(), std::string("the addon has two functions ") + name);
  napi_value value;
  if (napi_create_function(env(), name, NAPI_AUTO_LENGTH, function, environment_, &value) == napi_ok) {
    add_value(name, value);
  }
}

napi_value thrown_by(const Napi::Error& error) {
  // Where Node-API refers to values of any type, Napi::Error's own function fails for null and undefined.
  const Napi::Value value = static_cast<const Napi::ObjectReference&>(error).Value();
  return value.IsObject() ? error.Value() : value;
}

void throw_in_js(const Napi::Error& error) {
  // Napi::Error's own function is made for the version of Node-API that it is compiled for, see api_version.h: in a
  // thread that is being terminated, the versions differ in the status.
  napi_throw(error.Env(), thrown_by(error));
}

std::string take_text(char* text) {
  const std::unique_ptr<char, decltype(&of_free)> owned(text, of_free);
  return text;
}

Napi::Array integers_to_js(Napi::Env env, const int64_t* integers, size_t count) {
  return array_of(env, count, [=](size_t i) { return integer_to_js(env, integers[i]); });
}

}  // namespace oneflow::node
