// Makes the endpoints of a job known to each other.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <unordered_map>

#include "core/endpoint.h"
#include "core/status.h"
#include "jobs/meetings.h"

namespace commnet {

namespace {

constexpr std::string_view kFiles = "file:";
constexpr uint32_t kMostEndpoints = 1 << 20;
constexpr uint32_t kPatience = 60'000;
// How long a wait does not notice that the endpoint was closed.
constexpr std::chrono::milliseconds kLongestPause{50};

Job job_of(std::shared_ptr<Endpoint> endpoint, const cn_job_options* given) {
  cn_job_options options{};
  if (given) {
    if (given->struct_size != sizeof options)
      fail(CN_INVALID_ARGUMENT, "options: struct_size is %u, expected %zu", given->struct_size, sizeof options);
    options = *given;
  }
  if (options.size == 0 && cn_job_of_environment(&options.rank, &options.size) != CN_OK)
    throw Error(CN_UNSUPPORTED, cn_error());
  if (options.rank >= options.size)
    fail(CN_INVALID_ARGUMENT, "options: rank %u is not below the size %u", options.rank, options.size);
  if (options.size > kMostEndpoints)
    fail(CN_INVALID_ARGUMENT, "options: size is %u, a job has at most %u endpoints", options.size, kMostEndpoints);
  const char* const meeting = options.meeting ? options.meeting : std::getenv("COMMNET_MEETING");
  if (options.size > 1 && (meeting == nullptr || *meeting == '\0'))
    fail(CN_INVALID_ARGUMENT, "options: meeting is missing, and so is COMMNET_MEETING");
  const auto timeout = std::chrono::milliseconds(options.timeout_ms == 0 ? kPatience : options.timeout_ms);
  return {options.rank, options.size, meeting ? meeting : "", std::chrono::steady_clock::now() + timeout,
          std::move(endpoint)};
}

// Sets peers[rank] for all ranks but the own one.
void introduce_all(const Job& job, const std::vector<std::string>& addresses, cn_peer** peers) {
  if (addresses.size() != job.size) fail(CN_DENIED, "the meeting has %zu addresses", addresses.size());
  if (addresses[job.rank] != job.endpoint->address())
    fail(CN_INVALID_ARGUMENT, "rank %u is that of '%s', too", job.rank, addresses[job.rank].c_str());
  std::unordered_map<cn_peer*, uint32_t> ranks;
  for (uint32_t rank = 0; rank < job.size; ++rank) {
    if (rank == job.rank) continue;
    try {
      peers[rank] = job.endpoint->introduce(addresses[rank]).handle();
    } catch (const Error& error) {
      if (error.status() == CN_CLOSED) fail(CN_CANCELLED, "the endpoint was closed");
      throw Error(error.status(), "rank " + std::to_string(rank) + ": " + error.text());
    }
    const auto [other, is_new] = ranks.emplace(peers[rank], rank);
    if (!is_new)
      fail(CN_INVALID_ARGUMENT, "ranks %u and %u have the same name, '%s'", other->second, rank,
           cn_peer_name(peers[rank]));
  }
}

}  // namespace

int64_t Job::pause(const char* what) const {
  if (endpoint->is_closing()) fail(CN_CANCELLED, "the endpoint was closed");
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  if (time.count() <= 0) fail(CN_TIMED_OUT, "%s", what);
  return std::min(time, kLongestPause).count();
}

}  // namespace commnet

extern "C" cn_status cn_join(cn_endpoint* endpoint, const cn_job_options* options, cn_peer** peers, uint32_t capacity) {
  using namespace commnet;
  return guarded([&] {
    if (endpoint == nullptr || peers == nullptr) fail(CN_INVALID_ARGUMENT, "endpoint or peers is NULL");
    const std::shared_ptr<Endpoint> joining = endpoint->endpoint.lock();
    if (!joining) fail(CN_CLOSED, "the endpoint is closed");
    joining->refuse_in_callbacks();
    const Job job = job_of(joining, options);
    if (capacity < job.size) fail(CN_INVALID_ARGUMENT, "peers has %u entries, the job %u", capacity, job.size);
    std::fill_n(peers, job.size, nullptr);
    if (job.size == 1) return;
    const std::string_view meeting = job.meeting;
    const std::vector<std::string> addresses =
        meeting.starts_with(kFiles)
            ? meet_by_files(job, std::string(meeting.substr(kFiles.size())), job.endpoint->address())
            : meet_by_rendezvous(job);
    introduce_all(job, addresses, peers);
  });
}
