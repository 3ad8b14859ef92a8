// The classes of the table as Ruby classes.
#pragma once

#include <oneflow/objects.h>
#include <ruby.h>

namespace oneflow::ruby {

// What an object of a class, or of a subclass of it, holds.
struct Object {
  const of_class* object_class;
  void* handle;  // NULL before `initialize`
};

// Returns whether a value is an object of a class of the table.
bool is_object(VALUE value);
// Returns what such an object holds.
const Object& object_of(VALUE object);

// Returns the handle of an object of a class; NULL for other values, and for one that was not initialized.
void* handle_of_class(VALUE value, const char* class_name);

// Returns a new object over a handle, to which it adds a reference. May raise.
VALUE new_object(const of_class* object_class, void* handle);

// Returns a record of the values in an Array; that itself for records that are Arrays. May raise.
VALUE new_record(const char* name, VALUE values);

// Defines the classes, constants and functions of the table.
void define_classes(VALUE module);

}  // namespace oneflow::ruby
