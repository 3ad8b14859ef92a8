#include "dtype.h"

#include <array>
#include <cstring>

#include "errors.h"

namespace oneflow::python {

PyTypeObject* dtype_type = nullptr;

namespace {

std::array<PyObject*, OF_DTYPE_COUNT> objects;  // they live as long as the process

of_dtype value_of(PyObject* self) { return reinterpret_cast<DtypeObject*>(self)->value; }
const char* name_of(PyObject* self) { return of_dtype_name(value_of(self)); }

PyObject* represent(PyObject* self) { return PyUnicode_FromFormat("oneflow_py.%s", name_of(self)); }
PyObject* text(PyObject* self) { return PyUnicode_FromString(name_of(self)); }
PyObject* reduce(PyObject* self, PyObject*) { return PyUnicode_FromString(name_of(self)); }

// Returns the hash of the name, because the object compares equal to it.
Py_hash_t hash(PyObject* self) {
  Ref name(text(self));
  return name ? PyObject_Hash(name.get()) : -1;
}

PyObject* compare(PyObject* self, PyObject* other, int operation) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  bool equal = self == other;
  if (PyUnicode_Check(other)) {
    equal = PyUnicode_CompareWithASCIIString(other, name_of(self)) == 0;
  } else if (!is_dtype(other)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return PyBool_FromLong(equal == (operation == Py_EQ));
}

PyObject* get_name(PyObject* self, void*) { return text(self); }
PyObject* get_itemsize(PyObject* self, void*) { return PyLong_FromSize_t(of_dtype_size(value_of(self))); }
PyObject* get_is_floating_point(PyObject* self, void*) { return PyBool_FromLong(is_floating_point(value_of(self))); }
PyObject* get_is_complex(PyObject* self, void*) { return PyBool_FromLong(is_complex(value_of(self))); }

PyGetSetDef attributes[] = {
    {"name", get_name, nullptr, "The name of the type, such as 'float32'.", nullptr},
    {"itemsize", get_itemsize, nullptr, "The size of one element in bytes.", nullptr},
    {"is_floating_point", get_is_floating_point, nullptr, "Whether the elements are real floating-point numbers.",
     nullptr},
    {"is_complex", get_is_complex, nullptr, "Whether the elements are complex numbers.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

const char kDocumentation[] =
    "The type of a tensor's elements, such as oneflow_py.float32.\n\n"
    "There is one object per dtype. It compares equal to its name: x.dtype == 'float32'.";

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>(kDocumentation)},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_str, reinterpret_cast<void*>(text)},
    {Py_tp_hash, reinterpret_cast<void*>(hash)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {0, nullptr},
};

PyType_Spec spec = {"oneflow_py.dtype", sizeof(DtypeObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};

bool add_dtype(PyObject* module, of_dtype dtype) {
  DtypeObject* object = PyObject_New(DtypeObject, dtype_type);
  if (object == nullptr) return false;
  object->value = dtype;
  objects[dtype] = reinterpret_cast<PyObject*>(object);
  return PyModule_AddObjectRef(module, of_dtype_name(dtype), objects[dtype]) == 0;
}

}  // namespace

PyObject* dtype_object(of_dtype dtype) { return Py_NewRef(objects[dtype]); }

bool is_floating_point(of_dtype dtype) {
  return dtype == OF_FLOAT16 || dtype == OF_BFLOAT16 || dtype == OF_FLOAT32 || dtype == OF_FLOAT64;
}

bool is_complex(of_dtype dtype) { return dtype == OF_COMPLEX64 || dtype == OF_COMPLEX128; }

bool is_integral(of_dtype dtype) { return dtype != OF_BOOL && !is_floating_point(dtype) && !is_complex(dtype); }

DtypeMatch find_dtype(PyObject* object, of_dtype* dtype) {
  if (is_dtype(object)) {
    *dtype = value_of(object);
    return DtypeMatch::kFound;
  }
  if (PyUnicode_Check(object)) {
    Py_ssize_t bytes = 0;
    const char* name = PyUnicode_AsUTF8AndSize(object, &bytes);
    if (name == nullptr) PyErr_Clear();  // lone surrogates, which no name has
    const bool is_complete = name != nullptr && strlen(name) == static_cast<size_t>(bytes);  // without a null byte
    return is_complete && of_dtype_parse(name, dtype) == OF_OK ? DtypeMatch::kFound : DtypeMatch::kUnknown;
  }
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) {
    *dtype = OF_FLOAT64;
  } else if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) {
    *dtype = OF_COMPLEX128;
  } else if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) {
    *dtype = OF_INT64;
  } else if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) {
    *dtype = OF_BOOL;
  } else {
    return DtypeMatch::kOther;
  }
  return DtypeMatch::kFound;
}

bool add_dtypes(PyObject* module) {
  dtype_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
  if (dtype_type == nullptr || PyModule_AddType(module, dtype_type) != 0) return false;
  for (int i = 0; i < OF_DTYPE_COUNT; ++i) {
    if (!add_dtype(module, static_cast<of_dtype>(i))) return false;
  }
  return true;
}

}  // namespace oneflow::python
