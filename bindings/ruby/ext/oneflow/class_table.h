// The table of classes, which the generator defines in generated/classes.cpp.
#pragma once

#include <oneflow/objects.h>
#include <ruby.h>

#include <span>

namespace oneflow::ruby {

// A method, a function or a constructor.
struct MethodRecord {
  of_method method;            // its implementation is looked up when the extension is loaded
  const char* implementation;  // the name of it
  const char* name;
  VALUE (*function)(int, VALUE*, VALUE);
};

struct ClassRecord {
  const char* name;
  const MethodRecord* create;  // NULL: objects are not created by programs
  std::span<const MethodRecord> methods;
  const MethodRecord* get_state;  // copies have the state of the original; NULL: there are no copies
  const MethodRecord* set_state;
};

// An object that lives as long as the process.
struct ConstantRecord {
  const char* name;
  const char* class_name;
  void* (*get)();
  VALUE (*function)(VALUE);
};

// A function of the module that calls a method of a constant.
struct ConstantMethodRecord {
  const MethodRecord* method;
  size_t constant;  // its position in the table of constants
};

extern const std::span<MethodRecord> method_records;
extern const std::span<const ClassRecord> class_records;
extern const std::span<const ConstantRecord> constant_records;
extern const std::span<const ConstantMethodRecord> constant_method_records;

// Calls a method of the table. Ruby passes no context to the C function of a method, so each entry has its own.
VALUE call_method(const MethodRecord& record, int count, VALUE* values, VALUE self);
template <size_t position>
VALUE call_entry(int count, VALUE* values, VALUE self) {
  return call_method(method_records[position], count, values, self);
}

// Returns the object at a position of the table of constants.
VALUE constant_at(size_t position);
template <size_t position>
VALUE constant_entry(VALUE) {
  return constant_at(position);
}

}  // namespace oneflow::ruby
