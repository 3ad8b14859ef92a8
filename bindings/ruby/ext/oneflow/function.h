// The types of the table of public functions, which generated/functions.cpp defines.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

#include <cstdint>
#include <span>

namespace oneflow::ruby {

constexpr int kMaxArguments = 16;
constexpr int kMaxResults = 4;
constexpr int kMaxOtherNames = 4;  // of an argument

// kObject is any object: a hand-written function converts it itself.
enum class ArgumentType : uint8_t {
  kTensor,
  kOperand,
  kNumber,
  kInt,
  kInts,  // an Array of Integers, in an Array of them
  kFloat,
  kBool,
  kTrue,  // true only
  kFalse,
  kString,
  kDType,
  kDevice,
  kGenerator,
  kObject
};

struct Argument {
  const char* name;
  const char* expected;  // the name of the type in error texts: "Array of Integers"
  const char* item;      // the name of the type of the items of a list: "Integer"; NULL: no list
  ArgumentType type;
  bool allows_nil;        // whether the argument itself may be nil
  bool allows_nil_items;  // whether items of a list may be nil
  bool required;
  bool keyword_only;
  bool is_nested;                // a list of pairs (kInt) or of lists (kInts), passed as one list of integers
  VALUE symbol;                  // :name, set when the extension is loaded
  bool is_written = false;       // the operator writes to the tensor
  const char* other_names = "";  // separated by spaces
  VALUE other_symbols[kMaxOtherNames] = {};  // set when the extension is loaded; 0 after the last one

  constexpr bool is_list() const { return item != nullptr; }
};

struct Overload {
  const char* op_name = nullptr;  // NULL: a hand-written function
  Argument* arguments = nullptr;
  int8_t argument_count = 0;
  int8_t positional_count = 0;
  int8_t result_count = 1;
  int8_t receiver = -1;       // the argument that a method call binds, or -1
  int8_t viewed = -1;         // the argument whose memory the result shares, or -1
  int8_t written = -1;        // the argument that the operator itself writes to, or -1
  bool has_out = false;       // whether it accepts `out:`
  bool makes_leaves = false;  // whether it accepts `requires_grad:`, for its result
  int8_t replaced = -1;       // the argument that the in-place form writes the result to, or -1 without such a form
  bool gives_list = false;    // whether the single result is a list of tensors
  of_op op = nullptr;         // set when the extension is loaded
};

struct Function {
  const char* name_space = nullptr;     // "Comm" for OneFlow::Comm, NULL for OneFlow itself
  const char* name = nullptr;           // NULL: a hand-written function
  const char* full_name = nullptr;      // "Comm.all_reduce": the name in error texts
  const char* record_name = nullptr;    // "comm.all_reduce": the name in texts of the runtime, or NULL
  const char* method = nullptr;         // the method of Tensor, or NULL
  const char* operator_ = nullptr;      // the Ruby operator, such as "+", or NULL
  const char* in_place = nullptr;       // the in-place form, such as "add!", or NULL
  const char* full_in_place = nullptr;  // "Comm.all_reduce!": its name in error texts
  bool takes_equation = false;          // whether labelled operands may replace the equation: see labelled.h
  Overload* overloads = nullptr;
  int overload_count = 0;
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
