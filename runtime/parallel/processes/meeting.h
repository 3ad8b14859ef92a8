// Where the processes of a job find each other if their launcher does not say it.
#ifndef ONEFLOW_PARALLEL_PROCESSES_MEETING_H_
#define ONEFLOW_PARALLEL_PROCESSES_MEETING_H_

#include "parallel/processes/environment.h"

namespace oneflow::processes {

// On one host, processes with the same parent meet in a private folder, which has their secret, too. On several, they
// meet on rank 0: beside the port that torchrun names, whose agent serves it, or beside that of the Slurm job. They
// need a secret then. Throw CommunicationError without one.
void meet_beside_master(Membership& membership);
void meet_in_slurm(Membership& membership);

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_MEETING_H_
