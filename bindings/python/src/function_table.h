// What the generator says about the public functions: plain data, filled in by generated/functions.cpp.
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
  kFloat,
  kBool,
  kString,
  kDType,
  kDevice,
  kObject,  // anything: hand-written functions convert it themselves
};

struct ArgumentRecord {
  const char* name;
  const char* word;  // what an error text calls the type
  ArgumentKind kind;
  bool is_list = false;
  bool optional = false;          // None is allowed
  bool optional_members = false;  // None is allowed within the list
  bool keyword_only = false;
  bool required = true;
  bool is_pairs = false;  // a list of pairs of integers, which the runtime gets as one of integers
};

// Rows for hand-written functions: an argument that may be absent or None, the second one by name only.
constexpr ArgumentRecord optional_argument(const char* name, const char* word, ArgumentKind kind) {
  return {.name = name, .word = word, .kind = kind, .optional = true, .required = false};
}
constexpr ArgumentRecord optional_keyword(const char* name, const char* word, ArgumentKind kind) {
  return {.name = name, .word = word, .kind = kind, .optional = true, .keyword_only = true, .required = false};
}

struct OverloadRecord {
  const char* op;  // the operator's name in the runtime
  std::span<const ArgumentRecord> arguments;
  int result_count;
  const char* result_type;  // the named tuple for several results; NULL: one result, or a plain tuple
  int receiver;             // the argument that a method binds; -1: not offered as a method
  int written;              // the argument that is written to and returned; -1: none
  bool has_out;
  int replaced;  // the argument whose place the result takes in the in-place form; -1: there is none
};

struct FunctionRecord {
  const char* module;    // "" or the namespace, "comm"
  const char* name;      // within the module
  const char* in_place;  // the name of the in-place form, a method where there are methods; NULL: none
  bool is_method;
  bool takes_equation;    // whether operands may come with their labels instead: see labelled.h
  const char* signature;  // as inspect.signature reads it
  const char* method_signature;
  const char* in_place_signature;
  const char* documentation;
  std::span<const OverloadRecord> overloads;
};

struct ResultTypeRecord {
  const char* name;
  const char* fields;  // separated by blanks
};

// Python's own operator and the function that it calls.
struct SlotRecord {
  const char* slot;  // "__add__"
  const char* function;
};

extern const std::span<const FunctionRecord> function_records;
extern const std::span<const ResultTypeRecord> result_type_records;
extern const std::span<const SlotRecord> slot_records;

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_FUNCTION_TABLE_H_
