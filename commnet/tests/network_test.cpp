// Tests networks that lose, delay, reorder and damage packets, links that are cut, and peers on their other side that
// die or stop.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "network/link.h"
#include "network/process.h"
#include "support.h"

namespace commnet::tests {
namespace {

constexpr int kSkip = 77;
constexpr uint32_t kTimeout = 600;  // milliseconds after which a silent peer is lost

// Runs a test in a process of its own, with a link of its own.
void with_link(const std::function<void(const Link&)>& body) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(50);
    {
      const Link link(7);
      if (!link.is_there()) {
        const bool is_said = write(ends[1], link.why().data(), link.why().size()) > 0;
        _exit(is_said ? kSkip : 1);
      }
      body(link);
    }
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  close(ends[1]);
  char why[256] = {};
  const ssize_t size = read(ends[0], why, sizeof why - 1);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  if (WEXITSTATUS(status) == kSkip) GTEST_SKIP() << why;
  EXPECT_EQ(size, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

EndpointHandle make_near(uint32_t timeout_ms) {
  return make_endpoint("near", "sockets", [&](cn_endpoint_options& options) {
    options.listen = "tcp://10.77.0.1:0";
    options.peer_timeout_ms = timeout_ms;
    options.streams = 4;
  });
}

// Messages that a peer sends back; they must be what was sent, in its order.
class Echoes {
 public:
  Echoes(cn_endpoint* endpoint, uint64_t seed) : random_(seed), expected_(seed) {
    EXPECT_EQ(cn_set_handler(endpoint, Process::kEcho, take, this), CN_OK);
  }
  void send(cn_peer* peer) {
    const std::vector<uint8_t> bytes = next(random_);
    cn_call call{};
    call.struct_size = sizeof call;
    call.flags = CN_COPY;
    EXPECT_EQ(cn_send(peer, Process::kEcho, 0, bytes.data(), bytes.size(), &call, nullptr), CN_OK) << cn_error();
    ++sent_;
  }
  // Waits until all are back.
  bool are_right() {
    return soon([&] { return returned_ == sent_; }) && is_right_;
  }

 private:
  static std::vector<uint8_t> next(std::mt19937_64& random) {
    std::vector<uint8_t> bytes(1 + (random() % 10 ? random() % 200 : random() % 20'000));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    return bytes;
  }
  static void take(void* user, cn_message* message) {
    Echoes& all = *static_cast<Echoes*>(user);
    const std::vector<uint8_t> expected = next(all.expected_);
    const auto* const bytes = static_cast<const uint8_t*>(cn_message_data(message));
    if (!std::equal(bytes, bytes + cn_message_size(message), expected.begin(), expected.end())) all.is_right_ = false;
    ++all.returned_;
  }

  std::mt19937_64 random_, expected_;
  uint64_t sent_ = 0;
  std::atomic<uint64_t> returned_{0};
  std::atomic<bool> is_right_{true};
};

void expect_works(cn_endpoint* near, cn_peer* peer, const Process& process, uint64_t seed) {
  Echoes echoes(near, seed);
  for (int i = 0; i < 100; ++i) echoes.send(peer);
  std::vector<uint8_t> there(Process::kMemory / 4), here(Process::kMemory / 4);
  std::mt19937_64 random(seed);
  for (uint8_t& byte : there) byte = static_cast<uint8_t>(random());
  const uint64_t offset = seed * 1000;
  EXPECT_EQ(complete([&](cn_operation** op) {
              return cn_write(peer, &process.token(), offset, there.data(), there.size(), nullptr, op);
            }),
            CN_OK)
      << cn_error();
  EXPECT_EQ(complete([&](cn_operation** op) {
              return cn_read(peer, &process.token(), offset, here.data(), here.size(), nullptr, op);
            }),
            CN_OK)
      << cn_error();
  EXPECT_EQ(here, there);
  EXPECT_TRUE(echoes.are_right());
  EXPECT_EQ(cn_set_handler(near, Process::kEcho, nullptr, nullptr), CN_OK);
}

// ------------------------------------------------------------------------------------------------ bad links

struct Named {
  const char* name;
  Behaviour behaviour;
};

class BadLink : public testing::TestWithParam<Named> {};

TEST_P(BadLink, EverythingArrives) {
  with_link([](const Link& link) {
    link.set(GetParam().behaviour);
    const Process far(link, Side::kRight, "far", 10'000);
    const EndpointHandle near = make_near(10'000);
    cn_peer* const peer = connect(near.get(), far.address().c_str());
    ASSERT_NE(peer, nullptr);
    std::vector<uint8_t> here(Process::kMemory);
    EXPECT_EQ(complete([&](cn_operation** op) {
                return cn_read(peer, &far.token(), 0, here.data(), here.size(), nullptr, op);
              }),
              CN_OK)
        << cn_error();
    EXPECT_EQ(here, Process::content());
    expect_works(near.get(), peer, far, 1);
  });
}

INSTANTIATE_TEST_SUITE_P(Links, BadLink,
                         testing::Values(Named{"Good", {}}, Named{"Loses1Percent", {.loss = 0.01}},
                                         Named{"Loses5Percent", {.loss = 0.05}},
                                         Named{"Delays", {.delay_us = 20'000, .jitter_us = 5'000}},
                                         Named{"Reorders", {.reordering = 0.25, .delay_us = 5'000}},
                                         Named{"Duplicates", {.duplication = 0.05}},
                                         Named{"Damages", {.corruption = 0.01}}, Named{"IsSlow", {.rate = 1'000'000}},
                                         Named{"DoesItAll",
                                               {.loss = 0.01,
                                                .duplication = 0.01,
                                                .corruption = 0.005,
                                                .reordering = 0.05,
                                                .delay_us = 5'000,
                                                .jitter_us = 1'000}}),
                         [](const auto& info) { return std::string(info.param.name); });

// Each transfer takes longer than a peer may be silent.
TEST(Network, ASlowLinkIsNotALostPeer) {
  with_link([](const Link& link) {
    constexpr uint32_t kLonger = 1'500;  // than TCP needs to find its pace
    const Process far(link, Side::kRight, "far", kLonger);
    const EndpointHandle near = make_near(kLonger);
    cn_peer* const peer = connect(near.get(), far.address().c_str());
    ASSERT_NE(peer, nullptr);
    link.set({.rate = 40'000, .queue = 16'000});
    std::vector<uint8_t> here(100'000), there(100'000, 3);
    cn_operation *reading = nullptr, *writing = nullptr;
    ASSERT_EQ(cn_read(peer, &far.token(), 0, here.data(), here.size(), nullptr, &reading), CN_OK);
    ASSERT_EQ(cn_write(peer, &far.token(), 500'000, there.data(), there.size(), nullptr, &writing), CN_OK);
    EXPECT_EQ(cn_wait(reading, kPatience), CN_OK) << cn_error();
    EXPECT_EQ(cn_wait(writing, kPatience), CN_OK) << cn_error();
    cn_operation_release(reading);
    cn_operation_release(writing);
    const std::vector<uint8_t> content = Process::content();
    EXPECT_TRUE(std::equal(here.begin(), here.end(), content.begin()));
  });
}

// The link itself: datagrams show what happens to packets.
TEST(Network, TheLinkDoesWhatItIsTold) {
  with_link([](const Link& link) {
    link.enter(Side::kRight);
    const int to = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(7000);
    inet_pton(AF_INET, "10.77.0.2", &address.sin_addr);
    ASSERT_EQ(bind(to, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    link.enter(Side::kLeft);
    const int from = socket(AF_INET, SOCK_DGRAM, 0);
    struct Seen {
      int count = 0, overtaken = 0;
    };
    const auto send_all = [&](const Behaviour& behaviour) {
      link.set(Side::kLeft, behaviour);
      Seen seen;
      int last = -1;
      // Until nothing has come for a while: the link is a process, which may not run for a moment.
      for (int i = 0, quiet = 0; quiet < 200; ++i, ++quiet) {
        if (i < 1000) sendto(from, &i, sizeof i, 0, reinterpret_cast<sockaddr*>(&address), sizeof address);
        if (i % 10 == 0 || i >= 1000) usleep(1000);
        if (i < 1000) quiet = 0;
        for (int number; recv(to, &number, sizeof number, 0) == sizeof number; last = number) {
          quiet = 0;
          ++seen.count;
          if (number < last) ++seen.overtaken;
          EXPECT_TRUE(number >= 0 && number < 1000) << number;
        }
      }
      return seen;
    };
    EXPECT_EQ(send_all({}).count, 1000);
    EXPECT_EQ(send_all({}).overtaken, 0);
    EXPECT_EQ(send_all({.is_cut = true}).count, 0);
    EXPECT_NEAR(send_all({.loss = 0.2}).count, 800, 80);
    EXPECT_NEAR(send_all({.duplication = 0.2}).count, 1200, 80);
    EXPECT_NEAR(send_all({.corruption = 0.2}).count, 800, 80);
    EXPECT_GT(send_all({.reordering = 0.2, .delay_us = 10'000}).overtaken, 10);
    EXPECT_LT(send_all({.rate = 1000, .queue = 1000}).count, 100);
    close(from);
    close(to);
  });
}

// ------------------------------------------------------------------------------------------------ links that end

// A peer on the other side of a link, and one on this side, which goes on whatever happens to the link.
struct Peers {
  explicit Peers(const Link& link, uint32_t timeout_ms = kTimeout)
      : far(link, Side::kRight, "far", timeout_ms),
        other(link, Side::kLeft, "other", timeout_ms),
        near(make_near(timeout_ms)),
        to_far(connect(near.get(), far.address().c_str())),
        to_other(connect(near.get(), other.address().c_str())) {
    EXPECT_TRUE(far.has_seen(CN_EVENT_JOINED));
  }

  // Begins an operation that cannot end while the link is cut.
  cn_operation* begin() {
    cn_operation* operation = nullptr;
    EXPECT_EQ(cn_read(to_far, &far.token(), 0, bytes.data(), bytes.size(), nullptr, &operation), CN_OK) << cn_error();
    return operation;
  }
  void expect_lost(cn_operation* operation) {
    EXPECT_EQ(cn_wait(operation, 5 * kTimeout), CN_PEER_LOST);
    EXPECT_NE(std::string(cn_error()).find("'far'"), std::string::npos) << cn_error();
    cn_operation_release(operation);
    EXPECT_FALSE(cn_peer_is_connected(to_far));
    EXPECT_EQ(cn_send(to_far, Process::kEcho, 0, "x", 1, nullptr, nullptr), CN_PEER_LOST);
    EXPECT_TRUE(cn_peer_is_connected(to_other));
    expect_works(near.get(), to_other, other, 2);
  }

  Process far, other;
  EndpointHandle near;
  cn_peer *to_far, *to_other;
  std::vector<uint8_t> bytes = std::vector<uint8_t>(Process::kMemory);
};

TEST(BrokenLink, APeerBehindACutLinkIsLostOnBothSides) {
  with_link([](const Link& link) {
    Peers peers(link);
    link.cut();
    peers.expect_lost(peers.begin());
    EXPECT_TRUE(peers.far.has_seen(CN_EVENT_LEFT));
  });
}

TEST(BrokenLink, APeerBehindALinkThatIsCutInOneDirectionIsLostOnBothSides) {
  for (const Side silent : {Side::kLeft, Side::kRight})
    with_link([&](const Link& link) {
      Peers peers(link);
      link.set(silent, {.is_cut = true});
      peers.expect_lost(peers.begin());
      EXPECT_TRUE(peers.far.has_seen(CN_EVENT_LEFT));
    });
}

TEST(BrokenLink, ALinkThatIsRestoredInTimeLosesNothing) {
  with_link([](const Link& link) {
    Peers peers(link, 8'000);
    Echoes echoes(peers.near.get(), 5);
    for (int i = 0; i < 10; ++i) echoes.send(peers.to_far);
    link.cut();
    for (int i = 0; i < 10; ++i) echoes.send(peers.to_far);
    cn_operation* const operation = peers.begin();
    EXPECT_EQ(cn_wait(operation, 700), CN_TIMED_OUT);
    link.restore();
    EXPECT_EQ(cn_wait(operation, kPatience), CN_OK) << cn_error();
    cn_operation_release(operation);
    EXPECT_EQ(peers.bytes, Process::content());
    for (int i = 0; i < 10; ++i) echoes.send(peers.to_far);
    EXPECT_TRUE(echoes.are_right());
    EXPECT_TRUE(cn_peer_is_connected(peers.to_far));
  });
}

TEST(BrokenLink, APeerIsConnectedAgainWhenTheProgramAsksForIt) {
  with_link([](const Link& link) {
    Peers peers(link);
    link.cut();
    peers.expect_lost(peers.begin());
    EXPECT_TRUE(peers.far.has_seen(CN_EVENT_LEFT));
    // An attempt while nobody answers ends in time, too.
    cn_operation* operation = nullptr;
    ASSERT_EQ(cn_connect(peers.near.get(), peers.far.address().c_str(), nullptr, &operation), CN_OK);
    EXPECT_EQ(cn_wait(operation, 5 * kTimeout), CN_UNREACHABLE);
    EXPECT_NE(std::string(cn_error()), "");
    cn_operation_release(operation);
    link.restore();
    usleep(500'000);
    EXPECT_FALSE(cn_peer_is_connected(peers.to_far));
    EXPECT_EQ(connect(peers.near.get(), peers.far.address().c_str()), peers.to_far);
    EXPECT_TRUE(peers.far.has_seen(CN_EVENT_JOINED));
    expect_works(peers.near.get(), peers.to_far, peers.far, 3);
  });
}

// ------------------------------------------------------------------------------------------------ peers that end

TEST(BrokenLink, APeerThatIsKilledIsLost) {
  with_link([](const Link& link) {
    Peers peers(link);
    link.set({.delay_us = 20'000});
    cn_operation* const operation = peers.begin();
    peers.far.kill();
    peers.expect_lost(operation);
  });
}

TEST(BrokenLink, APeerThatIsKilledBehindACutLinkIsLost) {
  with_link([](const Link& link) {
    Peers peers(link);
    link.cut();
    cn_operation* const operation = peers.begin();
    peers.far.kill();
    peers.expect_lost(operation);
  });
}

TEST(BrokenLink, APeerThatStopsIsLostAndMayComeBack) {
  with_link([](const Link& link) {
    Peers peers(link);
    peers.far.stop();
    peers.expect_lost(peers.begin());
    peers.far.go_on();
    EXPECT_TRUE(peers.far.has_seen(CN_EVENT_LEFT));
    EXPECT_EQ(connect(peers.near.get(), peers.far.address().c_str()), peers.to_far);
    expect_works(peers.near.get(), peers.to_far, peers.far, 4);
  });
}

}  // namespace
}  // namespace commnet::tests
