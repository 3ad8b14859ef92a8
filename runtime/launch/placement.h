// Which rank runs where.
#ifndef ONEFLOW_LAUNCH_PLACEMENT_H_
#define ONEFLOW_LAUNCH_PLACEMENT_H_

#include <string>
#include <vector>

#include "launch/options.h"
#include "launch/plan.h"

namespace oneflow::launch {

struct PlacedRanks {
  std::string host;
  bool is_here;
  std::vector<RankPlan> ranks;
};

struct Placement {
  std::vector<PlacedRanks> hosts;  // those with ranks; the first has rank 0
  int size = 0;                    // the number of ranks

  // Returns whether all ranks run on this host.
  bool is_here() const { return hosts.size() == 1 && hosts.front().is_here; }
};

// Numbers the ranks of the programs from left to right, and fills the hosts in their order. Throws Failure if they do
// not have enough room.
Placement place(const Options& options);

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_PLACEMENT_H_
