// The entry point of the addon, called once per Node environment.
#include "functions.h"

extern "C" NAPI_MODULE_EXPORT napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  using namespace oneflow::node;
  Exports functions(Environment::attach(env), Napi::Object(env, exports));
  add_call_functions(functions);
  add_async_functions(functions);
  add_tensor_functions(functions);
  add_expression_functions(functions);
  add_class_functions(functions);
  add_index_functions(functions);
  add_library_functions(functions);
  add_gradient_functions(functions);
  add_extension_functions(functions);
  add_operator_library_functions(functions);
  return exports;
}
