// Functions of the library as a whole: dtypes, devices, memory, settings.
#include <oneflow/front_end.h>

#include <mutex>

#include "functions.h"

namespace oneflow::node {
namespace {

std::mutex alone_mutex;  // held while callAlone() calls a function

std::string device_name(of_device device) {
  char name[64];
  return of_device_name(device, name);
}

of_dtype dtype_argument(const Call& call, size_t i) { return static_cast<of_dtype>(call.integer(i)); }

// Dtypes are numbers in JavaScript, the positions of their names in dtypes().
int32_t number_of(of_dtype dtype) { return dtype; }

// nearestName(word, names): returns the name that an unknown word most likely stands for; undefined if there is none.
Napi::Value nearest_name(const Call& call) {
  const std::vector<std::string> names = call.strings(1);
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  const int32_t nearest = of_nearest_name(call.string(0).c_str(), pointers.data(), pointers.size());
  return nearest < 0 ? call.Env().Undefined() : Napi::Value::From(call.Env(), pointers[nearest]);
}

// labelTerm(function, operand, labels, count): returns the term of an equation for the labels of an operand, or of the
// result if `operand` is -1.
std::string label_term(const Call& call) {
  const std::vector<int64_t> labels = call.integers(2);
  char term[OF_TERM_SIZE];
  const auto operand = static_cast<int32_t>(call.integer(1));
  const auto count = static_cast<size_t>(call.integer(3));
  call.check(of_label_term(call.string(0).c_str(), operand, labels.data(), count, term));
  return term;
}

Napi::Value device_properties(const Call& call) {
  of_device_properties properties{};
  properties.struct_size = sizeof(properties);
  call.check(of_device_get_properties(call.device(0), &properties));
  auto object = Napi::Object::New(call.Env());
  object.Set("name", properties.name);
  object.Set("capabilities", properties.capabilities);
  object.Set("notes", properties.notes);
  object.Set("computeUnits", properties.compute_units);
  object.Set("totalMemory", properties.total_memory);
  object.Set("freeMemory", properties.free_memory);
  return object;
}

Napi::Value memory(const Call& call) {
  of_memory_statistics statistics{};
  statistics.struct_size = sizeof(statistics);
  call.check(of_get_memory_statistics(call.device(0), &statistics));
  auto object = Napi::Object::New(call.Env());
  object.Set("inUse", statistics.in_use);
  object.Set("peakInUse", statistics.peak_in_use);
  object.Set("cached", statistics.cached);
  object.Set("limit", statistics.limit);
  return object;
}

// fallbacks(): returns [[operator, number of calls], ...].
Napi::Value fallbacks(const Call& call) {
  return array_of(call.Env(), of_fallback_count(), [&](size_t i) {
    of_op op = nullptr;
    uint64_t calls = 0;
    of_op_info operator_info{};
    operator_info.struct_size = sizeof(operator_info);
    call.check(of_fallback_at(i, &op, &calls));
    call.check(of_op_get_info(op, &operator_info));
    return pair_of(call.Env(), operator_info.name, calls);
  });
}

// rejectedPlugins(): returns [[path, reason], ...].
Napi::Value rejected_plugins(const Call& call) {
  return array_of(call.Env(), of_rejected_plugin_count(), [&](size_t i) {
    const char *path = nullptr, *reason = nullptr;
    call.check(of_rejected_plugin_at(i, &path, &reason));
    return pair_of(call.Env(), path, reason);
  });
}

}  // namespace

void add_library_functions(Exports& exports) {
  exports.add("version", [](const Call&) { return of_version(); });
  exports.add("libraryPath", [](const Call&) { return of_library_path(); });
  exports.add<nearest_name>("nearestName");
  exports.add<label_term>("labelTerm");
  // refusalRank(reason, reached, isLikely): returns the rank of an overload that refuses a call.
  exports.add("refusalRank", [](const Call& call) {
    const auto reason = static_cast<of_refusal>(call.integer(0));
    return of_refusal_rank(reason, static_cast<int32_t>(call.integer(1)), call.boolean(2));
  });

  // dtypes(): returns the names of all dtypes, in the order of their numbers.
  exports.add("dtypes", [](const Call& call) {
    return array_of(call.Env(), OF_DTYPE_COUNT, [](size_t i) { return of_dtype_name(static_cast<of_dtype>(i)); });
  });
  // dtypeMethods(): returns the names of the methods that convert to the dtypes, undefined for those without one.
  exports.add("dtypeMethods", [](const Call& call) {
    return array_of(call.Env(), OF_DTYPE_COUNT, [&](size_t i) {
      const char* name = of_dtype_method(static_cast<of_dtype>(i));
      return name != nullptr ? Napi::Value::From(call.Env(), name) : call.Env().Undefined();
    });
  });
  exports.add("promoteTypes", [](const Call& call) {
    return number_of(of_promote_types(dtype_argument(call, 0), dtype_argument(call, 1)));
  });
  exports.add("defaultDtype", [](const Call&) { return number_of(of_default_dtype()); });
  exports.add("setDefaultDtype", [](const Call& call) { call.check(of_set_default_dtype(dtype_argument(call, 0))); });

  // parseDevice(name): returns a device as one number.
  exports.add("parseDevice", [](const Call& call) {
    of_device device;
    call.check(of_device_parse(call.string(0).c_str(), &device));
    return pack_device(device);
  });
  // deviceName(device): returns the full name of a device from parseDevice().
  exports.add("deviceName", [](const Call& call) { return device_name(call.device(0)); });
  exports.add("devices", [](const Call& call) {
    return array_of(call.Env(), of_device_count(), [](size_t i) { return device_name(of_device_at(i)); });
  });
  exports.add<device_properties>("deviceProperties");
  exports.add("defaultDevice", [](const Call&) { return device_name(of_default_device()); });
  exports.add("setDefaultDevice", [](const Call& call) { call.check(of_set_default_device(call.device(0))); });
  // addDevicePath(path): returns the text of the failure, or null.
  exports.add("addDevicePath", [](const Call& call) {
    const bool added = of_add_device_path(call.string(0).c_str()) == OF_OK;
    return added ? call.Env().Null() : Napi::Value::From(call.Env(), of_last_error());
  });
  exports.add("loadDevice", [](const Call& call) { call.check(of_load_device(call.string(0).c_str())); });

  exports.add<memory>("memory");
  exports.add("setGarbageCollector",
              [](const Call& call) { call.environment().set_garbage_collector(call[0].As<Napi::Function>()); });
  // callAlone(function): calls it while no other thread calls one by this function. Returns its result.
  exports.add("callAlone", [](const Call& call) {
    const std::lock_guard lock(alone_mutex);
    return call[0].As<Napi::Function>().Call({});
  });

  exports.add("setOption",
              [](const Call& call) { call.check(of_set_option(call.string(0).c_str(), call.integer(1))); });
  exports.add("getOption", [](const Call& call) {
    int64_t value = 0;
    call.check(of_get_option(call.string(0).c_str(), &value));
    return value;
  });
  exports.add<fallbacks>("fallbacks");
  exports.add<rejected_plugins>("rejectedPlugins");
}

}  // namespace oneflow::node
