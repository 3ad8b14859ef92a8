// The ways in which the endpoints of a job learn each other's addresses.
#ifndef COMMNET_JOBS_MEETINGS_H_
#define COMMNET_JOBS_MEETINGS_H_

#include <commnet/commnet.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace commnet {

class Endpoint;

struct Job {
  uint32_t rank, size;
  std::string meeting;
  std::chrono::steady_clock::time_point deadline;
  std::shared_ptr<Endpoint> endpoint;

  // Returns for how many milliseconds to wait before the next call. Throws Error CN_TIMED_OUT, "what", after the
  // deadline, and CN_CANCELLED once the endpoint is closed.
  int64_t pause(const char* what) const;
};

// Return the addresses of all ranks, when all are there. Throw Error.
std::vector<std::string> meet_by_files(const Job& job, const std::string& folder, const std::string& own_address);
std::vector<std::string> meet_by_rendezvous(const Job& job);

}  // namespace commnet

#endif  // COMMNET_JOBS_MEETINGS_H_
