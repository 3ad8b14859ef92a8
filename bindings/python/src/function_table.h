// The table of the public functions: plain data, which the generator defines in generated/functions.cpp.
#ifndef ONEFLOW_PYTHON_FUNCTION_TABLE_H_
#define ONEFLOW_PYTHON_FUNCTION_TABLE_H_

#include <cstdint>
#include <span>

namespace oneflow::python {

enum class ArgumentKind : uint8_t {
  kTensor,
  kOperand,  // a tensor or a number
  kNumber,
  kInt,
  kInts,  // a list of integers, in a list of them
  kFloat,
  kBool,
  kTrue,  // True only
  kFalse,
  kString,
  kDType,
  kDevice,
  kGenerator,
  kObject,  // any object: hand-written functions convert it themselves
};

struct ArgumentRecord {
  const char* name;
  const char* word;  // the name of the type in error texts
  ArgumentKind kind;
  const char* item_word = nullptr;  // the name of the type of the items of a list; NULL: no list
  bool optional = false;            // None is allowed
  bool optional_items = false;      // None is allowed as an item of the list
  bool keyword_only = false;
  bool required = true;
  bool is_nested = false;        // a list of pairs (kInt) or of lists (kInts), passed as one list of integers
  bool is_written = false;       // the operator writes to the tensor
  const char* other_names = "";  // separated by spaces

  constexpr bool is_list() const { return item_word != nullptr; }
};

// Returns the record of an argument of a hand-written function that may be absent or None.
constexpr ArgumentRecord optional_argument(const char* name, const char* word, ArgumentKind kind) {
  return {.name = name, .word = word, .kind = kind, .optional = true, .required = false};
}
// Returns the record of a keyword-only argument of a hand-written function that may be absent or None.
constexpr ArgumentRecord optional_keyword(const char* name, const char* word, ArgumentKind kind) {
  return {.name = name, .word = word, .kind = kind, .optional = true, .keyword_only = true, .required = false};
}

struct OverloadRecord {
  const char* op;  // the operator's name in the runtime
  std::span<const ArgumentRecord> arguments;
  int result_count;
  const char* result_type;  // name of the named tuple of several results; NULL: a single result or a plain tuple
  int receiver;             // index of the argument that a method binds; -1: there is no method
  int written;              // index of the argument that is written to and returned; -1: none
  bool has_out;
  bool makes_leaves;  // accepts `requires_grad`, for its result
  int replaced;  // index of the argument that the in-place form overwrites with the result; -1: there is no such form
};

struct FunctionRecord {
  const char* module;    // "" or the namespace, "comm"
  const char* name;      // within the module
  const char* in_place;  // name of the in-place form, which is a method if the function has one; NULL: none
  bool is_method;
  bool is_attribute;      // whether the method is a property
  bool takes_equation;    // whether labelled operands may replace the equation: see labelled.h
  const char* signature;  // the __text_signature__ that inspect.signature() parses
  const char* method_signature;
  const char* in_place_signature;
  const char* documentation;
  std::span<const OverloadRecord> overloads;
};

struct ResultTypeRecord {
  const char* name;
  const char* fields;  // separated by spaces
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
