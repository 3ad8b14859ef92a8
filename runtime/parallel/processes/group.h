// Groups of ranks.
#ifndef ONEFLOW_PARALLEL_PROCESSES_GROUP_H_
#define ONEFLOW_PARALLEL_PROCESSES_GROUP_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oneflow::processes {

// An ordered set of ranks, without any state. Two groups of the same ranks are one object, which lives as long as the
// process.
class Group {
 public:
  // Returns the group of some ranks. Throws InvalidArgument for none, and for one that is there twice.
  static const Group& of(std::vector<uint32_t> ranks);
  // Returns the group of a text such as "0-3,8" or "6-0:2". Throws InvalidArgument for another text.
  static const Group& parse(std::string_view text);

  // Returns the canonical text: "0-3" for the ranks 0, 1, 2 and 3, "0-6:2" for 0, 2, 4 and 6, "5,1" for 5 and 1.
  const std::string& text() const { return text_; }
  const std::vector<uint32_t>& ranks() const { return ranks_; }
  uint32_t size() const { return static_cast<uint32_t>(ranks_.size()); }
  // Returns a number that stands for the group in messages.
  uint64_t id() const { return id_; }
  // Returns the position of a rank of the job; nothing if it is not a member.
  std::optional<uint32_t> position_of(uint32_t rank) const;

 private:
  explicit Group(std::vector<uint32_t> ranks);

  const std::vector<uint32_t> ranks_;
  std::string text_;
  uint64_t id_;
};

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_GROUP_H_
