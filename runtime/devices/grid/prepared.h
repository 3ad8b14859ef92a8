// What grid devices keep of a contraction between its calls: the problem that it comes to.
#ifndef ONEFLOW_DEVICES_GRID_PREPARED_H_
#define ONEFLOW_DEVICES_GRID_PREPARED_H_

#include <new>

#include "contraction_problem.h"

namespace oneflow::grid {

// A device that keeps more derives from it.
struct Prepared {
  virtual ~Prepared() = default;
  Problem problem;
};

// An entry of the device table.
inline void discard_contraction(void* prepared) { delete static_cast<Prepared*>(prepared); }

// What is kept of a contraction, with the operands of this call: made in its first call, or in `own` where there is no
// place to keep it. NULL where the descriptor is of no kind that grid devices know.
template <class Kept>
Kept* prepare(const of_contraction& contraction, Kept& own) {
  const bool may_keep = contraction.struct_size >= sizeof contraction && contraction.prepared != nullptr;
  if (may_keep && *contraction.prepared != nullptr) {
    Kept* kept = static_cast<Kept*>(static_cast<Prepared*>(*contraction.prepared));
    set_operands(contraction, kept->problem);
    return kept;
  }
  if (!make_problem(contraction, own.problem)) return nullptr;
  Kept* kept = may_keep ? new (std::nothrow) Kept(own) : nullptr;
  if (kept == nullptr) return &own;
  *contraction.prepared = static_cast<Prepared*>(kept);
  return kept;
}

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_PREPARED_H_
