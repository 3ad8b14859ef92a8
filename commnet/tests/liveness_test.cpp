// Tests when a peer counts as lost: after silence, not while its bytes arrive slowly.
#include <atomic>
#include <thread>
#include <vector>

#include "raw_peer.h"
#include "relay.h"
#include "support.h"

namespace commnet::tests {
namespace {

constexpr uint32_t kTimeout = 300;  // milliseconds

EndpointHandle make(const std::string& name, uint32_t timeout = kTimeout) {
  return make_endpoint(name, "sockets", [&](cn_endpoint_options& options) {
    options.listen = "tcp://127.0.0.1:0";
    options.peer_timeout_ms = timeout;
    options.streams = 1;
  });
}

void count(void* user, cn_message* message) { *static_cast<std::atomic<size_t>*>(user) += cn_message_size(message); }

TEST(Liveness, AFrameMayTakeLongerThanTheTimeout) {
  constexpr uint32_t kLonger = 1000;  // a busy machine may not run this thread for a part of it
  const EndpointHandle a = make("a", kLonger);
  std::atomic<size_t> arrived{0};
  ASSERT_EQ(cn_set_handler(a.get(), 1, count, &arrived), CN_OK);
  RawPeer raw(cn_endpoint_address(a.get()));
  ASSERT_EQ(raw.greet("raw", "a secret"), CN_OK);
  const std::vector<char> bytes(100'000);
  Frame frame{.type = FrameType::kMessage, .a = 1, .total = bytes.size()};
  frame.size = bytes.size();
  ASSERT_TRUE(raw.send(frame));
  for (int i = 0; i < 20; ++i) {
    usleep(kLonger * 1000 / 15);
    ASSERT_TRUE(raw.send_bytes(bytes.data() + i * 5000, 5000));
  }
  EXPECT_TRUE(soon([&] { return arrived == bytes.size(); }));
  ASSERT_NE(cn_find_peer(a.get(), "raw"), nullptr);
}

TEST(Liveness, APeerThatStopsWithinAFrameIsLost) {
  const EndpointHandle a = make("a");
  RawPeer raw(cn_endpoint_address(a.get()));
  ASSERT_EQ(raw.greet("raw", "a secret"), CN_OK);
  cn_peer* const peer = cn_find_peer(a.get(), "raw");
  Frame frame{.type = FrameType::kMessage, .a = 1, .total = 100'000};
  frame.size = frame.total;
  const std::vector<char> bytes(1000);
  ASSERT_TRUE(raw.send(frame, bytes.data(), bytes.size()));
  EXPECT_TRUE(soon([&] { return !cn_peer_is_connected(peer); }));
}

// A handler keeps the thread of its endpoint, but not its signs of life, nor its memory.
TEST(Liveness, AHandlerMayTakeLongerThanTheTimeout) {
  const EndpointHandle a = make("a"), b = make("b");
  std::vector<char> there(100'000, 1), here(there.size());
  cn_memory* memory = nullptr;
  cn_token token;
  ASSERT_EQ(cn_memory_register(b.get(), there.data(), there.size(), CN_READ, &memory), CN_OK);
  ASSERT_EQ(cn_memory_token(memory, CN_READ, &token), CN_OK);
  struct Handled {
    std::atomic<int> begun{0}, ended{0};
  } handled;
  const auto slow = [](void* user, cn_message*) {
    Handled& known = *static_cast<Handled*>(user);
    ++known.begun;
    usleep(4 * kTimeout * 1000);
    ++known.ended;
  };
  ASSERT_EQ(cn_set_handler(b.get(), 1, slow, &handled), CN_OK);
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cn_send(to_b, 1, 0, "x", 1, nullptr, nullptr), CN_OK);
    EXPECT_TRUE(soon([&] { return handled.begun == i + 1; }));
    EXPECT_EQ(
        complete([&](cn_operation** op) { return cn_read(to_b, &token, 0, here.data(), here.size(), nullptr, op); }),
        CN_OK)
        << cn_error();
    EXPECT_EQ(handled.ended, i);
    EXPECT_TRUE(soon([&] { return handled.ended == i + 1; }));
    EXPECT_TRUE(cn_peer_is_connected(to_b));
  }
  cn_memory_release(memory);
}

// What one side sends takes longer than the timeout, which its own pings wait behind, and the answers to them.
TEST(Liveness, ASlowNetworkIsNotALostPeer) {
  for (const uint32_t timeout_of_b : {kTimeout, 20 * kTimeout}) {
    const EndpointHandle a = make("a"), b = make("b", timeout_of_b);
    std::atomic<size_t> arrived{0};
    ASSERT_EQ(cn_set_handler(b.get(), 1, count, &arrived), CN_OK);
    const Relay relay(cn_endpoint_address(b.get()), 4000);
    cn_peer* const to_b = connect(a.get(), relay.address().c_str());
    ASSERT_NE(to_b, nullptr);
    const std::vector<char> bytes(3'000'000);
    EXPECT_EQ(complete([&](cn_operation** op) { return cn_send(to_b, 1, 0, bytes.data(), bytes.size(), nullptr, op); }),
              CN_OK)
        << cn_error();
    EXPECT_TRUE(soon([&] { return arrived == bytes.size() || !cn_peer_is_connected(to_b); }));
    EXPECT_EQ(arrived, bytes.size());
  }
}

TEST(Liveness, ACutNetworkIsALostPeer) {
  const EndpointHandle a = make("a"), b = make("b");
  Relay relay(cn_endpoint_address(b.get()), 4000);
  cn_peer* const to_b = connect(a.get(), relay.address().c_str());
  ASSERT_NE(to_b, nullptr);
  const std::vector<char> bytes(3'000'000);
  cn_operation* operation = nullptr;
  ASSERT_EQ(cn_send(to_b, 1, 0, bytes.data(), bytes.size(), nullptr, &operation), CN_OK);
  usleep(50'000);
  relay.stop();
  EXPECT_TRUE(soon([&] { return !cn_peer_is_connected(to_b); }));
  EXPECT_TRUE(soon([&] { return cn_find_peer(b.get(), "a") == nullptr; }));
  EXPECT_TRUE(cn_test(operation, nullptr));
  cn_operation_release(operation);
}

// A socket that is closed while something was received and not read takes with it what is still to be sent.
TEST(Liveness, WhatWasSentArrivesThoughAnswersAreNotRead) {
  const EndpointHandle b = make("b");
  std::atomic<size_t> arrived{0};
  ASSERT_EQ(cn_set_handler(b.get(), 1, count, &arrived), CN_OK);
  const Relay relay(cn_endpoint_address(b.get()), 500);
  EndpointHandle a = make_endpoint("a", "sockets", [](cn_endpoint_options& options) {
    options.flags = CN_MANUAL_PROGRESS;
    options.listen = "tcp://127.0.0.1:0";
    options.streams = 1;
  });
  cn_peer* const to_b = connect(a.get(), relay.address().c_str());
  ASSERT_NE(to_b, nullptr);
  const std::vector<char> bytes(200'000);
  ASSERT_EQ(complete([&](cn_operation** op) { return cn_send(to_b, 1, 0, bytes.data(), bytes.size(), nullptr, op); }),
            CN_OK);
  usleep(kTimeout * 1000 / 2);  // b pings
  a.reset();
  EXPECT_TRUE(soon([&] { return arrived == bytes.size(); }, 3000)) << arrived;
}

}  // namespace
}  // namespace commnet::tests
