// Tests that the first operation connects a peer that a job has made known, and what waits for that.
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

// Listens, and never answers.
class Silence {
 public:
  Silence() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&name), size), 0);
    EXPECT_EQ(listen(socket_, 1), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&name), &size), 0);
    url_ = "tcp://127.0.0.1:" + std::to_string(ntohs(name.sin_port));
  }
  Silence(const Silence&) = delete;
  ~Silence() { close(socket_); }
  const std::string& url() const { return url_; }

 private:
  const int socket_;
  std::string url_;
};

// Messages that have arrived, by their channel.
struct Inbox {
  std::mutex mutex;
  std::map<uint32_t, std::vector<std::string>> of_channel;
  std::atomic<size_t> count{0};

  static void take(void* user, cn_message* message) {
    Inbox& inbox = *static_cast<Inbox*>(user);
    const std::lock_guard lock(inbox.mutex);
    inbox.of_channel[cn_message_channel(message)].emplace_back(static_cast<const char*>(cn_message_data(message)),
                                                               cn_message_size(message));
    ++inbox.count;
  }
};

cn_status send_copy(cn_peer* peer, const std::string& text, uint32_t channel = 0, cn_operation** operation = nullptr,
                    uint32_t timeout_ms = 0) {
  cn_call call{};
  call.struct_size = sizeof call;
  call.flags = CN_COPY;
  call.timeout_ms = timeout_ms;
  std::string bytes = text;
  const cn_status status = cn_send(peer, 1, channel, bytes.data(), bytes.size(), &call, operation);
  std::fill(bytes.begin(), bytes.end(), '?');
  return status;
}

class FirstUse : public testing::TestWithParam<const char*> {
 protected:
  FirstUse() {
    a = make("a");
    b = make("b");
    EXPECT_EQ(cn_set_handler(b.get(), 1, Inbox::take, &inbox), CN_OK);
  }
  ~FirstUse() override { std::filesystem::remove_all(folder); }

  EndpointHandle make(const std::string& name, const std::function<void(cn_endpoint_options&)>& change = {}) {
    return make_endpoint(name, GetParam(), change);
  }
  // Joins a job of two: `endpoint` has rank 0, and rank 1 is at an address. Returns the peer.
  cn_peer* meet(cn_endpoint* endpoint, const std::string& address) {
    std::ofstream(folder + "/1") << address << "\n";
    const std::string meeting = "file:" + folder;
    const cn_job_options options{sizeof options, 0, 2, meeting.c_str(), 20'000};
    cn_peer* peers[2] = {};
    EXPECT_EQ(cn_join(endpoint, &options, peers, 2), CN_OK) << cn_error();
    EXPECT_EQ(peers[0], nullptr);
    return peers[1];
  }
  cn_peer* meet() { return meet(a.get(), cn_endpoint_address(b.get())); }

  const std::string folder = fresh_folder();
  Inbox inbox;
  EndpointHandle a, b;
};

TEST_P(FirstUse, AJobConnectsNobody) {
  cn_peer* const peer = meet();
  ASSERT_NE(peer, nullptr);
  EXPECT_EQ(std::string(cn_peer_name(peer)), "b");
  EXPECT_EQ(std::string(cn_peer_transport(peer)), "");
  EXPECT_FALSE(cn_peer_is_connected(peer));
  EXPECT_EQ(cn_find_peer(a.get(), "b"), peer);
  EXPECT_EQ(cn_find_peer(b.get(), "a"), nullptr);
  ASSERT_EQ(cn_watch_peers(a.get(), true), CN_OK);
  EXPECT_EQ(complete([&](cn_operation** operation) { return send_copy(peer, "x", 0, operation); }), CN_OK);
  cn_event event{};
  event.struct_size = sizeof event;
  ASSERT_EQ(cn_next_event(a.get(), &event, kPatience), CN_OK);
  EXPECT_EQ(event.kind, CN_EVENT_JOINED);
  EXPECT_EQ(event.peer, peer);
  EXPECT_TRUE(cn_peer_is_connected(peer));
  EXPECT_NE(std::string(cn_peer_transport(peer)), "");
  EXPECT_TRUE(soon([&] { return cn_find_peer(b.get(), "a") != nullptr; }));
}

TEST_P(FirstUse, WhatWaitsKeepsItsOrder) {
  cn_peer* const peer = meet();
  for (int i = 0; i < 3000; ++i) {
    const std::string size(i % 100 == 0 ? 50'000 : 0, '.');
    ASSERT_EQ(send_copy(peer, std::to_string(i) + size, i % 3), CN_OK) << cn_error();
  }
  ASSERT_TRUE(soon([&] { return inbox.count == 3000; })) << inbox.count;
  for (int i = 0; i < 3000; ++i) {
    const std::string& text = inbox.of_channel[i % 3][i / 3];
    EXPECT_EQ(text.substr(0, text.find('.')), std::to_string(i));
  }
}

TEST_P(FirstUse, BothSidesAtOnce) {
  for (int round = 0; round < 40; ++round) {
    Inbox inboxes[2];
    EndpointHandle endpoints[] = {make("one"), make("two")};
    cn_peer* peers[] = {meet(endpoints[0].get(), cn_endpoint_address(endpoints[1].get())),
                        meet(endpoints[1].get(), cn_endpoint_address(endpoints[0].get()))};
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int side = 0; side < 2; ++side)
      threads.emplace_back([&, side] {
        ASSERT_EQ(cn_set_handler(endpoints[side].get(), 1, Inbox::take, &inboxes[side]), CN_OK);
        ASSERT_EQ(cn_watch_peers(endpoints[side].get(), true), CN_OK);
        for (++ready; ready < 2;) {
        }
        for (int i = 0; i < 20; ++i) ASSERT_EQ(send_copy(peers[side], std::to_string(i)), CN_OK) << cn_error();
      });
    for (std::thread& thread : threads) thread.join();
    for (int side = 0; side < 2; ++side) {
      ASSERT_TRUE(soon([&] { return inboxes[side].count == 20; })) << inboxes[side].count;
      for (int i = 0; i < 20; ++i) EXPECT_EQ(inboxes[side].of_channel[0][i], std::to_string(i));
      cn_event event{};
      event.struct_size = sizeof event;
      EXPECT_EQ(cn_next_event(endpoints[side].get(), &event, 0), CN_OK);
      EXPECT_EQ(event.kind, CN_EVENT_JOINED);
      EXPECT_EQ(cn_next_event(endpoints[side].get(), &event, 0), CN_TIMED_OUT);
    }
  }
}

TEST_P(FirstUse, APeerThatHasDiedIsNamed) {
  cn_peer* const peer = meet();
  b.reset();
  for (int i = 0; i < 2; ++i) {  // each use tries again
    EXPECT_EQ(complete([&](cn_operation** operation) { return send_copy(peer, "x", 0, operation); }), CN_UNREACHABLE);
    EXPECT_TRUE(std::string(cn_error()).starts_with("the peer 'b' is not connected: ")) << cn_error();
  }
  EXPECT_EQ(cn_find_peer(a.get(), "b"), peer);
}

TEST_P(FirstUse, APeerThatIsLostStaysLost) {
  cn_peer* const peer = meet();
  ASSERT_EQ(complete([&](cn_operation** operation) { return send_copy(peer, "x", 0, operation); }), CN_OK);
  b.reset();
  ASSERT_TRUE(soon([&] { return !cn_peer_is_connected(peer); }));
  b = make("b");
  EXPECT_EQ(send_copy(peer, "x"), CN_PEER_LOST);
  EXPECT_EQ(std::string(cn_error()), "the peer 'b' is not connected");
  EXPECT_EQ(cn_find_peer(a.get(), "b"), nullptr);
  // Another job may make it known again.
  ASSERT_EQ(meet(), peer);
  EXPECT_EQ(complete([&](cn_operation** operation) { return send_copy(peer, "x", 0, operation); }), CN_OK);
}

TEST_P(FirstUse, APeerThatLeftBeforeItWasUsedStaysLost) {
  cn_peer* const peer = meet();
  cn_peer* const back = connect(b.get(), cn_endpoint_address(a.get()));
  ASSERT_TRUE(soon([&] { return cn_peer_is_connected(peer); }));
  ASSERT_EQ(cn_disconnect(back), CN_OK);
  ASSERT_TRUE(soon([&] { return !cn_peer_is_connected(peer); }));
  EXPECT_EQ(send_copy(peer, "x"), CN_PEER_LOST);
}

TEST_P(FirstUse, InACallback) {
  cn_peer* peer = meet();
  const EndpointHandle c = make("c");
  const auto forward = [](void* user, cn_message* message) {
    const std::string text(static_cast<const char*>(cn_message_data(message)), cn_message_size(message));
    EXPECT_EQ(send_copy(*static_cast<cn_peer**>(user), text), CN_OK) << cn_error();
  };
  ASSERT_EQ(cn_set_handler(a.get(), 1, forward, &peer), CN_OK);
  ASSERT_EQ(send_copy(connect(c.get(), cn_endpoint_address(a.get())), "on"), CN_OK);
  ASSERT_TRUE(soon([&] { return inbox.count == 1; }));
  EXPECT_EQ(inbox.of_channel[0][0], "on");
}

TEST_P(FirstUse, ManyThreadsBeginOneConnection) {
  cn_peer* const peer = meet();
  ASSERT_EQ(cn_watch_peers(b.get(), true), CN_OK);
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 200; ++i)
    threads.emplace_back([&, i] {
      for (++ready; ready < 200;) std::this_thread::yield();
      for (int message = 0; message < 10; ++message)
        EXPECT_EQ(send_copy(peer, std::to_string(message), i), CN_OK) << cn_error();
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(soon([&] { return inbox.count == 2000; })) << inbox.count;
  for (const auto& [channel, texts] : inbox.of_channel)
    for (int message = 0; message < 10; ++message) EXPECT_EQ(texts[message], std::to_string(message));
  cn_event event{};
  event.struct_size = sizeof event;
  EXPECT_EQ(cn_next_event(b.get(), &event, 0), CN_OK);
  EXPECT_EQ(cn_next_event(b.get(), &event, 0), CN_TIMED_OUT);
}

TEST_P(FirstUse, ReadsAndWrites) {
  constexpr size_t kSize = 3'000'000;
  std::vector<char> memory(kSize, 'm'), bytes(kSize, 'w'), read(kSize);
  cn_memory* registered = nullptr;
  ASSERT_EQ(cn_memory_register(b.get(), memory.data(), kSize, CN_READ | CN_WRITE, &registered), CN_OK);
  cn_token token;
  ASSERT_EQ(cn_memory_token(registered, CN_READ | CN_WRITE, &token), CN_OK);
  cn_peer* const peer = meet();
  // Small ones and large ones, of which the first begins the connection.
  std::vector<cn_operation*> operations(3);
  ASSERT_EQ(cn_read(peer, &token, 0, read.data(), 100, nullptr, &operations[0]), CN_OK);
  ASSERT_EQ(cn_read(peer, &token, 100, read.data() + 100, kSize - 100, nullptr, &operations[1]), CN_OK);
  ASSERT_EQ(cn_read(peer, &token, kSize, read.data(), 1, nullptr, &operations[2]), CN_OK);
  EXPECT_EQ(cn_wait(operations[0], kPatience), CN_OK) << cn_error();
  EXPECT_EQ(cn_wait(operations[1], kPatience), CN_OK) << cn_error();
  EXPECT_EQ(cn_wait(operations[2], kPatience), CN_OUT_OF_RANGE);
  EXPECT_EQ(read, memory);
  for (cn_operation* const each : operations) cn_operation_release(each);
  const EndpointHandle c = make("c");
  cn_peer* const other = meet(c.get(), cn_endpoint_address(b.get()));
  EXPECT_EQ(complete([&](cn_operation** operation) {
              return cn_write(other, &token, 0, bytes.data(), kSize, nullptr, operation);
            }),
            CN_OK)
      << cn_error();
  EXPECT_EQ(memory, bytes);
  cn_memory_release(registered);
}

TEST_P(FirstUse, ClosingWaitsForTheConnection) {
  cn_peer* const peer = meet();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(send_copy(peer, std::to_string(i)), CN_OK);
  EXPECT_EQ(cn_endpoint_close(a.release()), CN_OK) << cn_error();
  EXPECT_TRUE(soon([&] { return inbox.count == 100; })) << inbox.count;
}

TEST_P(FirstUse, TooLargeMessagesEndAlone) {
  const EndpointHandle modest = make("modest", [](auto& options) { options.message_limit = 1000; });
  ASSERT_EQ(cn_set_handler(modest.get(), 1, Inbox::take, &inbox), CN_OK);
  cn_peer* const peer = meet(a.get(), cn_endpoint_address(modest.get()));
  cn_operation* large = nullptr;
  ASSERT_EQ(send_copy(peer, std::string(1001, 'x'), 0, &large), CN_OK);
  ASSERT_EQ(send_copy(peer, "after"), CN_OK);
  EXPECT_EQ(cn_wait(large, kPatience), CN_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(cn_error()), "the peer 'modest' takes messages of at most 1000 bytes, got 1001");
  cn_operation_release(large);
  ASSERT_TRUE(soon([&] { return inbox.count == 1; }));
  EXPECT_EQ(inbox.of_channel[0][0], "after");
}

TEST_P(FirstUse, AnotherSecretIsDenied) {
  const EndpointHandle stranger = make("stranger", [](auto& options) { options.secret = "b secret"; });
  cn_peer* const peer = meet(a.get(), cn_endpoint_address(stranger.get()));
  EXPECT_EQ(complete([&](cn_operation** operation) { return send_copy(peer, "x", 0, operation); }), CN_DENIED);
  EXPECT_EQ(std::string(cn_error()), "the peer 'stranger' is not connected: the other side has another secret");
}

TEST_P(FirstUse, AKnownPeerIsConnectedByItsName) {
  cn_peer* const peer = meet();
  EXPECT_EQ(connect(a.get(), "b@"), peer);
  EXPECT_TRUE(cn_peer_is_connected(peer));
  EXPECT_EQ(cn_connect(b.get(), "nobody@", nullptr, nullptr), CN_UNSUPPORTED);
}

INSTANTIATE_TEST_SUITE_P(Transports, FirstUse, testing::Values("memory", "shared", "unix", "tcp"),
                         [](const auto& info) { return std::string(info.param); });

// What waits for a peer that does not answer.
class FirstUseOfSilence : public testing::Test {
 protected:
  ~FirstUseOfSilence() override { std::filesystem::remove_all(folder); }
  void SetUp() override {
    a = make_endpoint("a", "sockets", [](auto& options) {
      options.send_limit = 10'000;
      options.linger_ms = 50;
      options.peer_timeout_ms = 60'000;
    });
    std::ofstream(folder + "/1") << "b@" << silence.url() << "\n";
    const std::string meeting = "file:" + folder;
    const cn_job_options options{sizeof options, 0, 2, meeting.c_str(), 20'000};
    cn_peer* peers[2] = {};
    ASSERT_EQ(cn_join(a.get(), &options, peers, 2), CN_OK) << cn_error();
    peer = peers[1];
    ASSERT_EQ(send_copy(peer, "first", 0, &first), CN_OK);
  }
  void TearDown() override { cn_operation_release(first); }

  const Silence silence;
  const std::string folder = fresh_folder();
  EndpointHandle a;
  cn_peer* peer = nullptr;
  cn_operation* first = nullptr;
};

TEST_F(FirstUseOfSilence, WhatWaitsCanTimeOut) {
  cn_operation* late = nullptr;
  char byte = 0;
  cn_token token{};
  ASSERT_EQ(send_copy(peer, "late", 0, &late, 50), CN_OK);
  EXPECT_EQ(cn_wait(late, kPatience), CN_TIMED_OUT);
  EXPECT_EQ(std::string(cn_error()), "the operation took longer than its timeout");
  cn_operation_release(late);
  cn_call call{};
  call.struct_size = sizeof call;
  call.timeout_ms = 50;
  EXPECT_EQ(complete([&](cn_operation** operation) { return cn_read(peer, &token, 0, &byte, 1, &call, operation); }),
            CN_TIMED_OUT);
  EXPECT_FALSE(cn_test(first, nullptr));
}

TEST_F(FirstUseOfSilence, WhatWaitsCanBeCancelledAndCountsForTheLimit) {
  cn_operation* large = nullptr;
  ASSERT_EQ(send_copy(peer, std::string(9000, 'x'), 1, &large), CN_OK);
  EXPECT_EQ(send_copy(peer, std::string(9000, 'x')), CN_FULL);
  cn_cancel(large);
  EXPECT_EQ(cn_wait(large, 0), CN_CANCELLED);
  cn_operation_release(large);
  EXPECT_EQ(send_copy(peer, std::string(9000, 'x')), CN_OK);
  char byte = 0;
  cn_token token{};
  cn_operation* write = nullptr;
  ASSERT_EQ(cn_write(peer, &token, 0, &byte, 1, nullptr, &write), CN_OK);
  cn_cancel(write);
  EXPECT_EQ(cn_wait(write, 0), CN_CANCELLED);
  cn_operation_release(write);
  EXPECT_FALSE(cn_test(first, nullptr));
}

TEST_F(FirstUseOfSilence, ClosingSaysWhatWasNotSent) {
  EXPECT_EQ(cn_endpoint_close(a.release()), CN_TIMED_OUT);
  EXPECT_EQ(std::string(cn_error()), "1 message to 'b' could not be sent before the end");
  EXPECT_EQ(cn_wait(first, 0), CN_CANCELLED);
  EXPECT_EQ(std::string(cn_error()), "the peer 'b' is not connected: the endpoint was closed");
}

TEST_F(FirstUseOfSilence, ADisconnectedPeerIsNoLongerConnectedByItsUse) {
  ASSERT_EQ(cn_disconnect(peer), CN_OK);
  EXPECT_EQ(cn_wait(first, kPatience), CN_CANCELLED);
  EXPECT_EQ(std::string(cn_error()), "the peer 'b' is not connected: it was disconnected");
  EXPECT_EQ(send_copy(peer, "x"), CN_PEER_LOST);
  EXPECT_EQ(cn_find_peer(a.get(), "b"), nullptr);
}

TEST_F(FirstUseOfSilence, WhatWaitsGoesOnWhenThePeerConnects) {
  Inbox inbox;
  const EndpointHandle b = make_endpoint("b", "sockets");
  ASSERT_EQ(cn_set_handler(b.get(), 1, Inbox::take, &inbox), CN_OK);
  connect(b.get(), cn_endpoint_address(a.get()));
  EXPECT_EQ(cn_wait(first, kPatience), CN_OK) << cn_error();
  EXPECT_TRUE(soon([&] { return inbox.count == 1; }));
}

}  // namespace
}  // namespace commnet::tests
