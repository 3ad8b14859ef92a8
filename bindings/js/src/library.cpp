// Functions of the library as a whole: dtypes, devices, memory, settings.
#include <oneflow/front_end.h>

#include "functions.h"

namespace oneflow::node {
namespace {

// Packs a device into one integer; Call::device() unpacks it.
int32_t pack_device(of_device device) {
  return static_cast<uint16_t>(device.type) | static_cast<int32_t>(device.index) << 16;
}

napi_value device_name(napi_env env, of_device device) {
  char name[64];
  return to_js(env, of_device_name(device, name));
}

// Calls a function of the C API on the device in argument 0.
template <of_status (*use)(of_device)>
napi_value on_device(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return done(call, use(call.device(0)));
}

napi_value version(napi_env env, napi_callback_info) { return to_js(env, of_version()); }

// dtypes(): returns the names of all dtypes, in the order of their numbers.
napi_value dtypes(napi_env env, napi_callback_info) {
  napi_value names;
  if (napi_create_array_with_length(env, OF_DTYPE_COUNT, &names) != napi_ok) return nullptr;
  for (uint32_t i = 0; i < OF_DTYPE_COUNT; ++i) {
    napi_set_element(env, names, i, to_js(env, of_dtype_name(static_cast<of_dtype>(i))));
  }
  return names;
}

// dtypeMethods(): returns the names of the methods that convert to the dtypes, undefined for those without one.
napi_value dtype_methods(napi_env env, napi_callback_info) {
  napi_value names;
  if (napi_create_array_with_length(env, OF_DTYPE_COUNT, &names) != napi_ok) return nullptr;
  for (uint32_t i = 0; i < OF_DTYPE_COUNT; ++i) {
    const char* name = of_dtype_method(static_cast<of_dtype>(i));
    if (name) napi_set_element(env, names, i, to_js(env, name));
  }
  return names;
}

// nearestName(word, names): returns the name that an unknown word most likely stands for; undefined if there is none.
napi_value nearest_name(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const std::vector<std::string> names = call.strings(1);
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  const int32_t nearest = of_nearest_name(call.string(0).c_str(), pointers.data(), pointers.size());
  return nearest < 0 ? nullptr : to_js(env, pointers[static_cast<size_t>(nearest)]);
}

// refusalRank(reason, reached, isLikely): returns the rank of an overload that refuses a call.
napi_value refusal_rank(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const auto reason = static_cast<of_refusal>(call.integer(0));
  return to_js(env, of_refusal_rank(reason, static_cast<int32_t>(call.integer(1)), call.boolean(2)));
}

// labelTerm(function, operand, labels, count): returns the term of an equation for the labels of an operand, or of the
// result if `operand` is -1.
napi_value label_term(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const std::vector<int64_t> labels = call.integers(2);
  char term[OF_TERM_SIZE];
  const auto operand = static_cast<int32_t>(call.integer(1));
  const auto count = static_cast<size_t>(call.integer(3));
  const of_status status = of_label_term(call.string(0).c_str(), operand, labels.data(), count, term);
  return status == OF_OK ? to_js(env, term) : call.environment().fail(status);
}

napi_value promote_types(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const auto a = static_cast<of_dtype>(call.integer(0)), b = static_cast<of_dtype>(call.integer(1));
  return to_js(env, of_promote_types(a, b));
}

napi_value default_dtype(napi_env env, napi_callback_info) { return to_js(env, of_default_dtype()); }

napi_value set_default_dtype(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return done(call, of_set_default_dtype(static_cast<of_dtype>(call.integer(0))));
}

// parseDevice(name): returns a device as one number.
napi_value parse_device(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  of_device device;
  const of_status status = of_device_parse(call.string(0).c_str(), &device);
  return status == OF_OK ? to_js(env, pack_device(device)) : call.environment().fail(status);
}

// deviceName(device): returns the full name of a device from parseDevice().
napi_value full_device_name(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return device_name(env, call.device(0));
}

napi_value devices(napi_env env, napi_callback_info) {
  napi_value names;
  if (napi_create_array(env, &names) != napi_ok) return nullptr;
  for (size_t i = 0; i < of_device_count(); ++i) napi_set_element(env, names, i, device_name(env, of_device_at(i)));
  return names;
}

napi_value device_properties(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  of_device_properties properties{};
  properties.struct_size = sizeof(properties);
  if (of_status status = of_device_get_properties(call.device(0), &properties)) return call.environment().fail(status);
  return to_js(env, {{"name", to_js(env, properties.name)},
                     {"capabilities", to_js(env, properties.capabilities)},
                     {"notes", to_js(env, properties.notes)},
                     {"computeUnits", to_js(env, properties.compute_units)},
                     {"totalMemory", to_js(env, properties.total_memory)},
                     {"freeMemory", to_js(env, properties.free_memory)}});
}

napi_value default_device(napi_env env, napi_callback_info) { return device_name(env, of_default_device()); }

napi_value load_device(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return done(call, of_load_device(call.string(0).c_str()));
}

napi_value memory(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  of_memory_statistics statistics{};
  statistics.struct_size = sizeof(statistics);
  if (of_status status = of_get_memory_statistics(call.device(0), &statistics)) return call.environment().fail(status);
  return to_js(env, {{"inUse", to_js(env, statistics.in_use)},
                     {"peakInUse", to_js(env, statistics.peak_in_use)},
                     {"cached", to_js(env, statistics.cached)},
                     {"limit", to_js(env, statistics.limit)}});
}

// setMemoryLimit(device, bytes): 0 removes the limit.
napi_value set_memory_limit(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return done(call, of_set_memory_limit(call.device(0), static_cast<uint64_t>(call.integer(1))));
}

napi_value collect_garbage(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  call.environment().collect_garbage();
  return nullptr;
}

napi_value set_option(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return done(call, of_set_option(call.string(0).c_str(), call.integer(1)));
}

napi_value get_option(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  int64_t value = 0;
  if (of_status status = of_get_option(call.string(0).c_str(), &value)) return call.environment().fail(status);
  return to_js(env, value);
}

// fallbacks(): returns [[operator, number of calls], ...].
napi_value fallbacks(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  napi_value list;
  if (napi_create_array(env, &list) != napi_ok) return nullptr;
  for (size_t i = 0, count = of_fallback_count(); i < count; ++i) {
    of_op op = nullptr;
    uint64_t calls = 0;
    of_op_info operator_info{};
    operator_info.struct_size = sizeof(operator_info);
    of_status status = of_fallback_at(i, &op, &calls);
    if (status == OF_OK) status = of_op_get_info(op, &operator_info);
    if (status != OF_OK) return call.environment().fail(status);
    napi_value entry;
    napi_create_array_with_length(env, 2, &entry);
    napi_set_element(env, entry, 0, to_js(env, operator_info.name));
    napi_set_element(env, entry, 1, to_js(env, calls));
    napi_set_element(env, list, i, entry);
  }
  return list;
}

// rejectedPlugins(): returns [[path, reason], ...].
napi_value rejected_plugins(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  napi_value list;
  if (napi_create_array(env, &list) != napi_ok) return nullptr;
  for (size_t i = 0; i < of_rejected_plugin_count(); ++i) {
    const char *path = nullptr, *reason = nullptr;
    if (of_status status = of_rejected_plugin_at(i, &path, &reason)) return call.environment().fail(status);
    napi_value entry;
    napi_create_array_with_length(env, 2, &entry);
    napi_set_element(env, entry, 0, to_js(env, path));
    napi_set_element(env, entry, 1, to_js(env, reason));
    napi_set_element(env, list, i, entry);
  }
  return list;
}

napi_value reset_fallbacks(napi_env, napi_callback_info) {
  of_reset_fallbacks();
  return nullptr;
}

}  // namespace

void add_library_functions(Environment* environment, napi_value exports) {
  add_function<version>(environment, exports, "version");
  add_function<dtypes>(environment, exports, "dtypes");
  add_function<dtype_methods>(environment, exports, "dtypeMethods");
  add_function<nearest_name>(environment, exports, "nearestName");
  add_function<refusal_rank>(environment, exports, "refusalRank");
  add_function<label_term>(environment, exports, "labelTerm");
  add_function<promote_types>(environment, exports, "promoteTypes");
  add_function<default_dtype>(environment, exports, "defaultDtype");
  add_function<set_default_dtype>(environment, exports, "setDefaultDtype");
  add_function<parse_device>(environment, exports, "parseDevice");
  add_function<full_device_name>(environment, exports, "deviceName");
  add_function<devices>(environment, exports, "devices");
  add_function<device_properties>(environment, exports, "deviceProperties");
  add_function<default_device>(environment, exports, "defaultDevice");
  add_function<on_device<of_set_default_device>>(environment, exports, "setDefaultDevice");
  add_function<load_device>(environment, exports, "loadDevice");
  add_function<on_device<of_synchronize>>(environment, exports, "synchronize");
  add_function<memory>(environment, exports, "memory");
  add_function<on_device<of_reset_peak_memory>>(environment, exports, "resetPeakMemoryStats");
  add_function<on_device<of_empty_cache>>(environment, exports, "emptyCache");
  add_function<set_memory_limit>(environment, exports, "setMemoryLimit");
  add_function<collect_garbage>(environment, exports, "collectGarbage");
  add_function<set_option>(environment, exports, "setOption");
  add_function<get_option>(environment, exports, "getOption");
  add_function<fallbacks>(environment, exports, "fallbacks");
  add_function<rejected_plugins>(environment, exports, "rejectedPlugins");
  add_function<reset_fallbacks>(environment, exports, "resetFallbacks");
}

}  // namespace oneflow::node
