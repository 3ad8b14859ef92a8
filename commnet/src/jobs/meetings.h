// The ways in which the endpoints of a job learn each other's addresses.
#ifndef COMMNET_JOBS_MEETINGS_H_
#define COMMNET_JOBS_MEETINGS_H_

#include <commnet/commnet.h>

#include <chrono>
#include <string>
#include <vector>

namespace commnet {

struct Job {
  uint32_t rank, size;
  std::string meeting;
  std::chrono::steady_clock::time_point deadline;

  // Returns the milliseconds until the deadline. Throws Error CN_TIMED_OUT, "what", after it.
  int64_t left(const char* what) const;
};

// Return the addresses of all ranks, when all are there. Throw Error.
std::vector<std::string> meet_by_files(const Job& job, const std::string& folder, const std::string& own_address);
std::vector<std::string> meet_by_rendezvous(const Job& job, cn_endpoint* endpoint);

}  // namespace commnet

#endif  // COMMNET_JOBS_MEETINGS_H_
