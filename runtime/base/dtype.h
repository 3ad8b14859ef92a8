// Element types: names, sizes, categories and promotion, all from one table.
#ifndef ONEFLOW_BASE_DTYPE_H_
#define ONEFLOW_BASE_DTYPE_H_

#include <oneflow/types.h>

#include <cstddef>
#include <string_view>

namespace oneflow {

// In the order in which promotion climbs.
enum class Category : int8_t { kBool, kInteger, kFloating, kComplex };

struct DTypeInfo {
  const char* name;
  int8_t size;  // bytes
  Category category;
  bool is_signed;
};

// By number; OF_DTYPE_COUNT entries.
extern const DTypeInfo kDTypes[OF_DTYPE_COUNT];

inline bool is_valid(of_dtype dtype) { return static_cast<unsigned>(dtype) < OF_DTYPE_COUNT; }
inline const char* dtype_name(of_dtype dtype) { return kDTypes[dtype].name; }
inline int64_t dtype_size(of_dtype dtype) { return kDTypes[dtype].size; }
inline Category category(of_dtype dtype) { return kDTypes[dtype].category; }
inline bool is_floating(of_dtype dtype) { return category(dtype) == Category::kFloating; }
inline bool is_integral(of_dtype dtype) { return category(dtype) == Category::kInteger; }
inline bool is_complex(of_dtype dtype) { return category(dtype) == Category::kComplex; }

// The type of the parts of a complex type; others are their own.
of_dtype part_dtype(of_dtype dtype);
// The complex type with parts of that type, for float32 and float64; OF_DTYPE_COUNT for others.
of_dtype complex_dtype(of_dtype part);

// The dtype of that name; Error(OF_DTYPE_ERROR) that lists the names when there is none.
of_dtype parse_dtype(std::string_view name);

// The smallest dtype that holds both, by PyTorch's table: two floating types of 16 bits give float32, signed and
// unsigned integers the next wider signed one, an integer with a floating type gives the floating type, any type with a
// complex one a complex type whose parts hold both. OF_DTYPE_COUNT where PyTorch has no answer: uint16, uint32 and
// uint64 with another integer or bool.
of_dtype promote_types(of_dtype a, of_dtype b);

// The category of a number outside of any tensor.
Category category(of_scalar_kind kind);

// Finds the dtype of a result from all operands of an operator.
//
// Operands have three ranks: tensors with dimensions, 0-d tensors, numbers. A lower rank counts only when its category
// is higher than that of all above it, so int32 tensor + 0-d int64 tensor is int32, and int32 tensor + 1.5 is the
// default floating type.
class Promotion {
 public:
  void add_tensor(of_dtype dtype, bool has_dimensions);
  void add_number(of_scalar_kind kind, of_dtype default_dtype);

  // Error(OF_DTYPE_ERROR) when two operands have no common type. OF_BOOL without operands.
  of_dtype result() const;

 private:
  enum Rank { kDimensioned, kZeroDim, kNumber, kRanks };
  void add(Rank rank, of_dtype dtype);

  of_dtype found_[kRanks] = {OF_DTYPE_COUNT, OF_DTYPE_COUNT, OF_DTYPE_COUNT};  // OF_DTYPE_COUNT: none so far
};

}  // namespace oneflow

#endif  // ONEFLOW_BASE_DTYPE_H_
