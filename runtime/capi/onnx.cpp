// The C API: ONNX models, which a library of its own reads.
#include <dlfcn.h>

#include "capi/boundary.h"
#include "device/plugin_loading.h"
#include "onnx/entry.h"

using namespace oneflow;

namespace {

// Returns a function of the ONNX library, which is loaded by the first call and never unloaded.
template <class Function>
Function* library_function(const char* name) {
  static void* const library = [] {
    const std::string path = own_folder() / "liboneflow_onnx.so";
    void* const found = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!found) fail(OF_UNSUPPORTED, "the ONNX library cannot be loaded: %s", dlerror());
    return found;
  }();
  void* const symbol = dlsym(library, name);
  if (!symbol) fail(OF_INTERNAL_ERROR, "the ONNX library does not have %s: it is of another version", name);
  return reinterpret_cast<Function*>(symbol);
}

// Calls a function of the library, and throws its error.
template <class... Arguments, class... Given>
void call_library(of_status (*function)(Arguments...), Given... given) {
  std::string text;
  const of_onnx_report report = [](void* context, const char* said) { *static_cast<std::string*>(context) = said; };
  if (const of_status status = function(given..., report, &text)) throw Error(status, text);
}

}  // namespace

of_status of_onnx_load(const char* path, const of_onnx_load_options* options, of_graph* result) {
  return guard([&, name = __func__] {
    require(path, name, "path");
    require(result, name, "result");
    const of_onnx_load_options given = options ? read_struct(options, name, "options") : of_onnx_load_options{};
    if (given.size_count) require(given.sizes, name, "sizes");
    for (uint64_t i = 0; i < given.size_count; ++i) require(given.sizes[i].name, name, "a size's name");
    if (given.value_count) {
      require(given.values, name, "values");
      require(given.value_names, name, "value_names");
    }
    for (uint64_t i = 0; i < given.value_count; ++i) {
      require(given.value_names[i], name, "a value's name");
      require_tensor(given.values[i], name, "a value");
    }
    const auto load = library_function<decltype(of_onnx_library_load)>("of_onnx_library_load");
    named("load", [&] { call_library(load, path, &given, result); });
  });
}
