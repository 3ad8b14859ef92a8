// Tests how the endpoints of a job find each other.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

// Joins `size` endpoints, each on a thread of its own, and returns their statuses.
std::vector<cn_status> join_all(uint32_t size, const std::string& meeting, uint32_t missing = UINT32_MAX) {
  std::vector<cn_status> statuses(size, CN_OK);
  std::vector<EndpointHandle> endpoints;
  for (uint32_t rank = 0; rank < size; ++rank)
    endpoints.push_back(make_endpoint("rank" + std::to_string(rank), "sockets"));
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < size; ++rank) {
    if (rank == missing) continue;
    threads.emplace_back([&, rank] {
      const uint32_t patience = missing == UINT32_MAX ? 20'000 : 300;
      const cn_job_options options{sizeof options, rank, size, meeting.c_str(), patience};
      std::vector<cn_peer*> peers(size);
      statuses[rank] = cn_join(endpoints[rank].get(), &options, peers.data(), size);
      if (statuses[rank] != CN_OK) return;
      for (uint32_t other = 0; other < size; ++other) {
        const std::string expected = other == rank ? "" : "rank" + std::to_string(other);
        EXPECT_EQ(std::string(cn_peer_name(peers[other])), expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return statuses;
}

// Returns an address at which nobody listens, with a port that the system does not give to others by itself.
std::string free_address() {
  std::random_device random;
  for (;;) {
    const auto port = static_cast<uint16_t>(20'000 + random() % 12'000);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    const bool is_free = bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    close(socket);
    if (is_free) return "tcp://127.0.0.1:" + std::to_string(port);
  }
}

TEST(Jobs, EndpointsMeetByFiles) {
  const std::string folder = fresh_folder();
  for (const cn_status status : join_all(5, "file:" + folder)) EXPECT_EQ(status, CN_OK);
  std::filesystem::remove_all(folder);
}

TEST(Jobs, EndpointsMeetAtARendezvous) {
  for (const cn_status status : join_all(6, free_address())) EXPECT_EQ(status, CN_OK);
}

TEST(Jobs, AMissingRankEndsTheMeeting) {
  const std::string folder = fresh_folder();
  const auto statuses = join_all(3, "file:" + folder, 1);
  EXPECT_EQ(statuses[0], CN_TIMED_OUT);
  EXPECT_EQ(statuses[2], CN_TIMED_OUT);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(join_all(3, free_address(), 2)[0], CN_TIMED_OUT);
  EXPECT_EQ(join_all(2, free_address(), 0)[1], CN_TIMED_OUT);
}

TEST(Jobs, ClosingTheEndpointEndsTheMeeting) {
  const std::string folder = fresh_folder();
  // Nobody else comes: at the place of the rendezvous, to it, and to a folder.
  for (const auto& [rank, meeting] : {std::pair(0u, free_address()), {1u, free_address()}, {1u, "file:" + folder}}) {
    EndpointHandle endpoint = make_endpoint("a", "sockets");
    cn_endpoint* const joining = endpoint.get();
    cn_status status = CN_OK;
    std::string text;
    std::atomic<bool> begins = false;
    std::thread thread([&, rank = rank, meeting = meeting] {
      const cn_job_options options{sizeof options, rank, 2, meeting.c_str(), 60'000};
      cn_peer* peers[2];
      begins = true;
      status = cn_join(joining, &options, peers, 2);
      text = cn_error();
    });
    while (!begins) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    endpoint.reset();
    thread.join();
    EXPECT_EQ(status, CN_CANCELLED) << meeting;
    EXPECT_EQ(text, "the endpoint was closed");
  }
  std::filesystem::remove_all(folder);
}

// The address of a slow member is there before it joins: the others need not wait for more, and it finds out by their
// use that they have gone.
TEST(Jobs, MembersThatLeaveAtOnceAreInNobodysWay) {
  const std::string folder = fresh_folder(), meeting = "file:" + folder;
  const EndpointHandle slow = make_endpoint("slow", "sockets");
  std::ofstream(folder + "/2") << cn_endpoint_address(slow.get()) << "\n";
  std::vector<std::thread> fast;
  for (uint32_t rank = 0; rank < 2; ++rank)
    fast.emplace_back([&, rank] {
      const EndpointHandle endpoint = make_endpoint("fast" + std::to_string(rank), "sockets");
      const cn_job_options options{sizeof options, rank, 3, meeting.c_str(), 20'000};
      cn_peer* peers[3];
      EXPECT_EQ(cn_join(endpoint.get(), &options, peers, 3), CN_OK) << cn_error();
    });
  for (std::thread& thread : fast) thread.join();
  const cn_job_options options{sizeof options, 2, 3, meeting.c_str(), 20'000};
  cn_peer* peers[3];
  EXPECT_EQ(cn_join(slow.get(), &options, peers, 3), CN_OK) << cn_error();
  for (uint32_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(complete([&](cn_operation** op) { return cn_send(peers[rank], 1, 0, "x", 1, nullptr, op); }),
              CN_UNREACHABLE);
    EXPECT_TRUE(std::string(cn_error()).starts_with("the peer 'fast" + std::to_string(rank) + "' is not connected: "))
        << cn_error();
  }
  std::filesystem::remove_all(folder);
}

TEST(Jobs, MembersMayLeaveAtOnceAndMeetAgain) {
  for (int round = 0; round < 5; ++round) {
    const std::string folder = fresh_folder();
    for (const cn_status status : join_all(4, "file:" + folder)) EXPECT_EQ(status, CN_OK);
    for (const cn_status status : join_all(4, free_address())) EXPECT_EQ(status, CN_OK);
    std::filesystem::remove_all(folder);
  }
}

// Joins a job of three in which the others have written `addresses`, and returns the text of the error.
std::string join_with(const EndpointHandle& endpoint, const std::vector<std::string>& addresses) {
  const std::string folder = fresh_folder(), meeting = "file:" + folder;
  for (size_t i = 0; i < addresses.size(); ++i)
    std::ofstream(folder + "/" + std::to_string(i + 1)) << addresses[i] << "\n";
  const cn_job_options options{sizeof options, 0, 3, meeting.c_str(), 20'000};
  cn_peer* peers[3];
  EXPECT_EQ(cn_join(endpoint.get(), &options, peers, 3),
            addresses[1].starts_with("b@carrier-pigeon") ? CN_UNSUPPORTED : CN_INVALID_ARGUMENT);
  std::filesystem::remove_all(folder);
  return cn_error();
}

TEST(Jobs, AddressesAreChecked) {
  const EndpointHandle a = make_endpoint("a", "sockets");
  EXPECT_EQ(join_with(a, {"b@unix:/b", "b@unix:/c"}), "ranks 1 and 2 have the same name, 'b'");
  EXPECT_EQ(join_with(a, {"b@unix:/b", "a@unix:/c"}), "rank 2: an endpoint cannot connect to itself, 'a@unix:/c'");
  EXPECT_EQ(join_with(a, {"b@unix:/b", "unix:/c"}), "rank 2: the address 'unix:/c' has no name");
  EXPECT_EQ(join_with(a, {"c@unix:/b", "b@carrier-pigeon:7"}),
            "rank 2: no transport of this endpoint understands the address 'b@carrier-pigeon:7'");
}

TEST(Jobs, TwoMembersWithOneRankAreFound) {
  const std::string folder = fresh_folder(), meeting = "file:" + folder;
  const EndpointHandle endpoint = make_endpoint("a", "sockets");
  std::thread other([&] {
    EXPECT_TRUE(soon([&] { return std::filesystem::exists(folder + "/1"); }));
    for (const auto& [name, rank] : {std::pair("c", "1"), {"b", "0"}}) {
      std::ofstream(folder + "/new") << name << "@unix:/nowhere\n";
      std::filesystem::rename(folder + "/new", folder + "/" + rank);
    }
  });
  const cn_job_options options{sizeof options, 1, 2, meeting.c_str(), 20'000};
  cn_peer* peers[2];
  EXPECT_EQ(cn_join(endpoint.get(), &options, peers, 2), CN_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(cn_error()), "rank 1 is that of 'c@unix:/nowhere', too");
  other.join();
  std::filesystem::remove_all(folder);
}

// The limits for the messages of an endpoint are not those of its meeting.
TEST(Jobs, EndpointsOfSmallMessagesMeet) {
  const std::string meeting = free_address();
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      const EndpointHandle endpoint = make_endpoint("member" + std::to_string(rank), "sockets", [](auto& options) {
        options.message_limit = options.send_limit = options.receive_window = 16;
        options.linger_ms = 1;
      });
      const cn_job_options options{sizeof options, rank, 3, meeting.c_str(), 20'000};
      cn_peer* peers[3];
      EXPECT_EQ(cn_join(endpoint.get(), &options, peers, 3), CN_OK) << cn_error();
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Jobs, AJobHasALimit) {
  const EndpointHandle endpoint = make_endpoint("a", "sockets");
  const cn_job_options options{sizeof options, 0, UINT32_MAX, "file:/tmp", 100};
  cn_peer* peers[1];
  EXPECT_EQ(cn_join(endpoint.get(), &options, peers, 1), CN_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(cn_error()), "options: size is 4294967295, a job has at most 1048576 endpoints");
}

TEST(Jobs, TheEnvironmentSaysRankAndSize) {
  uint32_t rank = 9, size = 9;
  for (const char* variable : {"COMMNET_RANK", "COMMNET_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                               "PMI_RANK", "PMI_SIZE", "SLURM_PROCID", "SLURM_NTASKS"})
    unsetenv(variable);
  EXPECT_EQ(cn_job_of_environment(&rank, &size), CN_UNSUPPORTED);
  setenv("SLURM_PROCID", "2", 1);
  setenv("SLURM_NTASKS", "4", 1);
  EXPECT_EQ(cn_job_of_environment(&rank, &size), CN_OK);
  EXPECT_EQ(rank, 2u);
  EXPECT_EQ(size, 4u);
  setenv("COMMNET_RANK", "x", 1);
  EXPECT_EQ(cn_job_of_environment(&rank, &size), CN_INVALID_ARGUMENT);
  for (const char* variable : {"COMMNET_RANK", "SLURM_PROCID", "SLURM_NTASKS"}) unsetenv(variable);
}

}  // namespace
}  // namespace commnet::tests
