#include "driver.h"

namespace oneflow::grid {

Scratch::~Scratch() {
  if (data_ != nullptr) context_.host->release(context_.device, data_, bytes_);
}

of_status Scratch::allocate(uint64_t bytes) {
  const of_status status = context_.host->allocate(context_.device, bytes, &data_);
  if (status == OF_OK) bytes_ = bytes;
  return status;
}

uint32_t item_size(of_dtype dtype) {
  switch (dtype) {
    case OF_BOOL:
    case OF_UINT8:
    case OF_INT8:
      return 1;
    case OF_INT16:
    case OF_UINT16:
    case OF_FLOAT16:
    case OF_BFLOAT16:
      return 2;
    case OF_INT32:
    case OF_UINT32:
    case OF_FLOAT32:
      return 4;
    default:
      return 8;
  }
}

int64_t element_count(const of_kernel_tensor& tensor) {
  int64_t count = 1;
  for (int32_t d = 0; d < tensor.rank; ++d) count *= tensor.sizes[d];
  return count;
}

bool is_contiguous(const of_kernel_tensor& tensor) {
  int64_t step = 1;
  for (int32_t d = tensor.rank - 1; d >= 0; --d) {
    if (tensor.sizes[d] != 1 && tensor.strides[d] != step) return false;
    step *= tensor.sizes[d];
  }
  return true;
}

uint32_t groups_for(int64_t elements, uint32_t items) { return static_cast<uint32_t>(divide_up(elements, items)); }

}  // namespace oneflow::grid
