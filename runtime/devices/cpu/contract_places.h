// Walking the elements of a group of dimensions by their offsets, as the kernels that need no packing do.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_PLACES_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_PLACES_H_

#include <algorithm>

#include "contract_problem.h"
#include "thread_pool.h"

namespace oneflow::cpu {

// Calls kernel(count, places) for the elements of a group, a few at a time, on all threads where there are many:
// places[operand] are the offsets of `count` elements. `work` is that of one of them, in multiplications.
constexpr int64_t kPlaces = 256;
template <class Kernel>
void for_each_place(const DimGroup& group, int64_t work, Kernel&& kernel) {
  const int64_t task_places = std::clamp<int64_t>(kTaskWork / std::max<int64_t>(1, work), 1, kPlaces);
  parallel_for(divide_up(group.count, task_places), [&](int64_t task) {
    const int64_t first = task * task_places, count = std::min(task_places, group.count - first);
    int64_t places[3][kPlaces];
    for (const Operand operand : {kA, kB, kC}) fill_offsets(group, operand, first, count, places[operand]);
    kernel(count, places);
  });
}

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_PLACES_H_
