// Tests calls with handles that are closed, at the same time, or from where they may not be made.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <new>
#include <thread>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

TEST(Handles, AClosedEndpointIsAnError) {
  cn_endpoint* endpoint = nullptr;
  ASSERT_EQ(cn_endpoint_create(nullptr, &endpoint), CN_OK);
  cn_endpoint_close(endpoint);
  cn_endpoint_close(endpoint);
  cn_queue* queue = nullptr;
  cn_memory* memory = nullptr;
  char bytes[10];
  cn_event event{};
  event.struct_size = sizeof event;
  EXPECT_EQ(cn_queue_create(endpoint, &queue), CN_CLOSED);
  EXPECT_EQ(std::string(cn_error()), "the endpoint is closed");
  EXPECT_EQ(cn_memory_register(endpoint, bytes, sizeof bytes, CN_READ, &memory), CN_CLOSED);
  EXPECT_EQ(cn_connect(endpoint, "tcp://127.0.0.1:1", nullptr, nullptr), CN_CLOSED);
  EXPECT_EQ(cn_set_handler(endpoint, 1, nullptr, nullptr), CN_CLOSED);
  EXPECT_EQ(cn_next_event(endpoint, &event, -1), CN_CLOSED);
  EXPECT_EQ(cn_progress(endpoint, 0), CN_CLOSED);
  EXPECT_EQ(cn_watch_peers(endpoint, true), CN_CLOSED);
  EXPECT_EQ(cn_find_peer(endpoint, "a"), nullptr);
  EXPECT_EQ(cn_event_descriptor(endpoint), -1);
  EXPECT_STREQ(cn_endpoint_name(endpoint), "");
  EXPECT_STREQ(cn_endpoint_address(endpoint), "");
}

TEST(Handles, SeveralThreadsMayClose) {
  for (int i = 0; i < 50; ++i) {
    cn_endpoint* const endpoint = make_endpoint("a", i % 2 ? "memory" : "sockets").release();
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        ++ready;
        while (ready < 4) std::this_thread::yield();
        if (t == 0)
          for (int j = 0; j < 10; ++j) cn_connect(endpoint, "unix:@nobody", nullptr, nullptr);
        cn_endpoint_close(endpoint);
        EXPECT_EQ(cn_find_peer(endpoint, "b"), nullptr);
      });
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(Handles, SizesAndTimesOfAllKinds) {
  const EndpointHandle a = make_endpoint("a", "sockets", [](cn_endpoint_options& options) {
    options.receive_window = 1;
    options.peer_timeout_ms = UINT_MAX;
    options.busy_poll_us = 1;
  });
  const EndpointHandle b = make_endpoint("b", "sockets", [](cn_endpoint_options& options) {
    options.receive_window = UINT64_MAX;
    options.send_limit = 1;
    options.message_limit = UINT64_MAX;
    options.peer_timeout_ms = 1'000'000'000;
  });
  cn_peer* const to_a = connect(b.get(), cn_endpoint_address(a.get()));
  ASSERT_NE(to_a, nullptr);
  std::atomic<int> count{0};
  const auto handler = [](void* user, cn_message*) { ++*static_cast<std::atomic<int>*>(user); };
  ASSERT_EQ(cn_set_handler(a.get(), 1, handler, &count), CN_OK);
  const std::string text(100'000, 'x');
  for (const size_t size : {size_t{0}, size_t{1}, text.size()})
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(complete([&](cn_operation** op) { return cn_send(to_a, 1, 0, text.data(), size, nullptr, op); }), CN_OK)
          << cn_error();
  EXPECT_TRUE(soon([&] { return count == 15; }));
  // A whole address space is more than there is.
  cn_memory* memory = nullptr;
  EXPECT_EQ(cn_memory_register(a.get(), handler == nullptr ? nullptr : &count, SIZE_MAX, CN_READ, &memory),
            CN_INVALID_ARGUMENT);
  for (const size_t size : {SIZE_MAX, SIZE_MAX / 2 + 1})
    EXPECT_EQ(cn_send(to_a, 1, 0, text.data(), size, nullptr, nullptr), CN_INVALID_ARGUMENT);
  cn_token token{};
  EXPECT_EQ(complete([&](cn_operation** op) { return cn_read(to_a, &token, 0, nullptr, 0, nullptr, op); }), CN_DENIED);
  cn_event event{};
  event.struct_size = sizeof event;
  EXPECT_EQ(cn_next_event(a.get(), &event, 0), CN_TIMED_OUT);
  cn_call call{};
  call.struct_size = sizeof call;
  call.timeout_ms = UINT_MAX;
  cn_operation* operation = nullptr;
  EXPECT_EQ(cn_send(to_a, 1, 0, "x", 1, &call, &operation), CN_OK);
  EXPECT_EQ(cn_wait(operation, INT64_MAX), CN_OK);
  EXPECT_EQ(cn_wait(operation, INT64_MIN), CN_OK);
  cn_operation_release(operation);
}

TEST(Handles, APeerOfAClosedEndpointIsAnError) {
  const EndpointHandle b = make_endpoint("b", "sockets");
  EndpointHandle a = make_endpoint("a", "sockets");
  cn_peer* const peer = connect(a.get(), cn_endpoint_address(b.get()));
  a.reset();
  char bytes[10] = {};
  const cn_token token{};
  EXPECT_EQ(cn_send(peer, 1, 0, bytes, sizeof bytes, nullptr, nullptr), CN_CLOSED);
  EXPECT_EQ(std::string(cn_error()), "the endpoint of the peer 'b' is closed");
  EXPECT_EQ(cn_read(peer, &token, 0, bytes, sizeof bytes, nullptr, nullptr), CN_CLOSED);
  EXPECT_EQ(cn_write(peer, &token, 0, bytes, sizeof bytes, nullptr, nullptr), CN_CLOSED);
  EXPECT_EQ(cn_disconnect(peer), CN_CLOSED);
  EXPECT_FALSE(cn_peer_is_connected(peer));
  EXPECT_STREQ(cn_peer_name(peer), "b");
  EXPECT_STREQ(cn_peer_transport(peer), "");
}

// Programs that were compiled with fewer fields of an event, or with more.
TEST(Handles, EventsOfOtherVersions) {
  const EndpointHandle a = make_endpoint("a", "sockets"), b = make_endpoint("b", "sockets");
  ASSERT_EQ(cn_watch_peers(a.get(), true), CN_OK);
  constexpr uint32_t kSmaller = offsetof(cn_event, message), kLarger = sizeof(cn_event) + 64;
  for (const uint32_t size : {kSmaller, kLarger}) {
    cn_peer* const peer = connect(b.get(), cn_endpoint_address(a.get()));
    alignas(cn_event) char bytes[sizeof(cn_event) + 128];
    std::memset(bytes, 0x55, sizeof bytes);
    auto& event = *new (bytes) cn_event;
    event.struct_size = size;
    ASSERT_EQ(cn_next_event(a.get(), &event, kPatience), CN_OK) << cn_error();
    EXPECT_EQ(event.kind, CN_EVENT_JOINED);
    EXPECT_EQ(event.struct_size, size);
    const size_t written = std::min<size_t>(size, sizeof event);
    EXPECT_EQ(std::count(bytes + written, std::end(bytes), 0x55), static_cast<ptrdiff_t>(sizeof bytes - written));
    ASSERT_EQ(cn_disconnect(peer), CN_OK);
    event.struct_size = size;
    ASSERT_EQ(cn_next_event(a.get(), &event, kPatience), CN_OK);
    EXPECT_EQ(event.kind, CN_EVENT_LEFT);
  }
  for (const uint32_t size : {0u, 4u, 57u, 1u << 20}) {
    cn_event event{};
    event.struct_size = size;
    EXPECT_EQ(cn_next_event(a.get(), &event, 0), CN_INVALID_ARGUMENT) << size;
  }
}

// The same endpoint, others of its name, and addresses of itself.
TEST(Handles, ConnectionsToItself) {
  const EndpointHandle a = make_endpoint("a", "sockets"), other = make_endpoint("a", "sockets");
  const std::string address = cn_endpoint_address(a.get()), same = cn_endpoint_address(other.get());
  EXPECT_EQ(cn_connect(a.get(), address.c_str(), nullptr, nullptr), CN_INVALID_ARGUMENT);
  for (const std::string& url : {address.substr(2), same.substr(2)}) {
    EXPECT_EQ(complete([&](cn_operation** op) { return cn_connect(a.get(), url.c_str(), nullptr, op); }),
              CN_INVALID_ARGUMENT);
    EXPECT_NE(std::string(cn_error()).find("of the same name"), std::string::npos) << cn_error();
  }
}

// Whoever wants to connect while the process has no descriptors gets in once there are some.
TEST(Handles, NoDescriptorsForAWhile) {
  const EndpointHandle a = make_endpoint("a", "sockets");
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  std::vector<int> taken;
  const EndpointHandle b = make_endpoint("b", "sockets");
  rlimit low = before;
  low.rlim_cur = 200;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  for (int descriptor; (descriptor = dup(0)) >= 0;) taken.push_back(descriptor);
  ASSERT_FALSE(taken.empty());
  // One is left, for the side that connects.
  close(taken.back());
  taken.pop_back();
  cn_operation* operation = nullptr;
  ASSERT_EQ(cn_connect(a.get(), cn_endpoint_address(b.get()), nullptr, &operation), CN_OK);
  EXPECT_EQ(cn_wait(operation, 100), CN_TIMED_OUT);
  timespec used{}, used_later{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  usleep(300'000);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used_later);
  for (const int descriptor : taken) close(descriptor);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(cn_wait(operation, kPatience), CN_OK) << cn_error();
  cn_operation_release(operation);
  const auto milliseconds = [](const timespec& time) { return time.tv_sec * 1000 + time.tv_nsec / 1'000'000; };
  EXPECT_LT(milliseconds(used_later) - milliseconds(used), 150);
}

}  // namespace
}  // namespace commnet::tests
