// The state that grid devices keep of a contraction between its calls: the normal form.
#ifndef ONEFLOW_DEVICES_GRID_PREPARED_H_
#define ONEFLOW_DEVICES_GRID_PREPARED_H_

#include <new>

#include "contraction_problem.h"

namespace oneflow::grid {

// The kept state. A device that keeps more derives its own class.
struct Prepared {
  virtual ~Prepared() = default;
  Problem problem;
};

// Destroys the kept state. A hook of the device table.
inline void discard_contraction(void* prepared) { delete static_cast<Prepared*>(prepared); }

// Returns the state of a contraction, with the operands of this call. The first call creates it, in `own` where it
// cannot be kept. Returns NULL where grid devices do not implement the contraction.
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
