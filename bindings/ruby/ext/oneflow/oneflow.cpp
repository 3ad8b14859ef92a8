// The entry point of the extension: defines the module OneFlow with everything in it that is not written in Ruby.

#include <ruby.h>

#include "calls/define.h"
#include "calls/expression.h"
#include "classes/classes.h"
#include "devices/devices.h"
#include "errors.h"
#include "extensions/extension_api.h"
#include "extensions/operator_library.h"
#include "library.h"
#include "memory.h"
#include "tensor/gradients.h"
#include "tensor/indexing.h"
#include "tensor/native_data.h"
#include "tensor/tensor.h"

extern "C" __attribute__((visibility("default"))) void Init_oneflow() {
  using namespace oneflow::ruby;
  // The extension's global state is read-only after loading, so that several Ractors may use it concurrently.
  rb_ext_ractor_safe(true);
  check_version();
  VALUE module = rb_define_module("OneFlow");
  define_errors(module);
  define_tensor_class(module);
  define_weak_numbers(module);
  define_functions(module);
  define_elsewhere(module);
  define_expressions(module);
  define_classes(module);
  define_native_data(module);
  define_indexing();
  define_library(module);
  define_devices(module);
  define_memory(module);
  define_gradients(module);
  define_extension_api(module);
  define_operator_libraries(module);
}
