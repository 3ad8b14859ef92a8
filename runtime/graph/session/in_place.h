// Lets pointwise work write its results over operands that nothing needs any more.
#ifndef ONEFLOW_GRAPH_SESSION_IN_PLACE_H_
#define ONEFLOW_GRAPH_SESSION_IN_PLACE_H_

#include <vector>

#include "graph/session/work.h"

namespace oneflow::graph {

// Changes operands to other buffers. `is_output[i]` says whether buffer i is one of an output, which the run does not
// choose the place of.
void work_in_place(std::vector<Work>& works, const std::vector<WorkBuffer>& buffers,
                   const std::vector<bool>& is_output);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_SESSION_IN_PLACE_H_
