// The entry point of the addon, called once per Node environment.
#include "functions.h"

NAPI_MODULE_INIT() {
  using namespace oneflow::node;
  Environment* environment = Environment::attach(env);
  add_call_functions(environment, exports);
  add_async_functions(environment, exports);
  add_tensor_functions(environment, exports);
  add_expression_functions(environment, exports);
  add_generator_functions(environment, exports);
  add_index_functions(environment, exports);
  add_library_functions(environment, exports);
  add_profile_functions(environment, exports);
  add_gradient_functions(environment, exports);
  add_file_functions(environment, exports);
  return exports;
}
