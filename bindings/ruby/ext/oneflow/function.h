// The table of public functions: what generated/functions.cpp fills in and the other files read.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

#include <cstdint>

namespace oneflow::ruby {

constexpr int kMaxArguments = 16;
constexpr int kMaxResults = 4;

// kObject is what a hand-written function reads itself.
enum class ArgumentType : uint8_t {
  kTensor,
  kOperand,
  kNumber,
  kInt,
  kFloat,
  kBool,
  kString,
  kDType,
  kDevice,
  kObject
};

struct Argument {
  const char* name;
  const char* expected;  // what an error text calls the type: "Array of Integers"
  ArgumentType type;
  bool is_list;
  bool allows_nil;          // the argument itself
  bool allows_nil_members;  // members of a list
  bool required;
  bool keyword_only;
  bool is_pairs;  // a list of pairs of integers, which the runtime gets as one of integers
  VALUE symbol;   // :name, set when the extension is loaded
};

struct Overload {
  const char* op_name = nullptr;  // NULL: a hand-written function
  Argument* arguments = nullptr;
  int8_t argument_count = 0;
  int8_t positional_count = 0;
  int8_t result_count = 1;
  int8_t receiver = -1;     // the argument that a method call binds, or -1
  int8_t viewed = -1;       // the argument whose memory the result shares, or -1
  int8_t written = -1;      // the argument that the operator itself writes to, or -1
  bool computes = true;     // does work by the element: false for views
  bool has_out = false;     // takes `out:`
  int8_t replaced = -1;     // the argument whose place the result takes in the in-place form, or -1: there is none
  bool gives_list = false;  // the one result is a list of tensors
  of_op op = nullptr;       // set when the extension is loaded
};

struct Function {
  const char* name_space = nullptr;  // "Comm" for OneFlow::Comm, NULL for OneFlow itself
  const char* name = nullptr;        // NULL: a hand-written function
  const char* full_name = nullptr;   // "comm.all_reduce": what error texts call it
  const char* method = nullptr;      // NULL: there is none
  const char* operator_ = nullptr;   // "+", NULL: there is none
  const char* in_place = nullptr;    // "add!", a method where there is one, NULL: there is none
  bool takes_equation = false;       // operands may come with their labels instead: see labelled.h
  Overload* overloads = nullptr;
  int overload_count = 0;
};

// Defines all public functions, methods and operators; generated.
void define_functions(VALUE module);

}  // namespace oneflow::ruby
