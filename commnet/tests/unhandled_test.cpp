// Tests that messages for numbers without a handler are in nobody's way.
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "raw_peer.h"
#include "support.h"

namespace commnet::tests {
namespace {

constexpr uint64_t kWindow = 64 << 10;
constexpr size_t kQuarter = kWindow / 4 - 64;  // four of them fill the window
constexpr uint32_t kHandled = 1, kUnhandled = 9;

// Checks that the messages of each number come in their order: each begins with its place.
struct Counter {
  std::mutex mutex;
  std::map<uint32_t, uint32_t> of_number;
  std::atomic<size_t> wrong{0};

  static void take(void* user, cn_message* message) {
    Counter& all = *static_cast<Counter*>(user);
    const std::lock_guard lock(all.mutex);
    uint32_t place = 0;
    std::memcpy(&place, cn_message_data(message), sizeof place);
    if (place != all.of_number[cn_message_handler(message)]++) ++all.wrong;
  }
  uint32_t count(uint32_t number) {
    const std::lock_guard lock(mutex);
    return of_number[number];
  }
  bool has(uint32_t number, uint32_t expected) {
    return soon([&] { return count(number) == expected; }, 5000);
  }
};

class Unhandled : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    a = make("a");
    b = make("b");
    to_b = connect(a.get(), cn_endpoint_address(b.get()));
    ASSERT_NE(to_b, nullptr);
    handle(kHandled);
  }
  void TearDown() override {
    a.reset();
    b.reset();
    EXPECT_EQ(counter.wrong, 0u);
  }
  static EndpointHandle make(const std::string& name) {
    return make_endpoint(name, GetParam(), [&](auto& options) {
      options.receive_window = kWindow;
      options.linger_ms = 50;
    });
  }
  void handle(uint32_t number, bool handles = true) {
    ASSERT_EQ(cn_set_handler(b.get(), number, handles ? Counter::take : nullptr, &counter), CN_OK);
  }
  // Sends messages of a size to a number, in the channel of that number or another one.
  void send(uint32_t number, int count, size_t size, uint32_t channel = 0) {
    std::vector<char> bytes(size);
    cn_call call{};
    call.struct_size = sizeof call;
    call.flags = CN_COPY;
    for (int i = 0; i < count; ++i) {
      const uint32_t place = sent[number]++;
      std::memcpy(bytes.data(), &place, sizeof place);
      ASSERT_EQ(cn_send(to_b, number, channel ? channel : number, bytes.data(), size, &call, nullptr), CN_OK)
          << cn_error();
    }
  }

  Counter counter;
  EndpointHandle a, b;
  cn_peer* to_b = nullptr;
  std::map<uint32_t, uint32_t> sent;
};

TEST_P(Unhandled, TheyDoNotStopOtherChannels) {
  send(kUnhandled, 100, kQuarter);
  send(kHandled, 500, 1000);
  EXPECT_TRUE(counter.has(kHandled, 500)) << counter.count(kHandled);
  handle(kUnhandled);
  EXPECT_TRUE(counter.has(kUnhandled, 100)) << counter.count(kUnhandled);
  // From now on, they are as all others.
  send(kUnhandled, 100, kQuarter);
  EXPECT_TRUE(counter.has(kUnhandled, 200)) << counter.count(kUnhandled);
}

TEST_P(Unhandled, OneOfThemDoesNotStopLargeMessages) {
  send(kUnhandled, 1, 4);
  send(kHandled, 20, 3 * kWindow);
  EXPECT_TRUE(counter.has(kHandled, 20)) << counter.count(kHandled);
  handle(kUnhandled);
  EXPECT_TRUE(counter.has(kUnhandled, 1));
}

TEST_P(Unhandled, LargeOnesDoNotStopOthers) {
  send(kUnhandled, 10, 3 * kWindow);
  send(kHandled, 100, 1000);
  EXPECT_TRUE(counter.has(kHandled, 100)) << counter.count(kHandled);
  handle(kUnhandled);
  EXPECT_TRUE(counter.has(kUnhandled, 10));
}

TEST_P(Unhandled, AThousandNumbersDoNotStopOthers) {
  for (uint32_t number = 0; number < 1000; ++number) send(1000 + number, 3, 500);
  send(kHandled, 500, 1000);
  EXPECT_TRUE(counter.has(kHandled, 500)) << counter.count(kHandled);
  for (uint32_t number = 0; number < 1000; ++number) handle(1000 + number);
  for (uint32_t number = 0; number < 1000; ++number) EXPECT_TRUE(counter.has(1000 + number, 3)) << number;
}

// The receiver has no more of them than two windows; the others wait at the sender.
TEST_P(Unhandled, TheyWaitAtTheSender) {
  std::atomic<uint64_t> gone{0};
  const std::vector<char> bytes(1000);
  cn_call call{};
  call.struct_size = sizeof call;
  call.user = &gone;
  call.done = [](void* user, cn_status status, const char*) {
    if (status == CN_OK) ++*static_cast<std::atomic<uint64_t>*>(user);
  };
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(cn_send(to_b, kUnhandled, 5, bytes.data(), bytes.size(), &call, nullptr), CN_OK);
  for (int i = 0; i < 10; ++i) {
    send(kHandled, 100, 1000);
    EXPECT_TRUE(counter.has(kHandled, 100 * (i + 1)));
  }
  EXPECT_LE(gone, 2 * kWindow / bytes.size());
  EXPECT_EQ(cn_endpoint_close(a.release()), CN_TIMED_OUT);
  EXPECT_NE(std::string(cn_error()).find(" messages to 'b' could not be sent"), std::string::npos) << cn_error();
}

TEST_P(Unhandled, AChannelKeepsItsOrderAtTheSender) {
  send(kUnhandled, 100, kQuarter, 7);
  send(2, 1, 4, 7);  // behind them
  send(kHandled, 200, 1000);
  EXPECT_TRUE(counter.has(kHandled, 200));
  handle(2);
  send(kHandled, 200, 1000);
  EXPECT_TRUE(counter.has(kHandled, 400));
  EXPECT_EQ(counter.count(2), 0u);
  handle(kUnhandled);
  EXPECT_TRUE(counter.has(2, 1));
  EXPECT_EQ(counter.count(kUnhandled), 100u);
}

TEST_P(Unhandled, AHandlerThatIsRemovedLeavesRoom) {
  for (uint32_t number = 20; number < 23; ++number) {
    handle(number);
    send(number, 2, 100);
    EXPECT_TRUE(counter.has(number, 2));
    handle(number, false);
    send(number, 20, kWindow / 8);
    send(kHandled, 100, 1000);
    EXPECT_TRUE(counter.has(kHandled, (number - 19) * 100)) << counter.count(kHandled);
  }
  for (uint32_t number = 20; number < 23; ++number) handle(number);
  for (uint32_t number = 20; number < 23; ++number) EXPECT_TRUE(counter.has(number, 22));
}

TEST_P(Unhandled, WhatIsHeldCanBeCancelledAndEndsWithItsPeer) {
  const std::vector<char> bytes(kWindow / 2);
  std::vector<cn_operation*> operations(8);
  for (cn_operation*& each : operations)
    ASSERT_EQ(cn_send(to_b, kUnhandled, 5, bytes.data(), bytes.size(), nullptr, &each), CN_OK);
  send(kHandled, 200, 1000);
  EXPECT_TRUE(counter.has(kHandled, 200));
  EXPECT_FALSE(cn_test(operations[7], nullptr));
  cn_cancel(operations[7]);
  EXPECT_EQ(cn_wait(operations[7], 0), CN_CANCELLED);
  ASSERT_EQ(cn_disconnect(to_b), CN_OK);
  EXPECT_EQ(cn_wait(operations[6], kPatience), CN_CANCELLED);
  for (cn_operation* const each : operations) cn_operation_release(each);
  // The next link knows nothing of it.
  ASSERT_EQ(connect(a.get(), cn_endpoint_address(b.get())), to_b);
  cn_operation* fresh = nullptr;
  ASSERT_EQ(cn_send(to_b, 10, 5, bytes.data(), 4, nullptr, &fresh), CN_OK);
  EXPECT_EQ(cn_wait(fresh, kPatience), CN_OK);
  cn_operation_release(fresh);
}

TEST_P(Unhandled, EventHandlersAreHandlersToo) {
  send(kUnhandled, 100, kQuarter);
  send(kHandled, 100, 1000);
  EXPECT_TRUE(counter.has(kHandled, 100));
  ASSERT_EQ(cn_set_event_handler(b.get(), kUnhandled, nullptr), CN_OK);
  cn_event event{};
  event.struct_size = sizeof event;
  for (uint32_t i = 0; i < 100; ++i) {
    ASSERT_EQ(cn_next_event(b.get(), &event, kPatience), CN_OK);
    ASSERT_EQ(event.kind, CN_EVENT_MESSAGE);
    EXPECT_EQ(std::memcmp(cn_message_data(event.message), &i, sizeof i), 0);
    cn_message_release(event.message);
  }
}

// A number that gets its handler, and loses it before any message got there, takes no more room for that.
TEST_P(Unhandled, AHandlerThatComesAndGoesLeavesRoom) {
  std::atomic<bool> is_blocked{false}, goes_on{false};
  std::pair gates{&is_blocked, &goes_on};
  const auto block = [](void* user, cn_message*) {
    const auto [is_blocked, goes_on] = *static_cast<decltype(gates)*>(user);
    for (*is_blocked = true; !*goes_on;) usleep(1000);
  };
  send(kUnhandled, 100, kQuarter);
  send(kHandled, 100, 1000);
  EXPECT_TRUE(counter.has(kHandled, 100)) << counter.count(kHandled);
  ASSERT_EQ(cn_set_handler(b.get(), 2, block, &gates), CN_OK);
  send(2, 1, 4);
  ASSERT_TRUE(soon([&] { return is_blocked.load(); }));
  handle(kUnhandled);
  usleep(100'000);  // frames arrive and leave meanwhile
  handle(kUnhandled, false);
  goes_on = true;
  send(kHandled, 100, kWindow / 2);
  EXPECT_TRUE(counter.has(kHandled, 200)) << counter.count(kHandled);
  handle(kUnhandled);
  EXPECT_TRUE(counter.has(kUnhandled, 100)) << counter.count(kUnhandled);
}

// A message that the program keeps does not stop those behind it.
TEST_P(Unhandled, OneThatIsKeptDoesNotStopOthers) {
  send(kUnhandled, 20, kQuarter);
  send(kHandled, 100, 1000);
  EXPECT_TRUE(counter.has(kHandled, 100));
  struct Kept {
    std::atomic<int> count{0};
    std::atomic<cn_message*> first{nullptr};
  } kept;
  const auto keep = [](void* user, cn_message* message) {
    Kept& kept = *static_cast<Kept*>(user);
    if (kept.count++ > 0) return;
    cn_message_keep(message);
    kept.first = message;
  };
  ASSERT_EQ(cn_set_handler(b.get(), kUnhandled, keep, &kept), CN_OK);
  EXPECT_TRUE(soon([&] { return kept.count == 20; }, 5000)) << kept.count;
  cn_message_release(kept.first);
}

// Handlers come and go while messages arrive: none is lost, none stops the others.
TEST_P(Unhandled, HandlersThatComeAndGo) {
  constexpr uint32_t kFirst = 30, kNumbers = 4, kEach = 400;
  std::atomic<bool> is_done{false};
  std::thread toggles([&] {
    std::mt19937 random(7);
    while (!is_done) {
      handle(kFirst + random() % kNumbers, random() % 3 > 0);
      if (random() % 8 == 0) usleep(200);
    }
  });
  std::mt19937 random(3);
  for (uint32_t i = 0; i < kEach; ++i) {
    for (uint32_t number = kFirst; number < kFirst + kNumbers; ++number)
      send(number, 1, random() % 50 == 0 ? 2 * kWindow : 4 + random() % 5000);
    send(kHandled, 1, 1000);
  }
  EXPECT_TRUE(counter.has(kHandled, kEach)) << counter.count(kHandled);
  is_done = true;
  toggles.join();
  for (uint32_t number = kFirst; number < kFirst + kNumbers; ++number) handle(number);
  for (uint32_t number = kFirst; number < kFirst + kNumbers; ++number)
    EXPECT_TRUE(counter.has(number, kEach)) << counter.count(number);
}

// A peer that goes on, although it is told to hold back what has no handler, gets no further room.
TEST(UnhandledOfRaw, ASenderThatGoesOnIsThrownOut) {
  const EndpointHandle a = make_endpoint("a", "sockets", [](auto& options) {
    options.listen = "tcp://127.0.0.1:0";
    options.receive_window = kWindow;
  });
  const auto ignore = [](void*, cn_message*) {};
  ASSERT_EQ(cn_set_handler(a.get(), kHandled, ignore, nullptr), CN_OK);
  RawPeer raw(cn_endpoint_address(a.get()));
  ASSERT_EQ(raw.greet("raw", "a secret"), CN_OK);
  const std::vector<char> bytes(kQuarter);
  const auto send = [&](int count) {
    for (int i = 0; i < count; ++i)
      raw.send_right({.type = FrameType::kMessage, .a = kUnhandled, .total = kQuarter}, bytes.data(), bytes.size());
  };
  send(4);
  // It hears that it is to hold them back before it gets their room.
  std::vector<Frame> heard;
  RawPeer::Arrived arrived;
  for (uint64_t room = 0; room < kWindow;) {
    raw.send_right({.type = FrameType::kCredit});
    do {
      ASSERT_TRUE(raw.receive(arrived));
      if (arrived.frame.type != FrameType::kPing) heard.push_back(arrived.frame);
    } while (arrived.frame.type != FrameType::kCredit);
    room += arrived.frame.total;
  }
  EXPECT_EQ(heard[0].type, FrameType::kHold);
  EXPECT_EQ(heard[0].a, 1u);
  EXPECT_EQ(heard[1].type, FrameType::kHandler);
  EXPECT_EQ(heard[1].a, kHandled);
  EXPECT_EQ(heard[1].b, 1u);
  send(4);
  raw.send_right({.type = FrameType::kCredit});
  raw.send_right({.type = FrameType::kPing});
  do {
    ASSERT_TRUE(raw.receive(arrived));
    EXPECT_NE(arrived.frame.type, FrameType::kCredit);
  } while (arrived.frame.type != FrameType::kPong);
  send(1);
  EXPECT_TRUE(raw.is_closed_by_other());
  EXPECT_TRUE(soon([&] { return cn_find_peer(a.get(), "raw") == nullptr; }));
}

TEST(UnhandledOfRaw, AReceiverHasNoMoreHandlersThanThereAre) {
  const EndpointHandle a = make_endpoint("a", "sockets", [](auto& options) { options.listen = "tcp://127.0.0.1:0"; });
  RawPeer raw(cn_endpoint_address(a.get()));
  ASSERT_EQ(raw.greet("raw", "a secret"), CN_OK);
  cn_peer* const peer = cn_find_peer(a.get(), "raw");
  ASSERT_NE(peer, nullptr);
  raw.send_right({.type = FrameType::kHandler, .a = 7, .b = 1});  // means nothing without kHold
  raw.send_right({.type = FrameType::kHold, .a = 1});
  raw.send_right({.type = FrameType::kPing});
  RawPeer::Arrived arrived;
  ASSERT_TRUE(raw.receive(FrameType::kPong, arrived));
  ASSERT_EQ(cn_send(peer, 7, 0, "held", 4, nullptr, nullptr), CN_OK);
  ASSERT_EQ(cn_send(peer, 8, 1, "gone", 4, nullptr, nullptr), CN_OK);
  raw.send_right({.type = FrameType::kHandler, .a = 8, .b = 1});
  ASSERT_TRUE(raw.receive(FrameType::kMessage, arrived));
  EXPECT_EQ(arrived.frame.a, 8u);
  raw.send_right({.type = FrameType::kHold, .a = 0});
  ASSERT_TRUE(raw.receive(FrameType::kMessage, arrived));
  EXPECT_EQ(arrived.frame.a, 7u);
  raw.send_right({.type = FrameType::kHold, .a = 1});
  std::vector<Frame> frames(4096);
  uint32_t number = 0;
  for (bool goes_on = true; goes_on && number < 2 << 20;) {
    for (Frame& frame : frames) frame = {.type = FrameType::kHandler, .a = number++, .b = 1};
    goes_on = raw.send_bytes(frames.data(), frames.size() * sizeof(Frame));
  }
  EXPECT_TRUE(raw.is_closed_by_other());
  EXPECT_FALSE(cn_peer_is_connected(peer));
}

INSTANTIATE_TEST_SUITE_P(Transports, Unhandled, testing::Values("memory", "shared", "unix", "tcp"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace commnet::tests
