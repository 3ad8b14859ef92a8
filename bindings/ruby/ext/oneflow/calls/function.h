// The types of the table of public functions, which generated/functions.cpp defines.
#pragma once

#include <oneflow/objects.h>
#include <ruby.h>

#include <span>

namespace oneflow::ruby {

struct Function {
  of_public_function function;
  const char* name_space = nullptr;   // "Comm::Local" for OneFlow::Comm::Local, NULL for OneFlow itself
  const char* name = nullptr;         // NULL: a hand-written function
  const char* record_name = nullptr;  // "comm.local.all_reduce": the name in texts of the runtime, or NULL
  const char* method = nullptr;       // the method of Tensor, or NULL
  const char* operator_ = nullptr;    // the Ruby operator, such as "+", or NULL
  const char* in_place = nullptr;     // the in-place form, such as "add!", or NULL
  // Set when the extension is loaded. Of each overload, the operator, and the names of the parameters as Symbols; and
  // an Array of all names of arguments.
  of_op* ops = nullptr;
  VALUE (*names)[OF_MAX_PARAMETERS] = nullptr;
  VALUE keywords = Qnil;
};

// Defines all public functions, methods and operators. The definition is generated.
void define_functions(VALUE module);

// A name that a function or a method has in another library, with what an error says of it.
struct ElsewhereName {
  const char* name;
  const char* text;
  bool is_method;
};

// The generated tables.
extern const std::span<const Function> function_table;
extern const std::span<const ElsewhereName> elsewhere_table;

}  // namespace oneflow::ruby
