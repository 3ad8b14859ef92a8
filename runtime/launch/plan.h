// What is to be started on a host, and what became of it.
#ifndef ONEFLOW_LAUNCH_PLAN_H_
#define ONEFLOW_LAUNCH_PLAN_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launch/variables.h"

namespace oneflow::launch {

// Where the standard input of a rank comes from.
enum class Source : uint8_t { nothing, inherited, relayed };

struct RankPlan {
  int rank;
  Source source;
  std::vector<std::string> arguments;
};

struct HostPlan {
  std::string folder;           // the working folder
  Variables environment;        // for all ranks of the host
  std::string meeting_address;  // the ranks listen at the address that faces it; empty: on this host alone
  int64_t grace_ms;             // what ranks get between SIGTERM and SIGKILL when the connection ends
  std::vector<RankPlan> ranks;
};

// The plan as text without regard to what the strings contain, and back. Throws Failure if it is none.
std::string encode(const HostPlan& plan);
HostPlan decode(std::string_view text);

// Returns a command line as text for users.
std::string joined(const std::vector<std::string>& arguments);

// How a rank has ended.
struct End {
  enum Kind : uint8_t { exited, killed, not_started } kind;
  int value;      // the exit status, the signal, or the number of the error
  pid_t process;  // 0 if it was not started
};

// Returns the exit status that stands for it in a shell.
int exit_status(const End& end);
// Describes it: "was killed by signal 9 (Killed)".
std::string describe(const End& end);

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_PLAN_H_
