// The functions of MPI. Its library is found when a job is joined, so that no package needs it, and no tool that
// collects what a package needs finds it.
#ifndef ONEFLOW_COMMUNICATORS_MPI_LIBRARY_H_
#define ONEFLOW_COMMUNICATORS_MPI_LIBRARY_H_

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <string>

namespace oneflow::mpi {

// clang-format off
#define ONEFLOW_MPI_FUNCTIONS(EACH) \
  EACH(Cancel) EACH(Comm_create_keyval) EACH(Comm_delete_attr) EACH(Comm_free_keyval) EACH(Comm_get_attr) \
  EACH(Comm_idup) EACH(Comm_rank) EACH(Comm_set_attr) EACH(Comm_set_errhandler) EACH(Comm_size) \
  EACH(Error_string) EACH(Finalize) EACH(Finalized) EACH(Get_count) EACH(Improbe) EACH(Imrecv) \
  EACH(Init_thread) EACH(Initialized) EACH(Irecv) EACH(Is_thread_main) EACH(Isend) EACH(Query_thread) \
  EACH(Request_free) EACH(Test) EACH(Testsome)
// clang-format on

// The functions and the handles that are used, without the beginning of their names.
struct Library {
#define ONEFLOW_MPI_MEMBER(name) decltype(&MPI_##name) name;
  ONEFLOW_MPI_FUNCTIONS(ONEFLOW_MPI_MEMBER)
#undef ONEFLOW_MPI_MEMBER
  MPI_Comm world, self;
  MPI_Datatype byte;
  MPI_Errhandler errors_return;

  // Returns the text of an error code.
  std::string text(int code) const;
};

// Returns the library, which is loaded once: the one that the program has, if it has one. NULL, and the reason, if
// there is none.
const Library* load_library(std::string* reason);

}  // namespace oneflow::mpi

#endif  // ONEFLOW_COMMUNICATORS_MPI_LIBRARY_H_
