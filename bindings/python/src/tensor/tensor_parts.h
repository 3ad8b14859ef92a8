// The parts of the Tensor type, each defined in its own file; tensor.cpp combines them.
#ifndef ONEFLOW_PYTHON_TENSOR_PARTS_H_
#define ONEFLOW_PYTHON_TENSOR_PARTS_H_

#include <vector>

#include "objects.h"

namespace oneflow::python {

std::vector<PyGetSetDef> tensor_attributes();  // attributes.cpp

std::vector<PyMethodDef> attribute_methods();    // attributes.cpp
std::vector<PyMethodDef> value_methods();        // values.cpp
std::vector<PyMethodDef> exchange_methods();     // exchange.cpp
std::vector<PyMethodDef> dlpack_methods();       // dlpack.cpp
std::vector<PyMethodDef> copying_methods();      // copying.cpp
std::vector<PyMethodDef> conversion_methods();   // conversions.cpp
std::vector<PyMethodDef> gradient_methods();     // gradients.cpp
std::vector<PyMethodDef> methods_of_tensors();   // classes/classes.cpp
std::vector<PyGetSetDef> gradient_attributes();  // gradients.cpp

void append_number_slots(std::vector<PyType_Slot>* slots);    // number.cpp
void append_value_slots(std::vector<PyType_Slot>* slots);     // values.cpp
void append_sequence_slots(std::vector<PyType_Slot>* slots);  // indexing.cpp
void append_buffer_slots(std::vector<PyType_Slot>* slots);    // buffer.cpp
void append_printing_slots(std::vector<PyType_Slot>* slots);  // printing.cpp

// Looks up the functions that implement Python's operators; call it after add_operators().
bool resolve_number_slots();

// Functions of the module.
std::vector<PyMethodDef> creation_functions();    // creation.cpp
std::vector<PyMethodDef> exchange_functions();    // exchange.cpp
std::vector<PyMethodDef> dlpack_functions();      // dlpack.cpp
std::vector<PyMethodDef> copying_functions();     // copying.cpp
std::vector<PyMethodDef> printing_functions();    // printing.cpp
std::vector<PyMethodDef> settings_functions();    // settings.cpp
std::vector<PyMethodDef> memory_functions();      // memory.cpp
std::vector<PyMethodDef> expression_functions();  // expression.cpp
std::vector<PyMethodDef> gradient_functions();    // gradients.cpp

// Private functions, which the package's Python files call.
void add_gradient_functions(PyObject* module);  // gradients.cpp

bool add_expression_type(PyObject* module);  // expression.cpp
bool add_extension_api(PyObject* module);    // extension_api.cpp

using FastFunction = PyObject* (*)(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
// Returns the definition of a method with the calling convention METH_FASTCALL | METH_KEYWORDS.
inline PyMethodDef fast_method(const char* name, FastFunction function, const char* documentation) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL | METH_KEYWORDS,
          documentation};
}

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_TENSOR_PARTS_H_
