// Maps an of_dtype to the C++ type that stores its elements.
#ifndef ONEFLOW_BASE_DTYPE_VISIT_H_
#define ONEFLOW_BASE_DTYPE_VISIT_H_

#include <oneflow/types.h>

#include <type_traits>

#include "base/error.h"
#include "base/half.h"

namespace oneflow {

// Calls visitor(std::type_identity<T>{}), where T is the C++ type of a real dtype: float for OF_FLOAT32, Float16 for
// OF_FLOAT16, bool for OF_BOOL … Returns the visitor's result. Throws InternalError for complex dtypes, whose real and
// imaginary parts are visited separately.
template <class Visitor>
decltype(auto) visit_dtype(of_dtype dtype, Visitor&& visitor) {
  switch (dtype) {
    case OF_BOOL:
      return visitor(std::type_identity<bool>{});
    case OF_UINT8:
      return visitor(std::type_identity<uint8_t>{});
    case OF_INT8:
      return visitor(std::type_identity<int8_t>{});
    case OF_INT16:
      return visitor(std::type_identity<int16_t>{});
    case OF_INT32:
      return visitor(std::type_identity<int32_t>{});
    case OF_INT64:
      return visitor(std::type_identity<int64_t>{});
    case OF_UINT16:
      return visitor(std::type_identity<uint16_t>{});
    case OF_UINT32:
      return visitor(std::type_identity<uint32_t>{});
    case OF_UINT64:
      return visitor(std::type_identity<uint64_t>{});
    case OF_FLOAT16:
      return visitor(std::type_identity<Float16>{});
    case OF_BFLOAT16:
      return visitor(std::type_identity<BFloat16>{});
    case OF_FLOAT32:
      return visitor(std::type_identity<float>{});
    case OF_FLOAT64:
      return visitor(std::type_identity<double>{});
    case OF_COMPLEX64:
    case OF_COMPLEX128:
    case OF_DTYPE_COUNT:
    case OF_DTYPE_NONE:
      break;
  }
  fail(OF_INTERNAL_ERROR, "there is no real dtype number %d", static_cast<int>(dtype));
}

}  // namespace oneflow

#endif  // ONEFLOW_BASE_DTYPE_VISIT_H_
