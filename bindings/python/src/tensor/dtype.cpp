#include "tensor/dtype.h"

#include <array>
#include <cstring>

#include "bind.h"

namespace oneflow::python {

PyTypeObject* dtype_type = nullptr;

namespace {

std::array<PyObject*, OF_DTYPE_COUNT> objects;  // they live as long as the process

struct Dtype {
  of_dtype value;

  const char* name() const { return of_dtype_name(value); }
  size_t itemsize() const { return of_dtype_size(value); }
  bool is_floating_point() const { return python::is_floating_point(value); }
  bool is_complex() const { return python::is_complex(value); }
  nb::object represent() const { return take(PyUnicode_FromFormat("oneflow_py.%s", name())); }
};

// Returns the hash of the name, because the object compares equal to it.
Py_hash_t hash(PyObject* self) {
  Ref name(PyObject_Str(self));
  return name ? PyObject_Hash(name.get()) : -1;
}

PyObject* compare(PyObject* self, PyObject* other, int operation) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  bool equal = self == other;
  if (PyUnicode_Check(other)) {
    equal = PyUnicode_CompareWithASCIIString(other, nb::inst_ptr<Dtype>(self)->name()) == 0;
  } else if (!is_dtype(other)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return PyBool_FromLong(equal == (operation == Py_EQ));
}

PyGetSetDef attributes[] = {
    attribute<&Dtype::name>("name", "The name of the type, such as 'float32'."),
    attribute<&Dtype::itemsize>("itemsize", "The size of one element in bytes."),
    attribute<&Dtype::is_floating_point>("is_floating_point", "Whether the elements are real floating-point numbers."),
    attribute<&Dtype::is_complex>("is_complex", "Whether the elements are complex numbers."),
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    plain<&Dtype::name>("__reduce__", nullptr),  // of the name in this module
    {nullptr, nullptr, 0, nullptr},
};

const char kDocumentation[] =
    "The type of a tensor's elements, such as oneflow_py.float32.\n\n"
    "There is one object per dtype. It compares equal to its name: x.dtype == 'float32'.";

const PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>(kDocumentation)},
    {Py_tp_new, reinterpret_cast<void*>(refuse_new)},
    {Py_tp_repr, unary_slot<&Dtype::represent>()},
    {Py_tp_str, unary_slot<&Dtype::name>()},
    {Py_tp_hash, reinterpret_cast<void*>(hash)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {0, nullptr},
};

}  // namespace

PyObject* dtype_object(of_dtype dtype) { return Py_NewRef(objects[dtype]); }

bool is_floating_point(of_dtype dtype) {
  return dtype == OF_FLOAT16 || dtype == OF_BFLOAT16 || dtype == OF_FLOAT32 || dtype == OF_FLOAT64;
}

bool is_complex(of_dtype dtype) { return dtype == OF_COMPLEX64 || dtype == OF_COMPLEX128; }

bool is_integral(of_dtype dtype) { return dtype != OF_BOOL && !is_floating_point(dtype) && !is_complex(dtype); }

DtypeMatch find_dtype(PyObject* object, of_dtype* dtype) {
  if (is_dtype(object)) {
    *dtype = nb::inst_ptr<Dtype>(object)->value;
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
  dtype_type = add_class<Dtype>(module, "dtype", slots);
  for (int i = 0; i < OF_DTYPE_COUNT; ++i) {
    const auto dtype = static_cast<of_dtype>(i);
    objects[i] = nb::cast(Dtype{dtype}).release().ptr();
    if (PyModule_AddObjectRef(module, of_dtype_name(dtype), objects[i]) != 0) return false;
  }
  return true;
}

}  // namespace oneflow::python
