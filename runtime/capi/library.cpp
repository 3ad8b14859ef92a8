// The C API: library, errors, dtypes, options.
#include <cstdlib>
#include <new>
#include <string>

#include "base/dtype.h"
#include "capi/boundary.h"
#include "device/options.h"
#include "device/plugin_loading.h"
#include "tensor/defaults.h"

using namespace oneflow;

const char* of_version(void) { return ONEFLOW_VERSION; }

const char* of_library_path(void) {
  try {
    static const std::string& path = *new std::string(own_path());
    return path.c_str();
  } catch (const std::bad_alloc&) {
    return "";
  }
}

const char* of_last_error(void) { return last_error(); }

bool of_last_error_is_deferred(void) { return last_error_is_complete(); }

const char* of_status_name(of_status status) { return status_name(status); }

of_status of_fail(of_status status, const char* text) { return set_last_error(status, text ? text : ""); }

void of_free(void* memory) { std::free(memory); }

const char* of_dtype_name(of_dtype dtype) { return is_valid(dtype) ? dtype_name(dtype) : "unknown"; }

const char* of_dtype_method(of_dtype dtype) { return is_valid(dtype) ? kDTypes[dtype].method : nullptr; }

of_status of_dtype_parse(const char* name, of_dtype* dtype) {
  return guard([&, function = __func__] {
    require(name, function, "name");
    require(dtype, function, "dtype");
    *dtype = parse_dtype(name);
  });
}

size_t of_dtype_size(of_dtype dtype) { return is_valid(dtype) ? static_cast<size_t>(dtype_size(dtype)) : 0; }

of_dtype of_promote_types(of_dtype a, of_dtype b) {
  return is_valid(a) && is_valid(b) ? promote_types(a, b) : OF_DTYPE_NONE;
}

of_dtype of_default_dtype(void) { return default_dtype(); }

of_status of_set_default_dtype(of_dtype dtype) {
  return guard([&] { set_default_dtype(dtype); });
}

of_status of_set_option(const char* name, int64_t value) {
  return guard([&, function = __func__] {
    require(name, function, "name");
    set_option(name, value);
  });
}

of_status of_get_option(const char* name, int64_t* value) {
  return guard([&, function = __func__] {
    require(name, function, "name");
    require(value, function, "value");
    *value = get_option(name);
  });
}
