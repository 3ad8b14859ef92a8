#include "graph/session/in_place.h"

#include <algorithm>
#include <numeric>

#include "graph/session/buffer_uses.h"

namespace oneflow::graph {

namespace {

class InPlace {
 public:
  InPlace(std::vector<Work>& works, const std::vector<WorkBuffer>& buffers, const std::vector<bool>& is_output)
      : works_(works),
        buffers_(buffers),
        is_output_(is_output),
        uses_(buffer_uses(works, buffers.size())),
        taken_(buffers.size()) {
    std::iota(taken_.begin(), taken_.end(), 0);
  }

  void run() {
    for (size_t i = 0; i < works_.size(); ++i) {
      for_each_place(works_[i], [&](Place& place) { change(place); });
      if (!works_[i].is_pointwise) continue;
      for (const WorkOperand& write : works_[i].writes)
        for (const WorkOperand& read : works_[i].reads)
          if (can_share(i, read, write)) {
            share(read.place.number, write.place.number);
            for_each_place(works_[i], [&](Place& place) { change(place); });
            break;
          }
    }
    // A buffer may have been taken after work that uses it.
    for (Work& work : works_) for_each_place(work, [&](Place& place) { change(place); });
  }

 private:
  // Returns whether a result of work `number` can have the buffer of an operand.
  bool can_share(size_t number, const WorkOperand& read, const WorkOperand& write) const {
    if (read.place.base != Base::kBuffer || write.place.base != Base::kBuffer) return false;
    const uint32_t from = read.place.number, to = write.place.number;
    if (from == to || uses_[from].last != number || uses_[to].first != number || is_output_[from]) return false;
    if (is_output_[to] && buffers_[from].bytes > buffers_[to].bytes) return false;
    if (read.dtype != write.dtype) return false;
    // All operands in either buffer must have the same elements at the same index.
    const Work& work = works_[number];
    const auto suits = [&](const WorkOperand& operand) {
      const Place& place = operand.place;
      return place.base != Base::kBuffer || (place.number != from && place.number != to) ||
             have_same_elements(operand, write);
    };
    return std::ranges::all_of(work.reads, suits) && std::ranges::count_if(work.writes, [&](const WorkOperand& other) {
                                                       return other.place.base == Base::kBuffer &&
                                                              (other.place.number == from || other.place.number == to);
                                                     }) == 1;
  }

  // Makes one buffer of two, of which the first is last used where the second is first used.
  void share(uint32_t first, uint32_t second) {
    const bool keeps_first = !is_output_[second] && buffers_[first].bytes >= buffers_[second].bytes;
    const uint32_t kept = keeps_first ? first : second, gone = keeps_first ? second : first;
    taken_[gone] = kept;
    uses_[kept] = {uses_[first].first, uses_[second].last};
    uses_[gone] = {};
  }

  // Changes the place of an operand to the buffer that is kept.
  void change(Place& place) {
    if (place.base != Base::kBuffer) return;
    for (uint32_t& number = place.number; taken_[number] != number; number = taken_[number])
      taken_[number] = taken_[taken_[number]];
  }

  std::vector<Work>& works_;
  const std::vector<WorkBuffer>& buffers_;
  const std::vector<bool>& is_output_;
  std::vector<Interval> uses_;
  std::vector<uint32_t> taken_;  // the buffer that each has become; itself for those that are kept
};

}  // namespace

void work_in_place(std::vector<Work>& works, const std::vector<WorkBuffer>& buffers,
                   const std::vector<bool>& is_output) {
  InPlace(works, buffers, is_output).run();
}

}  // namespace oneflow::graph
