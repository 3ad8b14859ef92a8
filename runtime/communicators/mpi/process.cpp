#include "process.h"

#include <unistd.h>

#include <cstdlib>

namespace oneflow::mpi {

namespace {

const Library* library = nullptr;
pid_t initialized_by = 0;

// It waits for all ranks, as in all programs that use MPI: a launcher ends the job if a rank exits without.
void finalize_at_exit() {
  if (initialized_by == getpid() && is_running(*library)) library->Finalize();
}

}  // namespace

bool is_running(const Library& mpi) {
  int is_initialized = 0, is_finalized = 0;
  mpi.Initialized(&is_initialized);
  mpi.Finalized(&is_finalized);
  return is_initialized && !is_finalized;
}

bool initialize(const Library& mpi, std::string* reason) {
  if (is_running(mpi)) return true;
  int is_finalized = 0;
  mpi.Finalized(&is_finalized);
  if (is_finalized) {
    *reason = "the program has finalized MPI";
    return false;
  }
  int level = MPI_THREAD_SINGLE;
  if (const int code = mpi.Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level)) {
    *reason = mpi.text(code);
    return false;
  }
  library = &mpi;
  initialized_by = getpid();
  std::atexit(finalize_at_exit);
  return true;
}

}  // namespace oneflow::mpi
