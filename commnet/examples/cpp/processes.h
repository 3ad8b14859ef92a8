// Starts the processes of an example on this machine, and a folder in which they meet.
#ifndef COMMNET_EXAMPLES_CPP_PROCESSES_H_
#define COMMNET_EXAMPLES_CPP_PROCESSES_H_

#include <sys/wait.h>
#include <unistd.h>

#include <commnet/commnet.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

// Connects an endpoint with those of all ranks that meet in a folder, and returns them; its own place is empty.
inline std::vector<commnet::Peer> join(const commnet::Endpoint& endpoint, uint32_t rank, uint32_t ranks,
                                       const std::string& folder) {
  const std::string meeting = "file:" + folder;
  cn_job_options job{};
  job.struct_size = sizeof job;
  job.rank = rank;
  job.size = ranks;
  job.meeting = meeting.c_str();
  std::vector<cn_peer*> peers(ranks);
  commnet::check(cn_join(endpoint.get(), &job, peers.data(), ranks));
  return {peers.begin(), peers.end()};
}

// Calls run(rank, folder) in a process for each rank; it returns whether its results are right. Returns the exit code.
template <class Run>
int run_processes(uint32_t ranks, Run&& run) {
  char folder[] = "/tmp/commnet-example-XXXXXX";
  if (!mkdtemp(folder)) return 1;
  // Before there is an endpoint: it belongs to the process that has created it.
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    if (fork() != 0) continue;
    bool is_right = false;
    try {
      is_right = run(rank, std::string(folder));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %u: %s\n", rank, error.what());
    }
    std::fflush(stdout);
    _exit(is_right ? 0 : 1);
  }
  int failures = 0, status = 0;
  while (wait(&status) > 0) failures += status != 0;
  std::filesystem::remove_all(folder);
  return failures == 0 ? 0 : 1;
}

#endif  // COMMNET_EXAMPLES_CPP_PROCESSES_H_
