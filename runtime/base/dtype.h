// Element types: their names, sizes and categories, and type promotion.
#ifndef ONEFLOW_BASE_DTYPE_H_
#define ONEFLOW_BASE_DTYPE_H_

#include <oneflow/types.h>

#include <cstddef>
#include <string_view>

namespace oneflow {

// The category of a dtype, in the order of promotion.
enum class Category : int8_t { kBool, kInteger, kFloating, kComplex };

// The properties of a dtype.
struct DTypeInfo {
  const char* name;
  int8_t size;  // bytes
  Category category;
  bool is_signed;
  const char* method;  // the name of the conversion in front ends, or null
};

// The properties of all dtypes, indexed by of_dtype.
extern const DTypeInfo kDTypes[OF_DTYPE_COUNT];

inline bool is_valid(of_dtype dtype) { return static_cast<unsigned>(dtype) < OF_DTYPE_COUNT; }
inline const char* dtype_name(of_dtype dtype) { return kDTypes[dtype].name; }
inline int64_t dtype_size(of_dtype dtype) { return kDTypes[dtype].size; }
inline Category category(of_dtype dtype) { return kDTypes[dtype].category; }
inline bool is_floating(of_dtype dtype) { return category(dtype) == Category::kFloating; }
inline bool is_integral(of_dtype dtype) { return category(dtype) == Category::kInteger; }
inline bool is_complex(of_dtype dtype) { return category(dtype) == Category::kComplex; }

// Returns the dtype of the real and imaginary parts of a complex dtype; returns a real dtype unchanged.
of_dtype part_dtype(of_dtype dtype);
// Returns the complex dtype whose parts have the dtype `part`; OF_DTYPE_NONE unless that is float32 or float64.
of_dtype complex_dtype(of_dtype part);

// Returns the dtype with the given name. Throws DTypeError, with a list of all names, if there is none.
of_dtype parse_dtype(std::string_view name);

// Returns the smallest dtype that holds the values of both, by PyTorch's rules: float16 and bfloat16 give float32, a
// signed and an unsigned integer give the next wider signed integer, an integer and a floating-point type give the
// floating-point type, and a complex type with any other gives a complex type whose parts hold both. Returns
// OF_DTYPE_NONE where PyTorch defines no result: for uint16, uint32 or uint64 with another integer or bool.
of_dtype promote_types(of_dtype a, of_dtype b);

// Returns the category of a number that is not an element of a tensor.
Category category(of_scalar_kind kind);

// Computes the dtype of a result from the operands of an operator.
//
// Operands have one of three priorities: tensors with dimensions, 0-d tensors, numbers. An operand of lower priority
// affects the result only if its category is higher than the category of all operands of higher priority: int32 tensor
// + 0-d int64 tensor is int32, and int32 tensor + 1.5 has the default floating-point dtype.
class Promotion {
 public:
  void add_tensor(of_dtype dtype, bool has_dimensions);
  void add_number(of_scalar_kind kind, of_dtype default_dtype);

  // Returns the promoted dtype; OF_BOOL without operands. This and the functions above throw DTypeError if two operands
  // have no common dtype.
  of_dtype result() const;

 private:
  enum Priority { kDimensioned, kZeroDim, kNumber, kPriorities };
  void add(Priority priority, of_dtype dtype);

  // The promoted dtype per priority; OF_DTYPE_NONE without operands.
  of_dtype promoted_[kPriorities] = {OF_DTYPE_NONE, OF_DTYPE_NONE, OF_DTYPE_NONE};
};

}  // namespace oneflow

#endif  // ONEFLOW_BASE_DTYPE_H_
