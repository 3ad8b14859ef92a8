// How a tensor prints: nested brackets with aligned columns, the same text for every front end.
#ifndef ONEFLOW_TENSOR_FORMAT_H_
#define ONEFLOW_TENSOR_FORMAT_H_

#include <string>

#include "tensor/tensor.h"

namespace oneflow {

struct FormatOptions {
  int precision = 4;     // digits behind the point
  int threshold = 1000;  // elements above which the text is summarised
  int edge_items = 3;    // elements shown at each end of a summarised dimension
  int line_width = 80;
  int indent = 0;  // columns that the front end's opening word takes
};

std::string format_tensor(const Tensor& tensor, const FormatOptions& options);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_FORMAT_H_
