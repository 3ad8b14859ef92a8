// The schema of an operator: its record as static data. The schemas are generated, in runtime/generated.
#ifndef ONEFLOW_DISPATCH_SCHEMA_H_
#define ONEFLOW_DISPATCH_SCHEMA_H_

#include <oneflow/types.h>

#include <cstdint>
#include <span>

#include "base/shape.h"
#include "tensor/tensor.h"

namespace oneflow {

struct Call;
struct DimensionMap;

// The maximum numbers of arguments and results, which the generated tables check at compile time.
inline constexpr int kMaxArguments = 16;
inline constexpr int kMaxResults = 4;

// The types of arguments in signatures.
enum class ArgumentType : int8_t {
  kTensor,
  kOperand,  // a tensor, or a number in place of a tensor
  kNumber,
  kInt,
  kInts,  // in a list: lists of integers, each after its length, as one list of integers
  kFloat,
  kBool,
  kTrue,  // the boolean true only, and false only
  kFalse,
  kString,
  kDim,   // a dimension, which may count from the end; dispatch makes it non-negative
  kSize,  // a non-negative integer
  kDType,
  kDevice,
  kGenerator,
  kGroup,  // a text that names ranks
};

// The real dtypes that an argument accepts. Those with floating-point dtypes also accept complex ones, if the operator
// supports them.
enum class DTypeSet : int8_t { kAny, kNumeric, kFloating, kIntegral, kBool, kIndex };

// How the dtype of a result is computed from the operands.
enum class ResultRule : int8_t {
  kPromote,     // the promoted dtype of all operands
  kSame,        // the dtype of the first operand
  kLast,        // the dtype of the last operand
  kFloating,    // the promoted dtype if it is a floating-point or complex type, else the default dtype
  kBool,        // bool
  kInt64,       // int64
  kAccumulate,  // the promoted dtype if it is a floating-point or complex type, else int64
  kNumbers,     // only for `compute`: the dtype of the result, or float64 for an integer dtype if a number is a float
};

// An argument of an operator.
struct Argument {
  const char* name;
  const char* type_text;               // as in the signature: "dim[]?"
  const char* default_text = nullptr;  // as in the signature; null for a required argument
  of_value default_value = {};
  ArgumentType type;
  bool is_list = false;
  bool is_optional = false;         // None is allowed
  bool has_optional_items = false;  // a list of tensors may have items that are None
  bool is_keyword_only = false;
  bool is_written = false;             // the operator writes to the tensor: "Tensor(a!)"
  bool comes_from_any_device = false;  // the tensor may be on another device than that of the call
  bool takes_any_size = false;         // sizes may be negative: the kind's function checks them and handles -1
  DTypeSet accepts = DTypeSet::kAny;

  bool is_tensor() const { return type == ArgumentType::kTensor || type == ArgumentType::kOperand; }
};

// An operator of an earlier version, whose calls in files are now calls of the operator that has it.
struct FormerSignature {
  const char* name;  // with the overload
  const char* signature;
  // What such calls give, by the positions of the present arguments: names and defaults are those of then. An argument
  // that did not exist has the name "", and its tacit value as the default. Those that exist no longer follow.
  std::span<const Argument> arguments;
};

// The dtypes of an operator.
struct DTypeRule {
  ResultRule results[kMaxResults];
  int override_argument = -1;       // an optional dtype argument, which replaces the rule of the first result
  bool floating_only = false;       // whether the value of this argument must be a floating-point type
  uint32_t held_arguments = 0;      // a bit mask of number arguments that become elements of the first result
  uint32_t selected_arguments = 0;  // those that are selected or compared only, which may be above the range of int64
  ResultRule compute = ResultRule::kPromote;
  bool computes_result = true;  // the compute type follows from the first result; otherwise from `compute`
};

// The attribute whose value selects one of several expressions, and its values in the order of the record. The values
// of an optional argument are "none" and "given", those of a bool "true" and "false".
struct Match {
  int argument = -1;  // -1: none
  std::span<const char* const> values;
};

class ProgramBody;
class OperatorName;

// Where the value of an argument of a gradient comes from.
struct GradientInput {
  enum From : int8_t {
    kGradient,  // the gradient of a result of the call
    kArgument,  // an argument of the call
    kResult,    // a result of the call
    kItem,      // the position, in an argument that is a list of tensors, of the one whose gradient is computed
  };
  From from;
  int8_t position;      // of the result or the argument
  bool needs_elements;  // whether the elements of a tensor are read, rather than only its shape and dtype
};

// What computes the gradient of an argument. It has the shape that the result broadcasts to, and any dtype: the caller
// sums what was broadcast, and casts.
struct GradientRule {
  int argument;
  const OperatorName* op = nullptr;  // null: the gradient is not known
  std::span<const GradientInput> inputs = {};
  int result = 0;  // which result of `op` it is
  // Whether the operator is linear in the gradient, and its transpose for real numbers: for complex numbers, the
  // gradient is the conjugate of the operator of the conjugate.
  bool is_transpose = false;
};

// The schema of an operator.
struct Schema {
  const char* name;           // with the overload: "max.dim"
  const char* function_name;  // without the overload, for error texts: "max"
  const char* signature;
  const char* summary;
  const char* kind;       // "reduction"
  uint64_t signature_id;  // identifies the name and the signature
  uint64_t kernel_id;     // identifies what kernels compute: one of another definition is never called
  std::span<const Argument> arguments;
  int result_count;
  bool gives_list = false;  // whether the only result is a list of tensors
  // The argument whose memory each result may share, as "Tensor(a)" says; -1: it has memory of its own. The items of a
  // list share that of the argument, or of its items if that is a list, too.
  int32_t result_aliases[kMaxResults] = {-1, -1, -1, -1};
  DTypeRule dtype;
  Match match = {};
  bool is_quick = false;           // whether a call takes as long for large tensors as for small ones: views
  bool commutes = false;           // whether the first two operands can be exchanged
  bool is_data_dependent = false;  // whether the shapes of the results depend on data
  bool has_boxes = false;          // whether a part of the result can be computed; see of_call_box()
  bool spans_devices = false;      // whether the tensors of a call may be on any devices, one per rank
  bool between_processes = false;  // whether the other tensors of a call are those of other processes
  const void* rule = nullptr;      // what the record says about the kind, in a struct of the kind: see rule_of()
  void (*run)(Call&);              // the function of the kind, or of the operator alone
  // Adds the links of a call for inference whose first result has the given sizes: see dispatch/dimension_map.h.
  void (*dimensions)(Call&, const Shape&, DimensionMap&);
  // The function for calls with a complex tensor or dtype; null if the operator supports only real ones.
  void (*run_complex)(Call&) = nullptr;
  void (*complex_body)(ProgramBody&) = nullptr;  // the body for complex operands, which run_complex_body() calls
  // Whether the elementwise expression is also correct for complex numbers, so that devices may have complex kernels.
  bool holds_for_complex = false;
  std::span<const GradientRule> gradients = {};  // of the arguments that may have one
  // Whether the operator only calls others, so that without `gradients` it has those of the calls.
  bool has_body = false;
  // Counts the operations of a call whose results are its outputs; null if there are none to count.
  double (*operations)(const Call&) = nullptr;
  std::span<const int64_t> element_operations = {};  // those of the expressions for one element, by variant
  std::span<const FormerSignature> formerly = {};
};

// Returns the rule of an operator whose kind has rules of type `Rule`.
template <class Rule>
const Rule& rule_of(const Schema& schema) {
  return *static_cast<const Rule*>(schema.rule);
}

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_SCHEMA_H_
