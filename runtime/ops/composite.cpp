// Composites: expressions over other operators, each of which passes through dispatch.
#include "dispatch/dispatch.h"
#include "ops/kinds.h"

namespace oneflow {

void run_composite(Call& call) {
  Body body(call);
  set_result(call, 0, std::get<CompositeRule>(call.schema().rule).body(body));
}

}  // namespace oneflow
