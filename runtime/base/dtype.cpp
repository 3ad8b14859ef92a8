#include "base/dtype.h"

#include <string>

#include "base/characters.h"
#include "base/error.h"

namespace oneflow {

const DTypeInfo kDTypes[OF_DTYPE_COUNT] = {
    {"bool", 1, Category::kBool, false, "bool"},
    {"uint8", 1, Category::kInteger, false, "byte"},
    {"int8", 1, Category::kInteger, true, "char"},
    {"int16", 2, Category::kInteger, true, "short"},
    {"int32", 4, Category::kInteger, true, "int"},
    {"int64", 8, Category::kInteger, true, "long"},
    {"uint16", 2, Category::kInteger, false, nullptr},
    {"uint32", 4, Category::kInteger, false, nullptr},
    {"uint64", 8, Category::kInteger, false, nullptr},
    {"float16", 2, Category::kFloating, true, "half"},
    {"bfloat16", 2, Category::kFloating, true, "bfloat16"},
    {"float32", 4, Category::kFloating, true, "float"},
    {"float64", 8, Category::kFloating, true, "double"},
    {"complex64", 8, Category::kComplex, true, "cfloat"},
    {"complex128", 16, Category::kComplex, true, "cdouble"},
};

of_dtype parse_dtype(std::string_view name) {
  std::string names;
  for (int i = 0; i < OF_DTYPE_COUNT; ++i) {
    if (name == kDTypes[i].name) return static_cast<of_dtype>(i);
    names += i ? ", " : "";
    names += kDTypes[i].name;
  }
  fail(OF_DTYPE_ERROR, "there is no dtype '%s'; there are %s", printable(name).c_str(), names.c_str());
}

of_dtype part_dtype(of_dtype dtype) {
  if (!is_complex(dtype)) return dtype;
  return dtype == OF_COMPLEX64 ? OF_FLOAT32 : OF_FLOAT64;
}

of_dtype complex_dtype(of_dtype part) {
  if (part == OF_FLOAT32) return OF_COMPLEX64;
  return part == OF_FLOAT64 ? OF_COMPLEX128 : OF_DTYPE_NONE;
}

of_dtype promote_types(of_dtype a, of_dtype b) {
  if (a == b) return a;
  if (category(a) > category(b)) std::swap(a, b);
  if (is_complex(b)) return complex_dtype(promote_types(promote_types(part_dtype(a), part_dtype(b)), OF_FLOAT32));
  if (is_floating(b)) {
    if (!is_floating(a)) return b;
    if (dtype_size(a) == dtype_size(b)) return OF_FLOAT32;  // float16 and bfloat16
    return dtype_size(a) > dtype_size(b) ? a : b;
  }
  for (of_dtype dtype : {a, b})
    if (is_integral(dtype) && !kDTypes[dtype].is_signed && dtype_size(dtype) > 1) return OF_DTYPE_NONE;
  if (category(a) == Category::kBool) return b;
  if (kDTypes[a].is_signed != kDTypes[b].is_signed) {
    const of_dtype with_sign = kDTypes[a].is_signed ? a : b;
    return with_sign == OF_INT8 ? OF_INT16 : with_sign;  // the unsigned dtype is uint8
  }
  return dtype_size(a) > dtype_size(b) ? a : b;
}

Category category(of_scalar_kind kind) {
  switch (kind) {
    case OF_SCALAR_BOOL:
      return Category::kBool;
    case OF_SCALAR_FLOAT:
      return Category::kFloating;
    case OF_SCALAR_INT:
    case OF_SCALAR_UINT:
      break;
  }
  return Category::kInteger;
}

namespace {

of_dtype promote_or_fail(of_dtype a, of_dtype b) {
  const of_dtype both = promote_types(a, b);
  if (both == OF_DTYPE_NONE) fail(OF_DTYPE_ERROR, "%s and %s have no common dtype", dtype_name(a), dtype_name(b));
  return both;
}

// Promotes the dtype of operands of higher priority, `upper`, by that of operands of lower priority, `lower`, which has
// an effect only if its category is higher.
of_dtype combine_priorities(of_dtype upper, of_dtype lower) {
  if (upper == OF_DTYPE_NONE) return lower;
  if (lower == OF_DTYPE_NONE || category(lower) <= category(upper)) return upper;
  // A complex dtype of lower priority does not change the precision.
  if (is_floating(upper) && is_complex(lower)) return promote_or_fail(upper, OF_COMPLEX64);
  return promote_or_fail(upper, lower);
}

}  // namespace

void Promotion::add(Priority priority, of_dtype dtype) {
  of_dtype& promoted = promoted_[priority];
  promoted = promoted == OF_DTYPE_NONE ? dtype : promote_or_fail(promoted, dtype);
}

void Promotion::add_tensor(of_dtype dtype, bool has_dimensions) {
  add(has_dimensions ? kDimensioned : kZeroDim, dtype);
}

void Promotion::add_number(of_scalar_kind kind, of_dtype default_dtype) {
  switch (category(kind)) {
    case Category::kBool:
      return add(kNumber, OF_BOOL);
    case Category::kInteger:
      return add(kNumber, OF_INT64);
    case Category::kFloating:
    case Category::kComplex:  // never the case: scalars are real
      return add(kNumber, default_dtype);
  }
}

of_dtype Promotion::result() const {
  const of_dtype without_dimensions = combine_priorities(promoted_[kZeroDim], promoted_[kNumber]);
  const of_dtype promoted = combine_priorities(promoted_[kDimensioned], without_dimensions);
  return promoted == OF_DTYPE_NONE ? OF_BOOL : promoted;
}

}  // namespace oneflow
