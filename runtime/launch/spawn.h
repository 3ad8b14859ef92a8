// Starts programs.
#ifndef ONEFLOW_LAUNCH_SPAWN_H_
#define ONEFLOW_LAUNCH_SPAWN_H_

#include <string>
#include <vector>

#include "launch/descriptor.h"
#include "launch/guard.h"
#include "launch/plan.h"
#include "launch/signals.h"
#include "launch/variables.h"

namespace oneflow::launch {

// A program that runs in a process group of its own, so that a signal to the group reaches what it starts, and gets
// SIGKILL when this process ends.
struct Child {
  pid_t process = 0;  // 0: it could not be started
  int error = 0;      // why
  Descriptor input;   // of Source::relayed
  Descriptor out, err;
};

// Raises the limit of open descriptors for this program alone, if it is lower.
void allow_descriptors(size_t count);

// Where the process group of a program is noted, so that it is killed with this process; by default nowhere.
struct Guarded {
  Guard* guard = nullptr;
  int index = 0;
};

// Starts the program that `arguments` name, which is looked for in PATH, with a changed environment. Throws Failure if
// no program could be started.
Child start_program(const std::vector<std::string>& arguments, const Variables& environment, Source source,
                    const Signals& signals, Guarded guarded = {});

// Kills a child with its process group, and forgets it. Returns after some seconds also if the system does not end it.
void end_child(pid_t process);

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_SPAWN_H_
