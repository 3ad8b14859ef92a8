// Which work uses which buffers of a run.
#ifndef ONEFLOW_GRAPH_SESSION_BUFFER_USES_H_
#define ONEFLOW_GRAPH_SESSION_BUFFER_USES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/session/work.h"

namespace oneflow::graph {

// The pieces of work between which a buffer is used, both included.
struct Interval {
  size_t first = SIZE_MAX, last = 0;

  bool is_empty() const { return first == SIZE_MAX; }
  void add(size_t work) {
    first = std::min(first, work);
    last = std::max(last, work);
  }
  bool overlaps(const Interval& other) const { return first <= other.last && other.first <= last; }
};

// Calls visit(place) for the places of all operands.
template <class Item, class Visit>
void for_each_place(Item& work, Visit&& visit) {
  for (auto* operands : {&work.reads, &work.writes})
    for (auto& operand : *operands) visit(operand.place);
}

// Returns the interval of each of `buffer_count` buffers.
std::vector<Interval> buffer_uses(const std::vector<Work>& works, size_t buffer_count);

// Returns whether two operands have the same elements in the same order: what is at the row-major index i of one is at
// the same address as what is at the index i of the other. Compares addresses within what the operands lie in.
bool have_same_elements(const WorkOperand& a, const WorkOperand& b);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_SESSION_BUFFER_USES_H_
