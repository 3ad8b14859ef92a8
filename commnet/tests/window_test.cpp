// Tests that receivers that are slow bound what senders have under way, and that nobody waits for ever.
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

constexpr uint64_t kWindow = 64 << 10;

// Keeps the messages that it gets until release() is called.
struct Keeper {
  std::mutex mutex;
  std::vector<cn_message*> kept;
  std::atomic<size_t> count{0};
  bool keeps = true;

  static void take(void* user, cn_message* message) {
    Keeper& all = *static_cast<Keeper*>(user);
    const std::lock_guard lock(all.mutex);
    ++all.count;
    if (!all.keeps) return;
    cn_message_keep(message);
    all.kept.push_back(message);
  }
  void release(bool goes_on_keeping) {
    const std::lock_guard lock(mutex);
    keeps = goes_on_keeping;
    for (cn_message* const message : kept) cn_message_release(message);
    kept.clear();
  }
  ~Keeper() { release(false); }
};

class Window : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto change = [](cn_endpoint_options& options) {
      options.receive_window = kWindow;
      options.send_limit = kWindow;
    };
    a = make_endpoint("a", GetParam(), change);
    b = make_endpoint("b", GetParam(), change);
    to_b = connect(a.get(), cn_endpoint_address(b.get()));
    ASSERT_NE(to_b, nullptr);
    ASSERT_EQ(cn_set_handler(b.get(), 1, Keeper::take, &keeper), CN_OK);
  }
  void TearDown() override {
    keeper.release(false);
    a.reset();
    b.reset();
  }
  cn_status send(uint32_t channel, size_t size) {
    const std::vector<char> bytes(size);
    cn_call call{};
    call.struct_size = sizeof call;
    call.flags = CN_COPY;
    return cn_send(to_b, 1, channel, bytes.data(), size, &call, nullptr);
  }
  void send_all(uint32_t channel, size_t size) {
    cn_status status;
    while ((status = send(channel, size)) == CN_FULL) std::this_thread::yield();
    ASSERT_EQ(status, CN_OK) << cn_error();
  }

  Keeper keeper;
  EndpointHandle a, b;
  cn_peer* to_b = nullptr;
};

TEST_P(Window, MessagesThatAreKeptStopTheSender) {
  size_t sent = 0;
  while (send(0, 1000) == CN_OK && sent < 10'000) ++sent;
  EXPECT_EQ(send(0, 1000), CN_FULL);
  EXPECT_NE(std::string(cn_error()).find("'b'"), std::string::npos) << cn_error();
  EXPECT_LE(sent, 2 * kWindow / 1000 + 2);
  usleep(20'000);
  EXPECT_LE(keeper.count, kWindow / 1000);
  keeper.release(false);
  EXPECT_TRUE(soon([&] { return keeper.count == sent; })) << keeper.count << " of " << sent;
}

TEST_P(Window, MessagesLargerThanTheWindowPassAlone) {
  keeper.release(false);
  for (int i = 0; i < 20; ++i) send_all(i % 3, i % 2 ? 10 * kWindow : 100);
  EXPECT_TRUE(soon([&] { return keeper.count == 20; })) << keeper.count;
}

// What was accepted is sent before the end, if it takes no longer than the time to linger; else it is said.
TEST_P(Window, ClosingWaitsForWhatWasAccepted) {
  for (const bool is_handled : {true, false}) {
    cn_endpoint* const sender = make_endpoint("sender", GetParam(), [&](auto& options) {
                                  options.linger_ms = is_handled ? 60'000 : 100;
                                }).release();
    std::atomic<size_t> handled{0};
    const auto slow = [](void* user, cn_message*) {
      usleep(1000);
      ++*static_cast<std::atomic<size_t>*>(user);
    };
    if (is_handled) {
      ASSERT_EQ(cn_set_handler(b.get(), 5, slow, &handled), CN_OK);
    }
    cn_peer* const peer = connect(sender, cn_endpoint_address(b.get()));
    const std::string text(kWindow / 8, 'x');
    cn_call call{};
    call.struct_size = sizeof call;
    call.flags = CN_COPY;
    for (int i = 0; i < 100; ++i)
      ASSERT_EQ(cn_send(peer, 5, 0, text.data(), text.size(), &call, nullptr), CN_OK) << cn_error();
    const cn_status status = cn_endpoint_close(sender);
    if (is_handled) {
      EXPECT_EQ(status, CN_OK) << cn_error();
      EXPECT_TRUE(soon([&] { return handled == 100; })) << handled;
      ASSERT_EQ(cn_set_handler(b.get(), 5, nullptr, nullptr), CN_OK);
    } else {
      EXPECT_EQ(status, CN_TIMED_OUT);
      EXPECT_NE(std::string(cn_error()).find(" messages to 'b' could not be sent"), std::string::npos) << cn_error();
    }
  }
}

TEST_P(Window, TooLargeMessagesAreRefusedBeforeTheyAreSent) {
  const EndpointHandle modest =
      make_endpoint("modest", GetParam(), [](auto& options) { options.message_limit = 1000; });
  cn_peer* const peer = connect(a.get(), cn_endpoint_address(modest.get()));
  const std::string text(1001, 'x');
  EXPECT_EQ(cn_send(peer, 1, 0, text.data(), 1001, nullptr, nullptr), CN_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(cn_error()), "the peer 'modest' takes messages of at most 1000 bytes, got 1001");
  EXPECT_EQ(cn_send(peer, 1, 0, text.data(), 1000, nullptr, nullptr), CN_OK) << cn_error();
  EXPECT_TRUE(cn_peer_is_connected(peer));
}

TEST_P(Window, ThreeQuartersOfTheWindowDoNotBlockEachOther) {
  keeper.release(false);
  for (int i = 0; i < 200; ++i) send_all(i % 4, kWindow / 4 * 3);
  EXPECT_TRUE(soon([&] { return keeper.count == 200; })) << keeper.count;
}

TEST_P(Window, TheWindowIsAskedForAgainAfterAReconnection) {
  // The sender is left while it has asked for what can be given back.
  send_all(0, kWindow / 4 * 3);
  send_all(0, kWindow / 4 * 3);
  EXPECT_TRUE(soon([&] { return keeper.count == 1; }));
  usleep(10'000);
  ASSERT_EQ(cn_disconnect(to_b), CN_OK);
  keeper.release(false);
  keeper.count = 0;
  ASSERT_EQ(connect(a.get(), cn_endpoint_address(b.get())), to_b);
  for (int i = 0; i < 50; ++i) send_all(0, i % 2 ? 20 : kWindow / 5 * 4);
  EXPECT_TRUE(soon([&] { return keeper.count == 50; })) << keeper.count;
}

TEST_P(Window, ALargeMessageIsNotStarvedBySmallOnes) {
  keeper.release(false);
  std::atomic<bool> is_done{false};
  std::thread small([&] {
    while (!is_done)
      if (send(1, 500) == CN_FULL) std::this_thread::yield();
  });
  usleep(5000);
  std::vector<char> bytes(kWindow * 2);
  cn_status status;
  cn_operation* operation = nullptr;
  while ((status = cn_send(to_b, 1, 2, bytes.data(), bytes.size(), nullptr, &operation)) == CN_FULL)
    std::this_thread::yield();
  EXPECT_EQ(status, CN_OK);
  EXPECT_EQ(cn_wait(operation, 5000), CN_OK) << cn_error();
  is_done = true;
  small.join();
  cn_operation_release(operation);
}

INSTANTIATE_TEST_SUITE_P(Transports, Window, testing::Values("memory", "shared", "unix", "tcp"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace commnet::tests
