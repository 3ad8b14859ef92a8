// The classes of the table as Python classes.
#ifndef ONEFLOW_PYTHON_CLASSES_CLASSES_H_
#define ONEFLOW_PYTHON_CLASSES_CLASSES_H_

#include <oneflow/objects.h>

#include "objects.h"

namespace oneflow::python {

// An object of a class, or of a subclass of it.
struct Object {
  PyObject_HEAD void* handle;  // NULL before __init__
  PyObject* weak_references;
};

// Returns the object, or NULL for one that is not of a class of the table.
const Object* as_object(PyObject* object);
// Returns the class of such an object.
const of_class* class_of(PyObject* object);
// Returns the handle of an object of a class, NULL for other objects, and for one whose __init__ has not run.
void* handle_of_class(PyObject* object, const char* class_name);

// Returns a new object over a handle, to which it adds a reference.
PyObject* new_object(const of_class* object_class, void* handle);

// Returns the class of named tuples of a record, borrowed.
PyObject* record_class(const char* name);

// Adds all classes, records, constants and functions of the table to the module.
bool add_classes(PyObject* module);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_CLASSES_CLASSES_H_
