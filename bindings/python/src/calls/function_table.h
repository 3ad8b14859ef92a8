// The table of the public functions: plain data, which the generator defines in generated/functions.cpp.
#ifndef ONEFLOW_PYTHON_FUNCTION_TABLE_H_
#define ONEFLOW_PYTHON_FUNCTION_TABLE_H_

#include <oneflow/objects.h>

#include <span>

namespace oneflow::python {

struct FunctionRecord {
  of_public_function function;
  const char* module;    // "" or the namespace, "comm.local"
  const char* name;      // within the module
  const char* in_place;  // name of the in-place form, which is a method if the function has one; NULL: none
  bool is_method;
  bool is_attribute;      // whether the method is a property
  const char* signature;  // the __text_signature__ that inspect.signature() parses
  const char* method_signature;
  const char* in_place_signature;
  const char* documentation;
};

// The class of the named tuple of several results.
struct ResultTypeRecord {
  const char* name;
  const char* fields;  // those of the overload, separated by spaces
};

// An operator of Python and the function that implements it.
struct SlotRecord {
  const char* slot;  // "__add__"
  const char* function;
};

// A name that a function or a method has in another library, with what an error says of it.
struct ElsewhereRecord {
  const char* name;
  const char* text;
  bool is_method;
};

extern const std::span<const FunctionRecord> function_records;
extern const std::span<const ResultTypeRecord> result_type_records;
extern const std::span<const SlotRecord> slot_records;
extern const std::span<const ElsewhereRecord> elsewhere_records;

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_FUNCTION_TABLE_H_
