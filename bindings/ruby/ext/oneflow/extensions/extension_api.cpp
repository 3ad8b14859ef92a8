#include "extensions/extension_api.h"

#include <oneflow/extension.h>

#include <cstdio>

#include "classes/classes.h"
#include "errors.h"
#include "tensor/convert.h"
#include "tensor/grad_mode.h"
#include "tensor/tensor.h"

namespace oneflow::ruby {
namespace {

VALUE value_of(of_object object) { return static_cast<VALUE>(object); }

// Makes an exception the thread's failure in the C API, with the status of its class. `exception` is a VALUE.
VALUE fail_with(VALUE exception) {
  of_status status = OF_INTERNAL_ERROR;
  for (int i = OF_INVALID_ARGUMENT; i <= OF_FILE_ERROR; ++i) {
    if (rb_obj_class(exception) == error_class(static_cast<of_status>(i))) status = static_cast<of_status>(i);
  }
  VALUE message = rb_obj_as_string(exception);
  of_fail(status, StringValueCStr(message));
  return static_cast<VALUE>(status);
}

// Calls `work`, which may raise. What it raises becomes the thread's failure.
template <class Work>
of_status guarded(const Work& work) {
  const auto call = [](VALUE given) -> VALUE {
    (*reinterpret_cast<const Work*>(given))();
    return Qnil;
  };
  int state = 0;
  rb_protect(call, reinterpret_cast<VALUE>(&work), &state);
  if (state == 0) return OF_OK;
  const VALUE raised = rb_errinfo();
  rb_set_errinfo(Qnil);
  if (!RTEST(rb_obj_is_kind_of(raised, rb_eException))) return of_fail(OF_INTERNAL_ERROR, "a jump out of a block");
  const VALUE status = rb_protect(fail_with, raised, &state);
  if (state == 0) return static_cast<of_status>(status);
  rb_set_errinfo(Qnil);
  return of_fail(OF_INTERNAL_ERROR, "an exception whose message cannot be had");
}

const char* text_of(const char* name) { return name ? name : ""; }

const of_extension_api api = {
    .struct_size = sizeof(of_extension_api),
    .context = nullptr,
    .enter = [](const of_extension_api*) { return guarded(enter_grad_mode); },
    .find_tensor =
        [](const of_extension_api*, of_object object, const char* function, const char* argument, of_tensor* tensor) {
          return guarded([=] {
            const VALUE value = value_of(object);
            if (!is_tensor(value)) {
              raise(OF_TYPE_MISMATCH, "%s: %s must be Tensor, got %" PRIsVALUE, text_of(function), text_of(argument),
                    type_description(value));
            }
            *tensor = of_tensor_retain(handle_of_argument(text_of(function), text_of(argument), value));
          });
        },
    .find_device =
        [](const of_extension_api*, of_object object, const char* function, const char* argument, of_device* device) {
          return guarded([=] { *device = device_of(text_of(function), text_of(argument), value_of(object)); });
        },
    .find_dtype =
        [](const of_extension_api*, of_object object, const char* function, const char* argument, of_dtype* dtype) {
          return guarded([=] { *dtype = dtype_of(text_of(function), text_of(argument), value_of(object)); });
        },
    .find_generator =
        [](const of_extension_api*, of_object object, const char* function, const char* argument,
           of_generator* generator) {
          return guarded([=] {
            const VALUE value = value_of(object);
            const auto found = static_cast<of_generator>(handle_of_class(value, "Generator"));
            if (!found) {
              raise(OF_TYPE_MISMATCH, "%s: %s must be Generator, got %" PRIsVALUE, text_of(function), text_of(argument),
                    type_description(value));
            }
            *generator = of_generator_retain(found);
          });
        },
    .make_tensor =
        [](const of_extension_api*, of_tensor tensor, of_object* object) {
          return guarded([=] {
            const VALUE made = tensor ? new_tensor() : Qnil;
            if (tensor) fill_tensor(made, of_tensor_retain(tensor));
            *object = made;
          });
        },
    .make_device = [](const of_extension_api*, of_device device,
                      of_object* object) { return guarded([=] { *object = device_string(device); }); },
    .make_dtype =
        [](const of_extension_api*, of_dtype dtype, of_object* object) {
          return guarded([=] { *object = dtype != OF_DTYPE_NONE ? dtype_symbol(dtype) : Qnil; });
        },
    .make_generator =
        [](const of_extension_api*, of_generator generator, of_object* object) {
          return guarded([=] { *object = generator ? new_object(of_class_find("Generator"), generator) : Qnil; });
        },
    .make_error = [](const of_extension_api*, of_status status, const char* text,
                     of_object* error) { return guarded([=] { *error = make_error(status, text); }); },
    .name_type =
        [](const of_extension_api*, of_object object, char name[64]) {
          return guarded([=] {
            const VALUE text = type_description(value_of(object));
            snprintf(name, 64, "%.*s", static_cast<int>(RSTRING_LEN(text)), RSTRING_PTR(text));
          });
        },
};

// The table is constant, so that Ractors may share it.
const rb_data_type_t api_type = {
    "oneflow_extension_api",
    {nullptr, nullptr, nullptr, nullptr, {nullptr}},
    nullptr,
    nullptr,
    RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE,
};

VALUE library_path(VALUE) { return rb_filesystem_str_new_cstr(of_library_path()); }

}  // namespace

void define_extension_api(VALUE module) {
  VALUE holder_class = rb_class_new(rb_cObject);
  rb_undef_alloc_func(holder_class);
  const VALUE table = rb_data_typed_object_wrap(holder_class, const_cast<of_extension_api*>(&api), &api_type);
  rb_define_const(module, "EXTENSION_API", rb_obj_freeze(table));
  rb_funcall(module, rb_intern("private_constant"), 1, ID2SYM(rb_intern("EXTENSION_API")));
  rb_define_singleton_method(module, "library_path", library_path, 0);
}

}  // namespace oneflow::ruby
