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

// Converts an argument as those of operators are.
of_status find(const ArgumentRecord& argument, of_object object, const char* function, of_value* value) {
  if (const of_status status = require_home()) return status;
  ValueStore store;
  Mismatch mismatch;
  mismatch.argument = &argument;
  if (convert(argument, to_python(object), &store, value, &mismatch)) return OF_OK;
  if (function != nullptr) {
    mismatch.raise(function);
    return take_failure();
  }
  PyErr_Clear();
  return OF_TYPE_MISMATCH;
}

of_status find_tensor(const of_extension_api*, of_object object, const char* function, const char* argument,
                      of_tensor* tensor) {
  of_value value{};
  if (const of_status status = find({argument, "Tensor", ArgumentKind::kTensor}, object, function, &value)) {
    return status;
  }
  *tensor = of_tensor_retain(value.as.tensor);
  return OF_OK;
}

of_status find_device(const of_extension_api*, of_object object, const char* function, const char* argument,
                      of_device* device) {
  of_value value{};
  if (const of_status status = find({argument, "device", ArgumentKind::kDevice}, object, function, &value)) {
    return status;
  }
  *device = value.as.device;
  return OF_OK;
}

of_status find_dtype(const of_extension_api*, of_object object, const char* function, const char* argument,
                     of_dtype* dtype) {
  of_value value{};
  if (const of_status status = find({argument, "dtype", ArgumentKind::kDType}, object, function, &value)) return status;
  *dtype = value.as.dtype;
  return OF_OK;
}

of_status find_generator(const of_extension_api*, of_object object, const char* function, const char* argument,
                         of_generator* generator) {
  of_value value{};
  if (const of_status status = find({argument, "Generator", ArgumentKind::kGenerator}, object, function, &value)) {
    return status;
  }
  *generator = of_generator_retain(value.as.generator);
  return OF_OK;
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
