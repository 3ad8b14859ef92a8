// Operators of kind `view`: the record's stride map gives other sizes and strides over the same memory.
#ifndef ONEFLOW_OPS_VIEW_H_
#define ONEFLOW_OPS_VIEW_H_

#include "dispatch/call.h"

namespace oneflow {

// The layout of a view within the storage of its base.
struct ViewLayout {
  Shape sizes;
  Shape strides;
  int64_t offset;
};

struct ViewRule {
  ViewLayout (*layout)(const Call&);
};

void run_view(Call& call);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_VIEW_H_
