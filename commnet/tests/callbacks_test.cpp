// Tests when callbacks may still run: after a handler was removed, an operation was waited for, an endpoint was closed.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

class Callbacks : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    const auto change = [](cn_endpoint_options& options) {
      options.flags = GetParam() ? CN_MANUAL_PROGRESS : 0;
      options.receive_window = 10'000;
    };
    a = make_endpoint("a", "memory", [](cn_endpoint_options& options) { options.send_limit = 10'000; });
    b = make_endpoint("b", "memory", change);
    if (GetParam())
      works = std::thread([this] {
        while (!is_done) cn_progress(b.get(), 5);
      });
    to_b = connect(a.get(), cn_endpoint_address(b.get()));
    ASSERT_NE(to_b, nullptr);
  }
  void TearDown() override {
    a.reset();
    is_done = true;
    if (works.joinable()) works.join();
    b.reset();
  }
  void send(uint32_t number, const std::string& text = "x") {
    cn_call call{};
    call.struct_size = sizeof call;
    call.flags = CN_COPY;
    while (cn_send(to_b, number, 0, text.data(), text.size(), &call, nullptr) == CN_FULL) std::this_thread::yield();
  }

  EndpointHandle a, b;
  std::atomic<bool> is_done{false};
  std::thread works;
  cn_peer* to_b = nullptr;
};

// What a handler uses, and whether that is still there.
struct Used {
  std::atomic<bool> is_there{true};
  std::atomic<int> calls{0}, late{0};
  static void take(void* user, cn_message*) {
    Used& used = *static_cast<Used*>(user);
    ++used.calls;
    usleep(200);
    if (!used.is_there) ++used.late;
  }
};

TEST_P(Callbacks, ARemovedHandlerRunsNoMore) {
  std::atomic<bool> goes_on{true};
  std::thread sender([&] {
    while (goes_on) send(1);
  });
  const auto take_events = [&] {
    cn_event event{};
    event.struct_size = sizeof event;
    while (cn_next_event(b.get(), &event, 0) == CN_OK) cn_message_release(event.message);
  };
  for (int i = 0; i < 100; ++i) {
    Used used;
    ASSERT_EQ(cn_set_handler(b.get(), 1, Used::take, &used), CN_OK);
    while (used.calls == 0) take_events();  // which may fill the window
    if (i % 3 == 0)
      ASSERT_EQ(cn_set_event_handler(b.get(), 1, nullptr), CN_OK);
    else
      ASSERT_EQ(cn_set_handler(b.get(), 1, nullptr, nullptr), CN_OK);
    used.is_there = false;
    const int calls = used.calls;
    usleep(500);
    EXPECT_EQ(used.calls, calls);
    EXPECT_EQ(used.late, 0);
    take_events();
  }
  // The sender may wait for the window.
  ASSERT_EQ(cn_set_handler(
                b.get(), 1, [](void*, cn_message*) {}, nullptr),
            CN_OK);
  goes_on = false;
  sender.join();
}

TEST_P(Callbacks, HandlersThatChangeKeepTheOrder) {
  struct Order {
    std::atomic<int> next{0}, wrong{0};
    static void take(void* user, cn_message* message) {
      Order& order = *static_cast<Order*>(user);
      const int number =
          std::stoi(std::string(static_cast<const char*>(cn_message_data(message)), cn_message_size(message)));
      if (number != order.next++) ++order.wrong;
    }
  } order;
  constexpr int kCount = 5000;
  std::thread sender([&] {
    for (int i = 0; i < kCount; ++i) send(1, std::to_string(i));
  });
  while (order.next < kCount) {
    ASSERT_EQ(cn_set_handler(b.get(), 1, Order::take, &order), CN_OK);
    std::this_thread::yield();
    ASSERT_EQ(cn_set_handler(b.get(), 1, nullptr, nullptr), CN_OK);
  }
  sender.join();
  EXPECT_EQ(order.wrong, 0);
}

TEST_P(Callbacks, AHandlerMayRemoveItself) {
  struct Self {
    cn_endpoint* endpoint;
    std::atomic<int> calls{0};
  } self{b.get()};
  const auto handler = [](void* user, cn_message*) {
    ++static_cast<Self*>(user)->calls;
    EXPECT_EQ(cn_set_handler(static_cast<Self*>(user)->endpoint, 1, nullptr, nullptr), CN_OK);
  };
  ASSERT_EQ(cn_set_handler(b.get(), 1, handler, &self), CN_OK);
  for (int i = 0; i < 100; ++i) send(1);
  EXPECT_TRUE(soon([&] { return self.calls > 0; }));
  usleep(10'000);
  EXPECT_EQ(self.calls, 1);
}

// Who has waited for an operation may free what its callback uses.
TEST_P(Callbacks, AWaitEndsAfterTheCallback) {
  struct Mark {
    std::atomic<bool> has_returned{false};
  };
  ASSERT_EQ(cn_set_handler(
                b.get(), 2, [](void*, cn_message*) {}, nullptr),
            CN_OK);
  for (int i = 0; i < 200; ++i) {
    Mark mark;
    cn_call call{};
    call.struct_size = sizeof call;
    call.user = &mark;
    call.done = [](void* user, cn_status, const char*) {
      usleep(100);
      static_cast<Mark*>(user)->has_returned = true;
    };
    cn_operation* operation = nullptr;
    ASSERT_EQ(cn_send(to_b, 2, 0, "x", i % 2, &call, &operation), CN_OK);
    if (i % 2)
      ASSERT_EQ(cn_wait(operation, kPatience), CN_OK);
    else
      while (!cn_test(operation, nullptr)) std::this_thread::yield();
    EXPECT_TRUE(mark.has_returned);
    cn_operation_release(operation);
  }
}

TEST_P(Callbacks, ACallbackCannotWait) {
  struct Tried {
    cn_endpoint* endpoint;
    cn_operation* other = nullptr;
    std::atomic<int> refused{-1};
  } tried{b.get()};
  // Nobody takes it: the window fills.
  const std::string text(20'000, 'x');
  ASSERT_EQ(cn_send(to_b, 5, 0, text.data(), text.size(), nullptr, nullptr), CN_OK);
  const auto handler = [](void* user, cn_message* message) {
    Tried& of = *static_cast<Tried*>(user);
    cn_event event{};
    event.struct_size = sizeof event;
    cn_peer* peers[2];
    const cn_job_options options{sizeof options, 0, 2, "file:/nowhere", 10};
    cn_operation* connecting = nullptr;
    int refused = 0;
    refused += cn_connect(of.endpoint, "unix:@commnet-nobody", nullptr, &connecting) == CN_OK &&
               (cn_wait(connecting, -1) == CN_INVALID_ARGUMENT || cn_test(connecting, nullptr));
    cn_operation_release(connecting);
    refused += cn_next_event(of.endpoint, &event, -1) == CN_INVALID_ARGUMENT;
    refused += cn_progress(of.endpoint, -1) == CN_INVALID_ARGUMENT;
    refused += cn_join(of.endpoint, &options, peers, 2) == CN_INVALID_ARGUMENT;
    (void)message;
    of.refused = refused;
  };
  ASSERT_EQ(cn_set_handler(b.get(), 5, handler, &tried), CN_OK);
  EXPECT_TRUE(soon([&] { return tried.refused >= 0; }));
  EXPECT_EQ(tried.refused, 3 + (cn_connect(b.get(), "unix:@commnet-nobody", nullptr, nullptr) == CN_OK));
}

// The callback itself finds its operation ended.
TEST_P(Callbacks, ACallbackSeesTheEndOfItsOperation) {
  struct Seen {
    cn_operation* operation = nullptr;
    std::atomic<int> state{0};
  } seen;
  cn_call call{};
  call.struct_size = sizeof call;
  call.user = &seen;
  call.done = [](void* user, cn_status, const char*) {
    Seen& of = *static_cast<Seen*>(user);
    while (of.state == 0) usleep(100);  // until the operation is known
    of.state = cn_operation_peer(of.operation) && cn_wait(of.operation, 0) == CN_OK ? 2 : 3;
  };
  const EndpointHandle c = make_endpoint("c", "memory");
  ASSERT_EQ(cn_connect(a.get(), cn_endpoint_address(c.get()), &call, &seen.operation), CN_OK);
  seen.state = 1;
  EXPECT_EQ(cn_wait(seen.operation, kPatience), CN_OK);
  EXPECT_EQ(seen.state, 2);
  cn_operation_release(seen.operation);
}

INSTANTIATE_TEST_SUITE_P(Progress, Callbacks, testing::Bool(),
                         [](const auto& info) { return info.param ? "manual" : "thread"; });

// A message that a handler sends leaves at once, not when the handler returns.
TEST(Sending, WhatAHandlerSendsLeavesWhileItRuns) {
  for (const char* const way : {"memory", "shared", "unix", "tcp"}) {
    const EndpointHandle a = make_endpoint("a", way), b = make_endpoint("b", way, [](cn_endpoint_options&options) {
                                                        options.flags = CN_MANUAL_PROGRESS;
                                                      });
    std::atomic<bool> is_done{false}, has_come{false};
    std::thread works([&] {
      while (!is_done) cn_progress(b.get(), 5);
    });
    struct Shared {
      std::atomic<bool>& has_come;
      std::atomic<int> result{-1};
    } shared{has_come};
    const auto answer = [](void* user, cn_message* message) {
      auto& of = *static_cast<Shared*>(user);
      cn_send(cn_message_peer(message), 1, 0, "x", 1, nullptr, nullptr);
      of.result = soon([&] { return of.has_come.load(); }, 5000);
    };
    EXPECT_EQ(cn_set_handler(b.get(), 1, answer, &shared), CN_OK);
    EXPECT_EQ(
        cn_set_handler(
            a.get(), 1, [](void* user, cn_message*) { *static_cast<std::atomic<bool>*>(user) = true; }, &has_come),
        CN_OK);
    cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
    EXPECT_EQ(cn_send(to_b, 1, 0, "x", 1, nullptr, nullptr), CN_OK);
    EXPECT_TRUE(soon([&] { return shared.result >= 0; }));
    EXPECT_EQ(shared.result, 1) << way;
    is_done = true;
    works.join();
  }
}

uint64_t resident_bytes() {
  size_t all = 0, resident = 0;
  if (FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu %zu", &all, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return uint64_t{resident} * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Messages without a handler of peers that have left stay, but not without a limit.
TEST(Unclaimed, MessagesOfPeersThatHaveLeftTakeOneWindow) {
  constexpr uint64_t kWindow = 1 << 20;
  const EndpointHandle b =
      make_endpoint("b", "sockets", [](cn_endpoint_options& options) { options.receive_window = kWindow; });
  ASSERT_EQ(cn_watch_peers(b.get(), true), CN_OK);
  const std::string text(300'000, 'x');
  constexpr int kPeers = 40;
  int freed = 0;
  const uint64_t before = resident_bytes();
  for (int i = 0; i < kPeers; ++i) {
    EndpointHandle a = make_endpoint("a" + std::to_string(i % 3), "sockets");
    cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
    ASSERT_EQ(complete([&](cn_operation** op) { return cn_send(to_b, 1, 0, text.data(), text.size(), nullptr, op); }),
              CN_OK);
    a.reset();
    cn_event event{};
    event.struct_size = sizeof event;
    do {
      ASSERT_EQ(cn_next_event(b.get(), &event, kPatience), CN_OK);
    } while (event.kind != CN_EVENT_LEFT);
    const std::string why = event.error;
    if (why.find("1 of its messages, for which there is no handler, were freed") != std::string::npos) ++freed;
  }
  EXPECT_EQ(freed, kPeers - 3);
  EXPECT_TRUE(kIsSanitized || resident_bytes() < before + 8 * kWindow);
  // The others come once there is a handler.
  std::atomic<int> count{0};
  const auto handler = [](void* user, cn_message*) { ++*static_cast<std::atomic<int>*>(user); };
  ASSERT_EQ(cn_set_handler(b.get(), 1, handler, &count), CN_OK);
  EXPECT_TRUE(soon([&] { return count == 3; }));
}

// Events that nobody takes are not thrown away: no further peers are taken until they are.
TEST(Unclaimed, EventsOfPeersThatHaveLeftKeepOthersOut) {
  const EndpointHandle b =
      make_endpoint("b", "sockets", [](cn_endpoint_options& options) { options.receive_window = 1000; });
  ASSERT_EQ(cn_set_event_handler(b.get(), 1, nullptr), CN_OK);
  const std::string text(800, 'x');
  const auto connect_to_b = [&](const EndpointHandle& a, cn_operation** op) {
    return cn_connect(a.get(), cn_endpoint_address(b.get()), nullptr, op);
  };
  for (int i = 0; i < 2; ++i) {
    EndpointHandle a = make_endpoint("a" + std::to_string(i), "sockets");
    cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
    ASSERT_EQ(complete([&](cn_operation** op) { return cn_send(to_b, 1, 0, text.data(), text.size(), nullptr, op); }),
              CN_OK);
    const std::string name = cn_endpoint_name(a.get());
    a.reset();
    EXPECT_TRUE(soon([&] { return cn_find_peer(b.get(), name.c_str()) == nullptr; }));
  }
  const EndpointHandle late = make_endpoint("late", "sockets");
  EXPECT_EQ(complete([&](cn_operation** op) { return connect_to_b(late, op); }), CN_UNREACHABLE);
  EXPECT_NE(std::string(cn_error()).find("wait for cn_next_event()"), std::string::npos) << cn_error();
  cn_event event{};
  event.struct_size = sizeof event;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cn_next_event(b.get(), &event, kPatience), CN_OK);
    EXPECT_EQ(cn_message_size(event.message), text.size());
    cn_message_release(event.message);
  }
  EXPECT_EQ(complete([&](cn_operation** op) { return connect_to_b(late, op); }), CN_OK) << cn_error();
}

TEST(Callbacks, AnExceptionOfAHandlerDisconnectsThePeer) {
  const EndpointHandle a = make_endpoint("a", "sockets"), b = make_endpoint("b", "sockets");
  const auto fails = [](void*, cn_message*) { throw std::runtime_error("not today"); };
  ASSERT_EQ(cn_set_handler(b.get(), 1, fails, nullptr), CN_OK);
  ASSERT_EQ(cn_watch_peers(b.get(), true), CN_OK);
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  ASSERT_EQ(cn_send(to_b, 1, 0, "x", 1, nullptr, nullptr), CN_OK);
  EXPECT_TRUE(soon([&] { return !cn_peer_is_connected(to_b); }));
  cn_event event{};
  event.struct_size = sizeof event;
  ASSERT_EQ(cn_next_event(b.get(), &event, kPatience), CN_OK);
  EXPECT_EQ(event.kind, CN_EVENT_JOINED);
  ASSERT_EQ(cn_next_event(b.get(), &event, kPatience), CN_OK);
  EXPECT_EQ(event.kind, CN_EVENT_LEFT);
  EXPECT_NE(std::string(event.error).find("has thrown: not today"), std::string::npos) << event.error;
  // The endpoint works on.
  EXPECT_NE(connect(a.get(), cn_endpoint_address(b.get())), nullptr);
}

TEST(Callbacks, AnExceptionAtTheEndOfAnOperationDoes) {
  const EndpointHandle a = make_endpoint("a", "sockets"), b = make_endpoint("b", "sockets");
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  cn_call call{};
  call.struct_size = sizeof call;
  call.done = [](void*, cn_status, const char*) { throw 3; };
  cn_operation* operation = nullptr;
  ASSERT_EQ(cn_send(to_b, 1, 0, "x", 1, &call, &operation), CN_OK);
  EXPECT_EQ(cn_wait(operation, kPatience), CN_OK);
  cn_operation_release(operation);
  EXPECT_TRUE(soon([&] { return !cn_peer_is_connected(to_b); }));
  EXPECT_EQ(connect(a.get(), cn_endpoint_address(b.get())), to_b);
}

}  // namespace
}  // namespace commnet::tests
