// A process that cleans up if this one is killed: it ends what is left of the ranks, also the programs that they have
// started, and removes the meeting folder.
#ifndef ONEFLOW_LAUNCH_GUARD_H_
#define ONEFLOW_LAUNCH_GUARD_H_

#include <sys/types.h>

#include <string>

#include "launch/descriptor.h"

namespace oneflow::launch {

class Guard {
 public:
  // Must be made before other descriptors, which the process would keep open. Throws Failure.
  explicit Guard(int groups);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  // Ends the process, with all that was set.
  ~Guard();

  // Says which process group is to be killed; 0: none any more.
  void set_group(int index, pid_t group);
  // Says which folder is to be removed; empty: none any more. Throws Failure if the path is too long.
  void set_folder(const std::string& path);

 private:
  struct Shared;

  void watch(int reader) const;

  Shared* shared_;
  size_t bytes_;
  Descriptor writer_;  // whose end tells the process that this one has ended
  pid_t process_;
};

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_GUARD_H_
