#include "parallel/processes/assignment.h"

#include <map>
#include <set>

namespace oneflow::processes {

namespace {

// A bipartite matching of ranks and devices, by augmenting paths.
class Matching {
 public:
  explicit Matching(const std::vector<std::vector<uint64_t>>& usable) : usable_(usable) {}

  // Gives a rank a device. Returns whether that is possible, where ranks before it may get another one.
  bool add(size_t rank) {
    tried_.clear();
    return give(rank);
  }

 private:
  bool give(size_t rank) {
    for (const uint64_t device : usable_[rank]) {
      if (!tried_.insert(device).second) continue;
      const auto owner = owners_.find(device);
      if (owner != owners_.end() && !give(owner->second)) continue;
      owners_[device] = rank;
      return true;
    }
    return false;
  }

  const std::vector<std::vector<uint64_t>>& usable_;
  std::map<uint64_t, size_t> owners_;
  std::set<uint64_t> tried_;
};

}  // namespace

bool has_device_for_each(const std::vector<std::vector<uint64_t>>& usable) {
  Matching matching(usable);
  for (size_t rank = 0; rank < usable.size(); ++rank)
    if (!matching.add(rank)) return false;
  return true;
}

}  // namespace oneflow::processes
