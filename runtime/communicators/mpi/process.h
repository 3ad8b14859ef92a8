// MPI in this process.
#ifndef ONEFLOW_COMMUNICATORS_MPI_PROCESS_H_
#define ONEFLOW_COMMUNICATORS_MPI_PROCESS_H_

#include <string>

#include "library.h"

namespace oneflow::mpi {

// Initializes MPI unless the program has done it. MPI can be initialized only once in a process: so it is finalized
// when the process exits, not when a job is left. Returns false, and the reason, if it cannot be used.
bool initialize(const Library& mpi, std::string* reason);

// Returns whether MPI can be called: it is initialized, and not finalized.
bool is_running(const Library& mpi);

}  // namespace oneflow::mpi

#endif  // ONEFLOW_COMMUNICATORS_MPI_PROCESS_H_
