// Tests networks that lose, delay and reorder packets. Needs the right to make network namespaces.
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

// Moves this process into a network of its own, whose loopback interface behaves like a bad network; without a
// behaviour, like a good one.
bool enter_bad_network(const std::string& behaviour) {
  if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  return run("ip link set lo up") && (behaviour.empty() || run("tc qdisc add dev lo root netem " + behaviour));
}

constexpr int kSkip = 77;

// Exchanges messages, reads and writes over a bad network; returns the exit status of the process that does.
int exchange(const std::string& behaviour) {
  if (!enter_bad_network(behaviour)) return kSkip;
  const auto tcp = [](cn_endpoint_options& options) {
    options.listen = "tcp://127.0.0.1:0";
    options.streams = 4;
  };
  const EndpointHandle a = make_endpoint("a", "sockets", tcp), b = make_endpoint("b", "sockets", tcp);
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  struct Seen {
    uint32_t next = 0;
    std::atomic<uint32_t> right{0};
  } seen;
  const auto take = [](void* user, cn_message* message) {
    Seen& all = *static_cast<Seen*>(user);
    uint32_t number = 0;
    std::memcpy(&number, cn_message_data(message), sizeof number);
    if (number == all.next++) ++all.right;
  };
  cn_set_handler(b.get(), 1, take, &seen);
  std::vector<uint8_t> bytes(20'000), there(2'000'000, 1), here(2'000'000);
  cn_call copied{};
  copied.struct_size = sizeof copied;
  copied.flags = CN_COPY;
  for (uint32_t i = 0; i < 200; ++i) {
    std::memcpy(bytes.data(), &i, sizeof i);
    if (cn_send(to_b, 1, 0, bytes.data(), i % 10 ? 100 : bytes.size(), &copied, nullptr) != CN_OK) return 1;
  }
  cn_memory* memory = nullptr;
  cn_token token;
  cn_memory_register(b.get(), there.data(), there.size(), CN_READ | CN_WRITE, &memory);
  cn_memory_token(memory, CN_READ | CN_WRITE, &token);
  if (complete([&](cn_operation** op) { return cn_read(to_b, &token, 0, here.data(), here.size(), nullptr, op); }) !=
      CN_OK)
    return 2;
  if (here != there) return 3;
  std::fill(here.begin(), here.end(), uint8_t{9});
  if (complete([&](cn_operation** op) { return cn_write(to_b, &token, 0, here.data(), here.size(), nullptr, op); }) !=
      CN_OK)
    return 4;
  if (here != there) return 5;
  if (!soon([&] { return seen.right == 200; })) return 6;
  cn_memory_release(memory);
  return testing::Test::HasFailure() ? 7 : 0;
}

class Network : public testing::TestWithParam<const char*> {};

TEST_P(Network, EverythingArrives) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(50);
    _exit(exchange(GetParam()));
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  if (WEXITSTATUS(status) == kSkip)
    GTEST_SKIP() << "this process may not make networks, or the kernel does not have netem";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

INSTANTIATE_TEST_SUITE_P(Behaviours, Network,
                         testing::Values("", "loss 2% limit 100000", "delay 20ms 5ms limit 100000",
                                         "delay 5ms reorder 25% 50% limit 100000", "duplicate 5% limit 100000"));

// A network that ends silently: the peer is lost by its timeout alone.
TEST(BrokenNetwork, SilenceIsNoticed) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(50);
    if (!enter_bad_network("")) _exit(kSkip);
    const auto tcp = [](cn_endpoint_options& options) {
      options.listen = "tcp://127.0.0.1:0";
      options.peer_timeout_ms = 500;
    };
    const EndpointHandle a = make_endpoint("a", "sockets", tcp), b = make_endpoint("b", "sockets", tcp);
    cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
    usleep(800'000);
    if (!cn_peer_is_connected(to_b)) _exit(1);
    if (!run("ip link set lo down")) _exit(kSkip);
    if (!soon([&] { return !cn_peer_is_connected(to_b); }, 3000)) _exit(2);
    // It comes back.
    if (!run("ip link set lo up")) _exit(kSkip);
    _exit(connect(a.get(), cn_endpoint_address(b.get())) == to_b ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  if (WEXITSTATUS(status) == kSkip) GTEST_SKIP() << "this process may not make networks";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace commnet::tests
