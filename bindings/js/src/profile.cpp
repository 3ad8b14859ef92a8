// Profiles, which JavaScript holds as external values.
#include <oneflow/profile.h>

#include "functions.h"

namespace oneflow::node {
namespace {

of_profile profile_of(const Call& call) { return call.external<of_profile_object>(0); }

// Converts nanoseconds to seconds; unknown times to null.
Napi::Value seconds(Napi::Env env, int64_t nanoseconds) {
  return nanoseconds < 0 ? env.Null() : Napi::Value::From(env, 1e-9 * static_cast<double>(nanoseconds));
}

Napi::Array shapes(Napi::Env env, const of_profile_tensor* tensors, size_t count) {
  return array_of(env, count,
                  [=](size_t i) { return integers_to_js(env, tensors[i].shape.sizes, tensors[i].shape.rank); });
}

Napi::Array dtypes(Napi::Env env, const of_profile_tensor* tensors, size_t count) {
  return array_of(env, count, [=](size_t i) { return of_dtype_name(tensors[i].dtype); });
}

// profileEntry(profile, position): returns a call of the profile; undefined after the last one.
Napi::Value profile_entry(const Call& call) {
  const Napi::Env env = call.Env();
  const of_profile profile = profile_of(call);
  const auto position = static_cast<size_t>(call.integer(1));
  if (position >= of_profile_count(profile)) return env.Undefined();
  of_profile_entry entry{};
  entry.struct_size = sizeof(entry);
  call.check(of_profile_at(profile, position, &entry));
  auto object = Napi::Object::New(env);
  object.Set("name", entry.name);
  object.Set("caller", entry.caller);
  object.Set("device", pack_device(entry.device));
  object.Set("thread", entry.thread);
  object.Set("parent", entry.parent < 0 ? env.Null() : Napi::Value::From(env, entry.parent));
  object.Set("start", seconds(env, entry.start));
  object.Set("hostTime", seconds(env, entry.host_time));
  object.Set("selfTime", 1e-9 * static_cast<double>(entry.self_time));
  object.Set("deviceTime", seconds(env, entry.device_time));
  object.Set("memory", entry.memory);
  object.Set("flops", entry.operations);
  object.Set("bytes", entry.bytes);
  object.Set("shapes", shapes(env, entry.operands, entry.operand_count));
  object.Set("dtypes", dtypes(env, entry.operands, entry.operand_count));
  object.Set("resultShapes", shapes(env, entry.results, entry.result_count));
  object.Set("resultDtypes", dtypes(env, entry.results, entry.result_count));
  object.Set("failed", entry.failed);
  return object;
}

template <of_status (*format)(of_profile, char**)>
std::string profile_text(const Call& call) {
  char* text = nullptr;
  call.check(format(profile_of(call), &text));
  return take_text(text);
}

}  // namespace

void add_profile_functions(Exports& exports) {
  // beginProfile(): begins a profile and returns it.
  exports.add("beginProfile", [](const Call& call) {
    of_profile profile = nullptr;
    call.check(of_profile_begin(&profile));
    return owner_of<of_profile_release>(call.environment(), profile);
  });
  exports.add("endProfile", [](const Call& call) { call.check(of_profile_end(profile_of(call))); });
  exports.add<profile_entry>("profileEntry");
  exports.add<profile_text<of_profile_table>>("profileTable");
  exports.add<profile_text<of_profile_trace>>("profileTrace");
}

}  // namespace oneflow::node
