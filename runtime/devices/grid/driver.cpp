#include "driver.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

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

of_status fail_as_reported(const of_host_table& host, const of_report& report) {
  char text[512];
  const char* op = reinterpret_cast<const char*>(static_cast<uintptr_t>(report.op));
  if (report.code == OF_REPORT_DIVISION_BY_ZERO) {
    std::snprintf(text, sizeof text, "%s: division by zero", op);
    return host.fail(OF_INVALID_ARGUMENT, text);
  }
  std::snprintf(text, sizeof text, "%s: index %" PRId64 " is out of range for dimension %d of size %" PRId64, op,
                report.index, report.dim, report.size);
  return host.fail(OF_INDEX_OUT_OF_RANGE, text);
}

of_status fail(const of_kernel_context& context, of_status status, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return context.host->fail(status, text);
}

uint32_t groups_for(int64_t elements, uint32_t items) { return static_cast<uint32_t>((elements + items - 1) / items); }

}  // namespace oneflow::grid
