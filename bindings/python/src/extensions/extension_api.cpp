// What native modules of users get: see oneflow/extension.h.

#include <oneflow/extension.h>

#include <cstdio>

#include "bind.h"
#include "classes/classes.h"

namespace oneflow::python {
namespace {

// The interpreter that the package belongs to.
PyInterpreterState* home = nullptr;

PyObject* to_python(of_object object) { return reinterpret_cast<PyObject*>(object); }

of_status require_home() {
  if (PyInterpreterState_Get() == home) return OF_OK;
  return of_fail(OF_UNSUPPORTED, "oneflow_py cannot be used in subinterpreters");
}

// Passes on a new reference; an exception if it is NULL.
of_status give(PyObject* owned, of_object* object) {
  if (owned == nullptr) return take_failure();
  *object = reinterpret_cast<of_object>(owned);
  return OF_OK;
}

of_status enter(const of_extension_api*) { return require_home(); }

constexpr of_type kGeneratorType = {OF_TYPE_OBJECT, false, "Generator", "Generator", 0, nullptr, nullptr};

// Converts an argument as those of operators are.
of_status find(const of_type& type, of_object object, const char* function, const char* argument, of_data* data) {
  if (const of_status status = require_home()) return status;
  CallContext context;
  context.is_function = true;
  const of_status status = of_convert(function != nullptr ? function : "", argument != nullptr ? argument : "", &type,
                                      &python_language, &context, to_python(object), data);
  if (status == OF_OK || function != nullptr) return status == OF_INTERRUPTED ? take_failure() : status;
  PyErr_Clear();
  return OF_TYPE_MISMATCH;
}

of_status find_tensor(const of_extension_api*, of_object object, const char* function, const char* argument,
                      of_tensor* tensor) {
  of_data data{};
  const of_status status = find(kTensorType, object, function, argument, &data);
  if (status == OF_OK) *tensor = of_tensor_retain(data.as.tensor);
  return status;
}

of_status find_device(const of_extension_api*, of_object object, const char* function, const char* argument,
                      of_device* device) {
  of_data data{};
  const of_status status = find(kDeviceType, object, function, argument, &data);
  if (status == OF_OK) *device = data.as.device;
  return status;
}

of_status find_dtype(const of_extension_api*, of_object object, const char* function, const char* argument,
                     of_dtype* dtype) {
  of_data data{};
  const of_status status = find(kDTypeType, object, function, argument, &data);
  if (status == OF_OK) *dtype = data.as.dtype;
  return status;
}

of_status find_generator(const of_extension_api*, of_object object, const char* function, const char* argument,
                         of_generator* generator) {
  of_data data{};
  const of_status status = find(kGeneratorType, object, function, argument, &data);
  if (status == OF_OK) *generator = of_generator_retain(static_cast<of_generator>(data.as.object));
  return status;
}

of_status make_tensor(const of_extension_api*, of_tensor tensor, of_object* object) {
  if (const of_status status = require_home()) return status;
  return give(tensor != nullptr ? wrap(of_tensor_retain(tensor)) : Py_NewRef(Py_None), object);
}

of_status make_device(const of_extension_api*, of_device device, of_object* object) {
  if (const of_status status = require_home()) return status;
  return give(device_object(device), object);
}

of_status make_dtype(const of_extension_api*, of_dtype dtype, of_object* object) {
  if (const of_status status = require_home()) return status;
  return give(dtype != OF_DTYPE_NONE ? dtype_object(dtype) : Py_NewRef(Py_None), object);
}

of_status make_generator(const of_extension_api*, of_generator generator, of_object* object) {
  if (const of_status status = require_home()) return status;
  return give(generator != nullptr ? new_object(of_class_find("Generator"), generator) : Py_NewRef(Py_None), object);
}

of_status make_error(const of_extension_api*, of_status status, const char* text, of_object* error) {
  raise(status, text);
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  Ref owned_type(type), owned_traceback(traceback);
  return give(value, error);
}

of_status name_type(const of_extension_api*, of_object object, char name[64]) {
  snprintf(name, 64, "%s", type_name(to_python(object)).c_str());
  return OF_OK;
}

const of_extension_api api = {
    .struct_size = sizeof(of_extension_api),
    .context = nullptr,
    .enter = enter,
    .find_tensor = find_tensor,
    .find_device = find_device,
    .find_dtype = find_dtype,
    .find_generator = find_generator,
    .make_tensor = make_tensor,
    .make_device = make_device,
    .make_dtype = make_dtype,
    .make_generator = make_generator,
    .make_error = make_error,
    .name_type = name_type,
};

}  // namespace

bool add_extension_api(PyObject* module) {
  home = PyInterpreterState_Get();
  const Ref table(PyCapsule_New(const_cast<of_extension_api*>(&api), "oneflow_py._native._extension_api", nullptr));
  const Ref path(PyUnicode_DecodeFSDefault(of_library_path()));
  return table && path && PyModule_AddObjectRef(module, "_extension_api", table.get()) == 0 &&
         PyModule_AddObjectRef(module, "_library_path", path.get()) == 0;
}

}  // namespace oneflow::python
