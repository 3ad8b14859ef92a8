#include "library.h"

#include <dlfcn.h>

#include <cstdlib>

namespace oneflow::mpi {

namespace {

#ifdef OPEN_MPI
constexpr const char* kNames[] = {"libmpi.so.40"};
// Its components look for its symbols among those that are visible to all.
constexpr int kVisibility = RTLD_GLOBAL;
// Its handles are addresses of objects: those of the program, if it is linked with the library.
#define ONEFLOW_MPI_HANDLE(handle, symbol) reinterpret_cast<decltype(handle)>(find(RTLD_DEFAULT, symbol))
#else
// The name that MPICH and what is compatible with it agree on, and that of Debian.
constexpr const char* kNames[] = {"libmpi.so.12", "libmpich.so.12"};
constexpr int kVisibility = RTLD_LOCAL;
#define ONEFLOW_MPI_HANDLE(handle, symbol) handle
#endif

// Sets how UCX, over which an MPI may send, treats the process. It reads the environment when it is loaded.
void spare_the_process() {
  constexpr int kKept = 0;  // what the user has set
  // It would replace instructions of mmap, brk and the like, and move the end of the heap back and forth to see whether
  // it hears of that, while other threads of the language allocate memory there.
  setenv("UCX_MEM_EVENTS", "no", kKept);
  // It would take the signals by which V8 finds what WebAssembly reads out of bounds.
  setenv("UCX_ERROR_SIGNALS", "", kKept);
}

void* open_library(std::string* reason) {
  for (const int flags : {RTLD_NOLOAD, 0}) {
    if (flags == 0) spare_the_process();
    for (const char* const name : kNames) {
      if (void* const found = dlopen(name, RTLD_NOW | kVisibility | flags)) return found;
      if (flags == 0) *reason += (reason->empty() ? "" : "; ") + std::string(dlerror());
    }
  }
  return nullptr;
}

bool find_all(void* handle, Library* library, std::string* reason) {
  bool is_complete = true;
  const auto find = [&](void* scope, const char* symbol) {
    void* const found = dlsym(scope, symbol);
    if (!found && is_complete) *reason = dlerror();
    is_complete &= found != nullptr;
    return found;
  };
#define ONEFLOW_MPI_FIND(name) library->name = reinterpret_cast<decltype(library->name)>(find(handle, "MPI_" #name));
  ONEFLOW_MPI_FUNCTIONS(ONEFLOW_MPI_FIND)
#undef ONEFLOW_MPI_FIND
  library->world = ONEFLOW_MPI_HANDLE(MPI_COMM_WORLD, "ompi_mpi_comm_world");
  library->self = ONEFLOW_MPI_HANDLE(MPI_COMM_SELF, "ompi_mpi_comm_self");
  library->byte = ONEFLOW_MPI_HANDLE(MPI_BYTE, "ompi_mpi_byte");
  library->errors_return = ONEFLOW_MPI_HANDLE(MPI_ERRORS_RETURN, "ompi_mpi_errors_return");
  return is_complete;
}

}  // namespace

std::string Library::text(int code) const {
  char found[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (Error_string(code, found, &length) != MPI_SUCCESS) return "MPI error " + std::to_string(code);
  return found;
}

const Library* load_library(std::string* reason) {
  static Library library;
  static bool is_loaded = false;
  if (is_loaded) return &library;
  void* const handle = open_library(reason);
  is_loaded = handle && find_all(handle, &library, reason);
  return is_loaded ? &library : nullptr;
}

}  // namespace oneflow::mpi
