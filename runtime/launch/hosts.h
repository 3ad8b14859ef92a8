// The hosts of a job.
#ifndef ONEFLOW_LAUNCH_HOSTS_H_
#define ONEFLOW_LAUNCH_HOSTS_H_

#include <string>
#include <vector>

namespace oneflow::launch {

// A host and how many ranks run on it.
struct Slots {
  std::string host;
  int count;
};

// Reads "name:4", or "[::1]:4"; without a number, it is 1. Throws Failure.
Slots read_slots(const std::string& text);

// Reads a file with "name:4" or "name slots=4" in each line, and comments after '#'. Throws Failure.
std::vector<Slots> read_hostfile(const std::string& path);

// Returns the name of a host without that of a user: of "me@node1", node1.
std::string address_of(const std::string& host);

// Returns whether a name is that of this host.
bool is_this_host(const std::string& name);

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_HOSTS_H_
