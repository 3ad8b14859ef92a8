// The table of classes, which the generator defines in generated/class_table.cpp.
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
  bool is_overridable;  // whether the library calls the method of a subclass that overrides it
};

struct ClassRecord {
  const char* name_space;
  const char* name;
  const MethodRecord* create;  // NULL: objects are not created by programs
  std::span<const MethodRecord* const> methods;
  const MethodRecord* text;       // what `to_s` returns; NULL: what `inspect` does
  bool is_shared;                 // whether Ractors may share objects
  const MethodRecord* get_state;  // copies have the state of the original; NULL: there are no copies
  const MethodRecord* set_state;
  const MethodRecord* enter;  // what runs before and after a block that gets an object; NULL: none
  const MethodRecord* leave;
  bool needs_block;          // whether functions that make objects take a block; they return the object
  const MethodRecord* keys;  // of an object that is a map; NULL for others
  const MethodRecord* get;
  const MethodRecord* equality;  // the property by which objects are equal; NULL: an object equals only itself
  const char* use;               // the method that calls a block between `enter` and `leave`; NULL: none
};

// An object that lives as long as the process.
struct ConstantRecord {
  const char* name;
  const char* class_name;
  void* (*get)();
  VALUE (*function)(VALUE);
};

// A function. It may call a method of a constant.
struct FunctionOfRecord {
  const char* name_space;  // "" for OneFlow itself
  const MethodRecord* method;
  int constant;  // its position in the table of constants, or -1
};

// The class of records, a Struct; or Arrays in its place.
struct RecordRecord {
  const char* name_space;
  const char* name;
  std::span<const char* const> fields;
  const char* text;  // the field that is its text; NULL: none
  bool is_array;
};

extern const std::span<MethodRecord> method_records;
extern const std::span<const ClassRecord> class_records;
extern const std::span<const ConstantRecord> constant_records;
extern const std::span<const FunctionOfRecord> function_of_records;
extern const std::span<const MethodRecord* const> tensor_methods;
extern const std::span<const RecordRecord> record_records;

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
