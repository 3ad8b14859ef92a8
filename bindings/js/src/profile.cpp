// Profiles, which JavaScript holds as external values.
#include <oneflow/profile.h>

#include "functions.h"

namespace oneflow::node {
namespace {

of_profile profile_of(napi_env env, const Call& call) {
  void* profile = nullptr;
  napi_get_value_external(env, call.value(0), &profile);
  return static_cast<of_profile>(profile);
}

// beginProfile(): begins a profile and returns it.
napi_value begin_profile(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  of_profile profile = nullptr;
  if (of_status status = of_profile_begin(&profile)) return call.environment().fail(status);
  napi_value value = nullptr;
  const auto release = [](node_api_basic_env, void* data, void*) { of_profile_release(static_cast<of_profile>(data)); };
  if (napi_create_external(env, profile, release, nullptr, &value) != napi_ok) of_profile_release(profile);
  return value;
}

// endProfile(profile)
napi_value end_profile(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return done(call, of_profile_end(profile_of(env, call)));
}

// Converts nanoseconds to seconds; unknown times to null.
napi_value seconds(napi_env env, int64_t nanoseconds) {
  napi_value null = nullptr;
  napi_get_null(env, &null);
  return nanoseconds < 0 ? null : to_js(env, 1e-9 * static_cast<double>(nanoseconds));
}

template <class Make>
napi_value array_of(napi_env env, const of_profile_tensor* tensors, size_t count, Make make) {
  napi_value array = nullptr;
  napi_create_array_with_length(env, count, &array);
  for (size_t i = 0; i < count; ++i) napi_set_element(env, array, static_cast<uint32_t>(i), make(tensors[i]));
  return array;
}

napi_value shapes(napi_env env, const of_profile_tensor* tensors, size_t count) {
  return array_of(env, tensors, count,
                  [=](const of_profile_tensor& each) { return to_js(env, each.shape.sizes, each.shape.rank); });
}

napi_value dtypes(napi_env env, const of_profile_tensor* tensors, size_t count) {
  return array_of(env, tensors, count,
                  [=](const of_profile_tensor& each) { return to_js(env, of_dtype_name(each.dtype)); });
}

// profileEntry(profile, position): returns a call of the profile; undefined after the last one.
napi_value profile_entry(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const of_profile profile = profile_of(env, call);
  const auto position = static_cast<size_t>(call.integer(1));
  if (position >= of_profile_count(profile)) return done(call, OF_OK);
  of_profile_entry entry{};
  entry.struct_size = sizeof(entry);
  if (of_status status = of_profile_at(profile, position, &entry)) return call.environment().fail(status);
  napi_value null = nullptr;
  napi_get_null(env, &null);
  return to_js(env, {{"name", to_js(env, entry.name)},
                     {"caller", to_js(env, entry.caller)},
                     {"device", to_js(env, static_cast<int64_t>(static_cast<uint16_t>(entry.device.type)) |
                                               static_cast<int64_t>(static_cast<uint16_t>(entry.device.index)) << 16)},
                     {"thread", to_js(env, entry.thread)},
                     {"parent", entry.parent < 0 ? null : to_js(env, entry.parent)},
                     {"start", seconds(env, entry.start)},
                     {"hostTime", seconds(env, entry.host_time)},
                     {"selfTime", to_js(env, 1e-9 * static_cast<double>(entry.self_time))},
                     {"deviceTime", seconds(env, entry.device_time)},
                     {"memory", to_js(env, entry.memory)},
                     {"flops", to_js(env, entry.operations)},
                     {"bytes", to_js(env, entry.bytes)},
                     {"shapes", shapes(env, entry.operands, entry.operand_count)},
                     {"dtypes", dtypes(env, entry.operands, entry.operand_count)},
                     {"resultShapes", shapes(env, entry.results, entry.result_count)},
                     {"resultDtypes", dtypes(env, entry.results, entry.result_count)},
                     {"failed", to_js(env, entry.failed)}});
}

template <of_status (*format)(of_profile, char**)>
napi_value profile_text(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  char* text = nullptr;
  if (of_status status = format(profile_of(env, call), &text)) return call.environment().fail(status);
  const napi_value value = to_js(env, text);
  of_free(text);
  return value;
}

}  // namespace

void add_profile_functions(Environment* environment, napi_value exports) {
  add_function<begin_profile>(environment, exports, "beginProfile");
  add_function<end_profile>(environment, exports, "endProfile");
  add_function<profile_entry>(environment, exports, "profileEntry");
  add_function<profile_text<of_profile_table>>(environment, exports, "profileTable");
  add_function<profile_text<of_profile_trace>>(environment, exports, "profileTrace");
}

}  // namespace oneflow::node
