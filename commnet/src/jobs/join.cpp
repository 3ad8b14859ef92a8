// Connects the endpoints of a job with each other.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

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

// Returns a number for a job, which all of its members find.
uint64_t number_of(const std::vector<std::string>& addresses) {
  uint64_t number = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&](char byte) { number = (number ^ static_cast<uint8_t>(byte)) * 0x100000001b3; };
  for (const std::string& address : addresses) {
    for (const char byte : address) add(byte);
    add('\n');
  }
  return number;
}

// Waits until all members are connected with all others: one that leaves then is in nobody's way.
void wait_for_all(const Job& job, uint64_t number, cn_peer* const* peers) {
  const auto peer_of = [&](uint32_t rank) -> Peer& { return *peers[rank]->peer; };
  const auto each_other = [&](auto&& act) {
    for (uint32_t rank = 0; rank < job.size; ++rank) {
      if (rank == job.rank) continue;
      const std::string who = "rank " + std::to_string(rank);
      try {
        act(peer_of(rank));
      } catch (const Error& error) {
        throw Error(error.status(), who + ": " + error.text());
      }
    }
  };
  each_other([&](Peer& peer) { job.endpoint->say_ready(peer, number); });
  each_other([&](Peer& peer) {
    while (!job.endpoint->wait_ready(peer, number, job.pause("it is not connected with all others"))) {
    }
  });
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
    cn_endpoint own{job.endpoint};  // `endpoint` may be closed meanwhile
    if (capacity < job.size) fail(CN_INVALID_ARGUMENT, "peers has %u entries, the job %u", capacity, job.size);
    std::fill_n(peers, job.size, nullptr);
    if (job.size == 1) return;
    const std::string_view meeting = job.meeting;
    const std::vector<std::string> addresses =
        meeting.starts_with(kFiles)
            ? meet_by_files(job, std::string(meeting.substr(kFiles.size())), job.endpoint->address())
            : meet_by_rendezvous(job);
    if (addresses.size() != job.size) fail(CN_DENIED, "the meeting has %zu addresses", addresses.size());
    std::vector<std::unique_ptr<cn_operation, void (*)(cn_operation*)>> connecting;
    for (uint32_t rank = 0; rank < job.size; ++rank) {
      job.pause("there was no time to connect");
      cn_operation* operation = nullptr;
      if (rank != job.rank && cn_connect(&own, addresses[rank].c_str(), nullptr, &operation) != CN_OK)
        throw Error(CN_UNREACHABLE, "rank " + std::to_string(rank) + ": " + cn_error());
      connecting.emplace_back(operation, cn_operation_release);
    }
    for (uint32_t rank = 0; rank < job.size; ++rank) {
      if (rank == job.rank) continue;
      const std::string what = "rank " + std::to_string(rank);
      cn_operation* const operation = connecting[rank].get();
      while (!cn_test(operation, nullptr)) cn_wait(operation, job.pause((what + " cannot be connected").c_str()));
      const cn_status status = cn_wait(operation, 0);
      if (status != CN_OK) throw Error(status, what + ": " + cn_error());
      peers[rank] = cn_operation_peer(operation);
    }
    wait_for_all(job, number_of(addresses), peers);
  });
}
