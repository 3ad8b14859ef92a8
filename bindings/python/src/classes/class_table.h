// The table of classes, which the generator defines in generated/classes.cpp.
#ifndef ONEFLOW_PYTHON_CLASSES_CLASS_TABLE_H_
#define ONEFLOW_PYTHON_CLASSES_CLASS_TABLE_H_

#include <oneflow/objects.h>

#include <span>

#include "objects.h"

namespace oneflow::python {

using FastFunction = PyObject* (*)(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);

// A method, a function or a constructor.
struct MethodRecord {
  of_method method;            // its implementation is looked up when the module is loaded
  const char* implementation;  // the name of it
  const char* name;            // of the attribute
  const char* documentation;   // begins with the signature that inspect.signature() parses
  FastFunction function;
};

// The functions of Python for a class with a state, NULL without one: pickles and copies hold the state.
struct StateRecord {
  const MethodRecord* get;
  const MethodRecord* set;
};

struct ClassRecord {
  const char* name;
  const char* documentation;
  const MethodRecord* create;
  std::span<const MethodRecord> methods;
  StateRecord state;
};

// An object that lives as long as the process.
struct ConstantRecord {
  const char* name;
  const char* class_name;
  void* (*get)();
};

// A function of the module that calls a method of a constant.
struct ConstantMethodRecord {
  const MethodRecord* method;
  const char* constant;
};

// The class of named tuples of a record.
struct RecordRecord {
  const char* name;
  const char* fields;  // separated by spaces
};

extern const std::span<MethodRecord> method_records;
extern const std::span<const ClassRecord> class_records;
extern const std::span<const ConstantRecord> constant_records;
extern const std::span<const ConstantMethodRecord> constant_method_records;
extern const std::span<const RecordRecord> record_records;

// Calls the method at a position of the table. Python passes no context to the C function of a method, so each entry
// has its own.
PyObject* call_method(const MethodRecord& record, PyObject* self, PyObject* const* args, Py_ssize_t count,
                      PyObject* keywords);
template <size_t position>
PyObject* call_entry(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return call_method(method_records[position], self, args, count, keywords);
}

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_CLASSES_CLASS_TABLE_H_
