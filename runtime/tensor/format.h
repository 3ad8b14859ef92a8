// Formats tensors as nested brackets with aligned columns, in the same way for all front ends.
#ifndef ONEFLOW_TENSOR_FORMAT_H_
#define ONEFLOW_TENSOR_FORMAT_H_

#include <string>

#include "tensor/tensor.h"

namespace oneflow {

// See of_format_options.
struct FormatOptions {
  int precision = 4;     // digits after the decimal point
  int threshold = 1000;  // the number of elements above which the middle is omitted
  int edge_items = 3;    // items shown at each end of a dimension whose middle is omitted
  int line_width = 80;   // columns
  int indent = 0;        // columns of the string that the front end prints before the brackets
};

// Returns the elements of a tensor in nested brackets, after waiting for pending work. Throws InvalidArgument for an
// option out of range.
std::string format_tensor(const Tensor& tensor, const FormatOptions& options);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_FORMAT_H_
