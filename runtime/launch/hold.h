// Prepares a job for a program that forks its ranks itself.
#ifndef ONEFLOW_LAUNCH_HOLD_H_
#define ONEFLOW_LAUNCH_HOLD_H_

namespace oneflow::launch {

// Writes the variables of each rank to standard output, each with a null byte behind it, and one more behind the last.
// Reads lines of numbers of processes from standard input, each of which leads a process group. At its end, or when
// this program is killed, kills the groups, and removes the meeting folder. Throws Failure.
void hold_job(int size);

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_HOLD_H_
