#include "parallel/processes/environment.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/characters.h"
#include "base/error.h"
#include "parallel/processes/meeting.h"

namespace oneflow::processes {

namespace {

// The variables of a launcher, and what its processes communicate by. It is that of a process if `rank`, `size` and
// `mark` are set.
struct Launcher {
  const char *rank, *size, *local_rank, *local_size;
  const char* mark;
  const char* communicator;
  void (*find_meeting)(Membership&);
};

constexpr Launcher kLaunchers[] = {
    {"ONEFLOW_RANK", "ONEFLOW_WORLD_SIZE", "ONEFLOW_LOCAL_RANK", "ONEFLOW_LOCAL_WORLD_SIZE", "ONEFLOW_RANK", "commnet",
     [](Membership&) {}},
    // torchrun, and the operators of Kubernetes.
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "commnet", meet_beside_master},
    // Open MPI.
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "OMPI_COMM_WORLD_RANK", "openmpi", [](Membership&) {}},
    // MPICH, and what is compatible with it.
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "MPI_LOCALRANKID", "mpich", [](Membership&) {}},
    // srun --mpi=pmi2, for programs with MPICH.
    {"PMI_RANK", "PMI_SIZE", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE", "PMI_RANK", "mpich", [](Membership&) {}},
    // srun. A batch script has the rank, but not the size of a step.
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE", "SLURM_STEP_ID", "commnet",
     meet_in_slurm},
};

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// Returns the number of a launcher's variable. Slurm writes "4(x2)" for 4 on each of two hosts.
uint32_t number(const char* name) { return number_in(name, '('); }

}  // namespace

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

uint32_t number_in(const char* name, char end) {
  const std::string text = variable(name);
  uint32_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || (*rest != '\0' && *rest != end))
    fail(OF_INVALID_ARGUMENT, "%s must be a number, got '%s'", name, printable(text).c_str());
  return value;
}

std::optional<Membership> membership_of_environment() {
  for (const Launcher& launcher : kLaunchers) {
    if (!is_set(launcher.rank) || !is_set(launcher.size) || !is_set(launcher.mark)) continue;
    Membership found;
    found.rank = number(launcher.rank);
    found.size = number(launcher.size);
    if (found.rank >= found.size)
      fail(OF_INVALID_ARGUMENT, "%s must be below %s, %u, got %u", launcher.rank, launcher.size, found.size,
           found.rank);
    found.local_rank = is_set(launcher.local_rank) ? number(launcher.local_rank) : 0;
    found.local_size = is_set(launcher.local_size) ? number(launcher.local_size) : 1;
    found.communicator = variable("ONEFLOW_COMMUNICATOR");
    if (found.communicator.empty()) found.communicator = launcher.communicator;
    found.meeting = variable("ONEFLOW_MEETING");
    found.secret = variable("ONEFLOW_SECRET");
    found.listen = variable("ONEFLOW_LISTEN");
    if (found.size > 1 && found.meeting.empty()) launcher.find_meeting(found);
    return found;
  }
  return {};
}

}  // namespace oneflow::processes
