// Tests that what an endpoint takes does not grow with the size of its job: 512 endpoints in one process.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

constexpr uint32_t kSize = kIsSanitized ? 128 : 512;
// What an endpoint may have open by itself, and for the connections of this test.
constexpr size_t kOfEndpoint = 16;

size_t count_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// Raises the limit of open descriptors to a number; returns whether it could.
bool allow_descriptors(rlim_t number) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < number) return false;
  limit.rlim_cur = std::max(limit.rlim_cur, number);
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// A ring, and a tree whose root is rank 0.
std::set<uint32_t> neighbours_of(uint32_t rank) {
  std::set<uint32_t> neighbours{(rank + 1) % kSize};
  if (rank > 0) neighbours.insert((rank - 1) / 2);
  return neighbours;
}

class Member {
 public:
  explicit Member(uint32_t rank)
      : rank_(rank), endpoint_(make_endpoint("rank" + std::to_string(rank), "sockets", [](auto& options) {
          options.flags = CN_MANUAL_PROGRESS;
          options.streams = 1;
        })) {}

  std::string address() const { return cn_endpoint_address(endpoint_.get()); }
  void join(const std::string& meeting) {
    const cn_job_options options{sizeof options, rank_, kSize, meeting.c_str(), 60'000};
    ASSERT_EQ(cn_join(endpoint_.get(), &options, peers_.data(), kSize), CN_OK) << cn_error();
    const auto count = [](void* user, cn_message*) { ++*static_cast<uint32_t*>(user); };
    ASSERT_EQ(cn_set_handler(endpoint_.get(), 1, count, &received_), CN_OK);
  }
  void send() {
    for (const uint32_t neighbour : neighbours_of(rank_)) {
      ASSERT_EQ(cn_send(peers_[neighbour], 1, 0, "hello", 5, nullptr, nullptr), CN_OK) << cn_error();
    }
  }
  void progress() { cn_progress(endpoint_.get(), 0); }
  uint32_t received() const { return received_; }
  std::set<uint32_t> connected() const {
    std::set<uint32_t> ranks;
    for (uint32_t rank = 0; rank < kSize; ++rank)
      if (rank != rank_ && cn_peer_is_connected(peers_[rank])) ranks.insert(rank);
    return ranks;
  }

 private:
  const uint32_t rank_;
  const EndpointHandle endpoint_;
  std::vector<cn_peer*> peers_ = std::vector<cn_peer*>(kSize);
  uint32_t received_ = 0;
};

TEST(LargeJob, OnlyNeighboursAreConnected) {
  if (!allow_descriptors(kSize * kOfEndpoint + 1000)) GTEST_SKIP() << "the limit of open descriptors is too low";
  std::vector<std::unique_ptr<Member>> members;
  for (uint32_t rank = 0; rank < kSize; ++rank) members.push_back(std::make_unique<Member>(rank));
  const std::string folder = fresh_folder();
  for (uint32_t rank = 0; rank < kSize; ++rank)
    std::ofstream(folder + "/" + std::to_string(rank)) << members[rank]->address() << "\n";
  const size_t before = count_descriptors();
  for (const auto& member : members) member->join("file:" + folder);
  EXPECT_EQ(count_descriptors(), before);

  std::vector<std::set<uint32_t>> expected(kSize);
  std::vector<uint32_t> messages(kSize);
  size_t connections = 0;
  for (uint32_t rank = 0; rank < kSize; ++rank)
    for (const uint32_t neighbour : neighbours_of(rank)) {
      expected[rank].insert(neighbour);
      expected[neighbour].insert(rank);
      ++messages[neighbour];
    }
  for (const auto& of_rank : expected) connections += of_rank.size();
  for (const auto& member : members) member->send();
  const auto is_done = [&] {
    uint32_t done = 0;
    for (uint32_t rank = 0; rank < kSize; ++rank) {
      members[rank]->progress();
      done += members[rank]->received() == messages[rank] ? 1 : 0;
    }
    return done == kSize;
  };
  EXPECT_TRUE(soon(is_done));
  for (uint32_t rank = 0; rank < kSize; ++rank) EXPECT_EQ(members[rank]->connected(), expected[rank]) << rank;
  EXPECT_EQ(count_descriptors(), before + connections);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace commnet::tests
