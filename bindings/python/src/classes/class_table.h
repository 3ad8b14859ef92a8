// The table of classes, which the generator defines in generated/class_table.cpp.
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
  const char* name_space;      // of a function; "": the module itself
  const char* name;            // of the attribute
  const char* documentation;   // begins with the signature that inspect.signature() parses
  FastFunction function;
  bool is_overridable;  // whether the library calls the method of a subclass that overrides it
};

// The functions of Python for a class with a state, NULL without one: pickles and copies hold the state.
struct StateRecord {
  const MethodRecord* get;
  const MethodRecord* set;
};

// What enters and leaves a block; NULL for a class that is no context.
struct ContextRecord {
  const MethodRecord* enter;
  const MethodRecord* leave;
};

// What gets the keys and an item of an object that is a map; NULL for others.
struct ItemsRecord {
  const MethodRecord* keys;
  const MethodRecord* get;
};

// A property, which is read-only without a method that sets it.
struct PropertyRecord {
  const MethodRecord* get;
  const MethodRecord* set;
};

struct ClassRecord {
  const char* name_space;
  const char* name;
  const char* documentation;
  const MethodRecord* create;  // NULL: programs do not create objects
  const char* made_by;         // what does instead
  std::span<const MethodRecord* const> methods;
  std::span<const PropertyRecord> properties;
  const MethodRecord* text;  // what str() returns; NULL: what repr() does
  StateRecord state;
  ContextRecord context;
  ItemsRecord items;
  const MethodRecord* equality;  // the property by which objects are equal; NULL: an object equals only itself
};

// An object that lives as long as the process.
struct ConstantRecord {
  const char* name;
  const char* class_name;
  void* (*get)();
};

// A function. It may call a method of a constant.
struct FunctionOfRecord {
  const MethodRecord* method;
  const char* constant;  // NULL: none
};

// The class of named tuples of a record.
struct RecordRecord {
  const char* name_space;
  const char* name;
  const char* fields;  // separated by spaces
  const char* text;    // the field that str() returns; NULL: none
};

extern const std::span<MethodRecord> method_records;
extern const std::span<const ClassRecord> class_records;
extern const std::span<const ConstantRecord> constant_records;
extern const std::span<const FunctionOfRecord> function_of_records;
extern const std::span<const MethodRecord* const> tensor_methods;
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
