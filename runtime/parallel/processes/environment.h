// What launchers say by environment variables.
#ifndef ONEFLOW_PARALLEL_PROCESSES_ENVIRONMENT_H_
#define ONEFLOW_PARALLEL_PROCESSES_ENVIRONMENT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace oneflow::processes {

// How a process takes part in a job.
struct Membership {
  uint32_t rank = 0, size = 1;
  uint32_t local_rank = 0, local_size = 1;  // among the processes of this host
  std::string communicator = "commnet";     // its name, or the path of its library
  std::string meeting;                      // see of_communicator_options
  std::string secret;
  std::string listen;
  std::string folder;  // which rank 0 removes once all have met; "": none
};

// Returns what the launcher of this process says; nothing if it has none. Throws InvalidArgument for variables that are
// no numbers, or that contradict each other; CommunicationError if the processes cannot find each other.
std::optional<Membership> membership_of_environment();

// Returns a variable; "" if it is not set.
std::string variable(const char* name);
// Returns the number that a variable is, or that it begins with if `end` follows. Throws InvalidArgument for another
// text.
uint32_t number_in(const char* variable, char end = '\0');

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_ENVIRONMENT_H_
