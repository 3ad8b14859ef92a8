// What the ranks of a job need to find and to trust each other.
#ifndef ONEFLOW_LAUNCH_MEETING_H_
#define ONEFLOW_LAUNCH_MEETING_H_

#include <string>

#include "launch/guard.h"

namespace oneflow::launch {

// Returns 64 random hexadecimal digits.
std::string make_secret();

// A folder that only this user can enter, which is removed with its owner, or with the program.
class MeetingFolder {
 public:
  explicit MeetingFolder(Guard& guard);
  MeetingFolder(const MeetingFolder&) = delete;
  MeetingFolder& operator=(const MeetingFolder&) = delete;
  ~MeetingFolder();

  const std::string& path() const { return path_; }

 private:
  Guard& guard_;
  std::string path_;
};

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_MEETING_H_
