// What a record says about an operator, as static data. The tables are generated: runtime/generated/operators.cpp.
#ifndef ONEFLOW_DISPATCH_SCHEMA_H_
#define ONEFLOW_DISPATCH_SCHEMA_H_

#include <oneflow/types.h>

#include <cstdint>
#include <span>
#include <variant>

#include "base/shape.h"
#include "tensor/tensor.h"

namespace oneflow {

struct Call;

// No signature has more arguments or results; the generated tables check it at compile time.
inline constexpr int kMaxArguments = 16;
inline constexpr int kMaxResults = 4;

// The types of the signature grammar.
enum class ArgumentType : int8_t {
  kTensor,
  kOperand,  // a tensor, or a number that takes part as one
  kNumber,
  kInt,
  kFloat,
  kBool,
  kString,
  kDim,   // counts from the end when negative; dispatch makes it non-negative
  kSize,  // not negative
  kDType,
  kDevice,
};

// The real dtypes that an argument may have. Complex tensors may stand where any or numeric ones may, if the operator
// takes them.
enum class DTypeSet : int8_t { kAny, kNumeric, kFloating, kIntegral, kBool, kIndex };

// How the dtype of a result follows from the operands.
enum class ResultRule : int8_t { kPromote, kSame, kFloating, kBool, kInt64, kAccumulate };

struct Argument {
  const char* name;
  const char* type_text;               // as written: "dim[]?"
  const char* default_text = nullptr;  // as written; NULL: required
  of_value default_value = {};
  ArgumentType type;
  bool is_list = false;
  bool is_optional = false;
  bool has_optional_members = false;
  bool is_keyword_only = false;
  bool is_written = false;             // "Tensor(a!)"
  bool comes_from_any_device = false;  // a tensor elsewhere is brought to the device of the others
  bool takes_any_size = false;         // a size list whose -1 has a meaning that the kind's function knows
  DTypeSet accepts = DTypeSet::kAny;

  bool is_tensor() const { return type == ArgumentType::kTensor || type == ArgumentType::kOperand; }
};

struct DTypeRule {
  ResultRule results[kMaxResults];
  int override_argument = -1;  // a dtype argument that takes the place of the first result's rule
  bool floating_only = false;  // whether that one must be a floating-point type
  ResultRule compute = ResultRule::kPromote;
  uint32_t held_arguments = 0;  // bits of the number arguments that become elements of the first result
  bool computes_result = true;  // the type to compute in is that of the first result; otherwise `compute` gives it
};

// The attribute whose value picks one of several expressions, and the values, in the order of the record. For an
// optional argument they are "none" and "given", for a bool "true" and "false".
struct Match {
  int argument = -1;
  std::span<const char* const> values;
};

// ---------------------------------------------------------------- what is special to a kind

struct ElementwiseRule {};

struct GeneratorRule {
  int size_argument = -1;                 // the size[] argument with the shape, or
  Shape (*sizes)(const Call&) = nullptr;  // a function that works it out
  bool is_random = false;                 // one counter of the Philox sequence per element
};

// An equation, the name of an argument that holds one, or of a rule of the einsum floor.
struct ContractionRule {
  const char* equation;
  int addend = -1;  // a tensor argument that is added to the result
  // Arguments that say how to look for an order of the products (see einsum/path.h), which one to take, and how many
  // elements its intermediates may have.
  int search = -1, path = -1, limit = -1;
};

struct ReductionRule {
  int dims_argument = -1;  // -1: all dimensions
  int keepdim_argument = -1;
  bool allows_empty = true;
};

struct ScanRule {
  int dim_argument;
};

struct GatherRule {
  int dims_argument;
  int index_argument = -1;                 // a tensor that says where to read from
  bool index_is_whole = false;             // read at the whole coordinate; otherwise along the dimension
  int per_dim_argument = -1;               // a list with one member for each of the dimensions
  int64_t (*size)(const Call&) = nullptr;  // of the result along the dimension; NULL: the input's
};

struct ViewLayout {
  Shape sizes;
  Shape strides;
  int64_t offset;
};

struct ViewRule {
  ViewLayout (*layout)(const Call&);
};

class Body;

struct CompositeRule {
  TensorRef (*body)(Body&);
  bool rounds = false;  // whether half floats would be rounded in every step: it then computes in float32
};

struct NativeRule {
  bool is_data_dependent = false;  // the sizes of the results depend on data
};

// How the tensors of several ranks become one.
struct Merge {
  const char* by;    // the operator that joins two tensors
  const char* then;  // the one that takes the joined tensor and the number of ranks; NULL: none
  DTypeSet accepts;
};

// The tensors of the call may be on any devices, one rank each.
struct CollectiveRule {
  std::span<const Merge> merges = {};  // in the order of the matched values
};

using KindRule = std::variant<ElementwiseRule, GeneratorRule, ContractionRule, ReductionRule, ScanRule, GatherRule,
                              ViewRule, CompositeRule, NativeRule, CollectiveRule>;

// One record.
struct Schema {
  const char* name;       // "max.dim"
  const char* word;       // "max": what error texts say
  const char* signature;  // as written
  const char* summary;
  const char* kind;  // "reduction"
  uint64_t hash;     // of the record's meaning: a kernel made from another one is never called
  std::span<const Argument> arguments;
  int result_count;
  bool gives_list = false;  // the one result is a list of tensors
  DTypeRule dtype;
  Match match = {};
  KindRule rule;
  void (*run)(Call&);  // the kind's function, or the record's own for `native`
  // The same for calls with a complex tensor or dtype; NULL: the operator takes real ones only.
  void (*run_complex)(Call&) = nullptr;
  TensorRef (*complex_body)(Body&) = nullptr;  // what run_complex_body() calls
  // Whether an elementwise expression holds for complex numbers: devices may have kernels that compute in them.
  bool holds_for_complex = false;
};

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_SCHEMA_H_
