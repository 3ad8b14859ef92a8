// Tests beginnings and ends: of connections, operations and endpoints, in every state and from several threads.
#include <malloc.h>
#include <poll.h>
#include <sys/resource.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + time.tv_usec * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

size_t resident_pages() {
  size_t all = 0, resident = 0;
  if (FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu %zu", &all, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident;
}

class Life : public testing::TestWithParam<const char*> {
 protected:
  static EndpointHandle make(const std::string& name, const std::function<void(cn_endpoint_options&)>& change = {}) {
    return make_endpoint(name, GetParam(), change);
  }
};

TEST_P(Life, BothConnectAtTheSameTime) {
  for (int i = 0; i < 50; ++i) {
    const EndpointHandle a = make("a"), b = make("b");
    // With names, and without.
    std::string to_a = cn_endpoint_address(a.get()), to_b = cn_endpoint_address(b.get());
    if (i % 2) to_a = to_a.substr(2), to_b = to_b.substr(2);
    cn_operation *first = nullptr, *second = nullptr;
    ASSERT_EQ(cn_connect(a.get(), to_b.c_str(), nullptr, &first), CN_OK);
    ASSERT_EQ(cn_connect(b.get(), to_a.c_str(), nullptr, &second), CN_OK);
    ASSERT_EQ(cn_wait(first, kPatience), CN_OK) << cn_error();
    ASSERT_EQ(cn_wait(second, kPatience), CN_OK) << cn_error();
    cn_peer* const peers[] = {cn_operation_peer(first), cn_operation_peer(second)};
    ASSERT_NE(peers[0], nullptr);
    ASSERT_NE(peers[1], nullptr);
    usleep(1000);
    EXPECT_TRUE(cn_peer_is_connected(peers[0]));
    EXPECT_TRUE(cn_peer_is_connected(peers[1]));
    cn_operation_release(first);
    cn_operation_release(second);
  }
}

TEST_P(Life, DisconnectAndConnectAtOnce) {
  const EndpointHandle a = make("a"), b = make("b");
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  const std::vector<char> bytes(3'000'000);
  for (int i = 0; i < 50; ++i) {
    // What is under way delays the word that this side has left.
    cn_operation* operation = nullptr;
    ASSERT_EQ(cn_send(to_b, 1, 0, bytes.data(), i % 2 ? bytes.size() : 1, nullptr, &operation), CN_OK) << cn_error();
    ASSERT_EQ(cn_disconnect(to_b), CN_OK);
    ASSERT_TRUE(cn_test(operation, nullptr));
    cn_operation_release(operation);
    ASSERT_EQ(connect(a.get(), cn_endpoint_address(b.get())), to_b);
    ASSERT_TRUE(cn_peer_is_connected(to_b));
  }
}

TEST_P(Life, ConnectionsThatWaitEndWithTheirEndpoint) {
  for (int i = 0; i < 20; ++i) {
    const EndpointHandle b = make("b");
    EndpointHandle a = make("a");
    cn_operation* operation = nullptr;
    ASSERT_EQ(cn_connect(a.get(), cn_endpoint_address(b.get()), nullptr, &operation), CN_OK);
    if (i % 3) usleep(100 * i);
    a.reset();
    cn_status status = CN_OK;
    EXPECT_TRUE(cn_test(operation, &status));
    EXPECT_TRUE(status == CN_OK || status == CN_CANCELLED);
    cn_operation_release(operation);
  }
}

// An operation that is not released yet does not keep an endpoint reachable.
TEST_P(Life, AClosedEndpointIsNotReachable) {
  EndpointHandle a = make("a");
  const EndpointHandle b = make("b");
  const std::string address = cn_endpoint_address(a.get());
  cn_operation* kept = nullptr;
  ASSERT_EQ(cn_connect(a.get(), cn_endpoint_address(b.get()), nullptr, &kept), CN_OK);
  ASSERT_EQ(cn_wait(kept, kPatience), CN_OK);
  a.reset();
  EXPECT_TRUE(soon([&] { return cn_find_peer(b.get(), "a") == nullptr; }));
  EXPECT_EQ(complete([&](cn_operation** op) { return cn_connect(b.get(), address.c_str(), nullptr, op); }),
            CN_UNREACHABLE);
  cn_operation_release(kept);
}

TEST_P(Life, WaitersHearOfTheEnd) {
  EndpointHandle a = make("a");
  const EndpointHandle b = make("b");
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  // Nobody takes the messages: the window fills, and the last send waits.
  const std::vector<char> bytes(7 << 20);
  cn_operation* operations[3];
  cn_call call{};
  call.struct_size = sizeof call;
  call.done = [](void*, cn_status, const char*) {};
  for (auto& operation : operations)
    ASSERT_EQ(cn_send(to_b, 1, 0, bytes.data(), bytes.size(), &call, &operation), CN_OK);
  cn_status waited = CN_OK, event_status = CN_OK;
  cn_endpoint* const raw = a.get();
  std::thread waiter([&] { waited = cn_wait(operations[2], -1); });
  std::thread listener([&] {
    cn_event event{};
    event.struct_size = sizeof event;
    event_status = cn_next_event(raw, &event, -1);
  });
  usleep(50'000);
  a.reset();
  waiter.join();
  listener.join();
  EXPECT_EQ(waited, CN_CANCELLED);
  EXPECT_EQ(event_status, CN_CLOSED);
  for (auto& operation : operations) cn_operation_release(operation);
}

TEST_P(Life, CancelledMessagesThatHaveBegunAreWhole) {
  const EndpointHandle a = make("a"), b = make("b");
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  struct Seen {
    std::atomic<int> count{0}, wrong{0};
  } seen;
  const auto handler = [](void* user, cn_message* message) {
    const auto* const bytes = static_cast<const uint8_t*>(cn_message_data(message));
    for (size_t i = 0; i < cn_message_size(message); i += 4097) static_cast<Seen*>(user)->wrong += bytes[i] != bytes[0];
    ++static_cast<Seen*>(user)->count;
  };
  ASSERT_EQ(cn_set_handler(b.get(), 1, handler, &seen), CN_OK);
  cn_call copied{};
  copied.struct_size = sizeof copied;
  copied.flags = CN_COPY;
  for (uint8_t i = 1; i < 60; ++i) {
    std::vector<uint8_t> bytes(6'000'000, i);
    cn_operation* operation = nullptr;
    ASSERT_EQ(cn_send(to_b, 1, i % 2, bytes.data(), bytes.size(), i % 3 ? &copied : nullptr, &operation), CN_OK);
    usleep(i * 20);
    cn_cancel(operation);
    EXPECT_TRUE(cn_test(operation, nullptr));
    std::fill(bytes.begin(), bytes.end(), 0xff);  // the bytes may be changed now
    cn_operation_release(operation);
  }
  ASSERT_EQ(complete([&](cn_operation** op) { return cn_send(to_b, 1, 0, "", 1, nullptr, op); }), CN_OK);
  usleep(20'000);
  EXPECT_EQ(seen.wrong, 0);
}

// More requests than may be under way wait for their turn.
TEST_P(Life, ManyReadsAtATime) {
  const EndpointHandle a = make("a"), b = make("b");
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  std::vector<uint8_t> there(1000, 3), here(100'000);
  cn_memory* memory = nullptr;
  ASSERT_EQ(cn_memory_register(b.get(), there.data(), there.size(), CN_READ, &memory), CN_OK);
  cn_token token;
  ASSERT_EQ(cn_memory_token(memory, CN_READ, &token), CN_OK);
  std::atomic<size_t> good{0}, bad{0};
  struct Counts {
    std::atomic<size_t>&good, &bad;
  } counts{good, bad};
  cn_call call{};
  call.struct_size = sizeof call;
  call.user = &counts;
  call.done = [](void* user, cn_status status, const char*) {
    ++(status == CN_OK ? static_cast<Counts*>(user)->good : static_cast<Counts*>(user)->bad);
  };
  for (size_t i = 0; i < here.size(); ++i)
    ASSERT_EQ(cn_read(to_b, &token, i % 1000, &here[i], 1, &call, nullptr), CN_OK) << cn_error();
  EXPECT_TRUE(soon([&] { return good + bad == here.size(); }));
  EXPECT_EQ(bad, 0u);
  EXPECT_EQ(here, std::vector<uint8_t>(here.size(), 3));
  cn_memory_release(memory);
}

// The memory of a read is not used after its end, also if the peer releases its own meanwhile.
TEST_P(Life, MemoryReleasedWhileItIsRead) {
  const EndpointHandle a = make("a"), b = make("b");
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  for (int i = 0; i < 40; ++i) {
    auto there = std::make_unique<std::vector<uint8_t>>(20 << 20, 1),
         here = std::make_unique<std::vector<uint8_t>>(20 << 20);
    cn_memory* memory = nullptr;
    ASSERT_EQ(cn_memory_register(b.get(), there->data(), there->size(), CN_READ | CN_WRITE, &memory), CN_OK);
    cn_token token;
    ASSERT_EQ(cn_memory_token(memory, CN_READ | CN_WRITE, &token), CN_OK);
    cn_operation* operation = nullptr;
    ASSERT_EQ(i % 2 ? cn_read(to_b, &token, 0, here->data(), here->size(), nullptr, &operation)
                    : cn_write(to_b, &token, 0, here->data(), here->size(), nullptr, &operation),
              CN_OK);
    usleep(i * 50);
    cn_memory_release(memory);
    there.reset();
    const cn_status status = cn_wait(operation, kPatience);
    EXPECT_TRUE(status == CN_OK || status == CN_DENIED || status == CN_SYSTEM_ERROR)
        << cn_status_name(status) << cn_error();
    here.reset();
    cn_operation_release(operation);
  }
}

// A disconnection ends operations at once: their memory is free.
TEST_P(Life, MemoryIsFreeAfterADisconnection) {
  const EndpointHandle a = make("a"), b = make("b");
  std::vector<uint8_t> there(20 << 20, 1);
  cn_memory* memory = nullptr;
  ASSERT_EQ(cn_memory_register(b.get(), there.data(), there.size(), CN_READ | CN_WRITE, &memory), CN_OK);
  cn_token token;
  ASSERT_EQ(cn_memory_token(memory, CN_READ | CN_WRITE, &token), CN_OK);
  for (int i = 0; i < 20; ++i) {
    cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
    auto here = std::make_unique<std::vector<uint8_t>>(there.size());
    cn_operation* operation = nullptr;
    ASSERT_EQ(i % 2 ? cn_read(to_b, &token, 0, here->data(), here->size(), nullptr, &operation)
                    : cn_write(to_b, &token, 0, here->data(), here->size(), nullptr, &operation),
              CN_OK);
    usleep(i * 100);
    cn_disconnect(to_b);
    EXPECT_TRUE(cn_test(operation, nullptr));
    here.reset();
    cn_operation_release(operation);
  }
  cn_memory_release(memory);
}

TEST_P(Life, IdleEndpointsSleep) {
  const EndpointHandle a = make("a"), b = make("b");
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  ASSERT_EQ(complete([&](cn_operation** op) { return cn_send(to_b, 1, 0, "x", 1, nullptr, op); }), CN_OK);
  usleep(50'000);
  const double before = processor_seconds();
  usleep(300'000);
  EXPECT_LT(processor_seconds() - before, 0.1);
}

TEST_P(Life, BusyEndpointsLeaveRoomForCallers) {
  const EndpointHandle a = make("a", [](auto& options) { options.busy_poll_us = 1'000'000; });
  const EndpointHandle b = make("b");
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  std::vector<uint8_t> there(64 << 20), here(64 << 20);
  cn_memory* memory = nullptr;
  ASSERT_EQ(cn_memory_register(b.get(), there.data(), there.size(), CN_READ, &memory), CN_OK);
  cn_token token;
  ASSERT_EQ(cn_memory_token(memory, CN_READ, &token), CN_OK);
  std::atomic<bool> is_done{false};
  std::thread reader([&] {
    while (!is_done)
      EXPECT_EQ(
          complete([&](cn_operation** op) { return cn_read(to_b, &token, 0, here.data(), here.size(), nullptr, op); }),
          CN_OK);
  });
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(cn_peer_is_connected(to_b));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  is_done = true;
  reader.join();
  cn_memory_release(memory);
}

TEST_P(Life, EventLoopsHearOfWork) {
  const EndpointHandle a = make("a", [](auto& options) { options.flags = CN_MANUAL_PROGRESS; });
  const EndpointHandle b = make("b");
  cn_operation* connecting = nullptr;
  ASSERT_EQ(cn_connect(a.get(), cn_endpoint_address(b.get()), nullptr, &connecting), CN_OK);
  std::atomic<int> answers{0};
  pollfd watched{cn_event_descriptor(a.get()), POLLIN, 0};
  const auto run_until = [&](auto&& holds) {
    for (int i = 0; i < 1000 && !holds(); ++i) {
      if (poll(&watched, 1, 1000) != 1) return false;
      EXPECT_EQ(cn_progress(a.get(), 0), CN_OK);
    }
    return holds();
  };
  ASSERT_TRUE(run_until([&] { return cn_test(connecting, nullptr); }));
  cn_call call{};
  call.struct_size = sizeof call;
  call.user = &answers;
  call.done = [](void* user, cn_status, const char*) { ++*static_cast<std::atomic<int>*>(user); };
  ASSERT_EQ(cn_send(cn_operation_peer(connecting), 1, 0, "x", 1, &call, nullptr), CN_OK);
  EXPECT_TRUE(run_until([&] { return answers == 1; }));
  cn_operation_release(connecting);
}

TEST_P(Life, SeveralThreadsDoTheWork) {
  const auto manual = [](cn_endpoint_options& options) { options.flags = CN_MANUAL_PROGRESS; };
  const EndpointHandle a = make("a", manual);
  const EndpointHandle b = make("b");
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  std::vector<uint8_t> there(5000, 7);
  cn_memory* memory = nullptr;
  ASSERT_EQ(cn_memory_register(b.get(), there.data(), there.size(), CN_READ, &memory), CN_OK);
  cn_token token;
  ASSERT_EQ(cn_memory_token(memory, CN_READ, &token), CN_OK);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        std::vector<uint8_t> here(5000);
        EXPECT_EQ(complete([&](cn_operation** op) { return cn_read(to_b, &token, 0, here.data(), 5000, nullptr, op); }),
                  CN_OK);
        EXPECT_EQ(here, there);
        cn_event event{};
        event.struct_size = sizeof event;
        EXPECT_EQ(cn_next_event(a.get(), &event, 0), CN_TIMED_OUT);
        EXPECT_EQ(cn_progress(a.get(), 1), CN_OK);
      }
    });
  for (std::thread& thread : threads) thread.join();
  cn_memory_release(memory);
}

TEST_P(Life, ACallbackCannotCloseItsEndpoint) {
  EndpointHandle a = make("a");
  const EndpointHandle b = make("b");
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  std::atomic<int> calls{0};
  struct Both {
    cn_endpoint* endpoint;
    std::atomic<int>& calls;
  } both{a.get(), calls};
  cn_call call{};
  call.struct_size = sizeof call;
  call.user = &both;
  call.done = [](void* user, cn_status, const char*) {
    cn_endpoint_close(static_cast<Both*>(user)->endpoint);
    ++static_cast<Both*>(user)->calls;
  };
  ASSERT_EQ(cn_send(to_b, 1, 0, "x", 1, &call, nullptr), CN_OK);
  EXPECT_TRUE(soon([&] { return calls == 1; }));
  EXPECT_TRUE(cn_peer_is_connected(to_b));
}

TEST_P(Life, DescriptorsAndMemoryDoNotGrow) {
  const EndpointHandle b = make("b");
  size_t descriptors = 0, pages = 0;
  const auto connects = static_cast<int>(number_of("COMMNET_CONNECTS", 1000));
  for (int i = 0; i < connects; ++i) {
    // Half of the connections are of new endpoints.
    static EndpointHandle a;
    if (i % 2 == 0) a = make("a");
    cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
    ASSERT_NE(to_b, nullptr);
    cn_disconnect(to_b);
    if (i == connects - 1) a.reset();
    if (i == 199) {
      a.reset();
      usleep(20'000);
      descriptors = open_descriptors();
      pages = resident_pages();
    }
  }
  EXPECT_TRUE(soon([&] { return open_descriptors() <= descriptors; }, 2000))
      << open_descriptors() << " " << descriptors;
  // Sanitizers keep what is freed.
  EXPECT_TRUE(kIsSanitized || resident_pages() < pages + 2500) << resident_pages() << " " << pages;
}

// Handles of peers live as long as their endpoint: one that has many in its time keeps little of each.
TEST_P(Life, LittleIsKeptOfPeersThatHaveLeft) {
  const EndpointHandle b = make("b");
  size_t before = 0;
  constexpr size_t kFirst = 50, kCount = 300;
  for (size_t i = 0; i < kFirst + kCount; ++i) {
    if (i == kFirst) before = mallinfo2().uordblks;
    const EndpointHandle a = make("a" + std::to_string(i));
    ASSERT_NE(connect(a.get(), cn_endpoint_address(b.get())), nullptr);
  }
  EXPECT_TRUE(soon([&] { return cn_find_peer(b.get(), "a349") == nullptr; }));
  // Sanitizers have an allocator of their own.
  EXPECT_TRUE(kIsSanitized || soon([&] { return mallinfo2().uordblks < before + kCount * 2000; }));
}

TEST_P(Life, SixtyFourEndpointsAllConnected) {
  constexpr size_t kCount = 64;
  std::vector<EndpointHandle> all;
  std::atomic<size_t> arrived{0};
  for (size_t i = 0; i < kCount; ++i) {
    all.push_back(make("e" + std::to_string(i)));
    const auto handler = [](void* user, cn_message*) { ++*static_cast<std::atomic<size_t>*>(user); };
    ASSERT_EQ(cn_set_handler(all.back().get(), 1, handler, &arrived), CN_OK);
  }
  std::vector<cn_operation*> operations;
  // All connect at the same time, most from both sides.
  for (size_t i = 0; i < kCount; ++i)
    for (size_t j = 0; j < kCount; ++j) {
      if (i == j || ((i + j) % 5 == 0 && i > j)) continue;
      operations.push_back(nullptr);
      ASSERT_EQ(cn_connect(all[i].get(), cn_endpoint_address(all[j].get()), nullptr, &operations.back()), CN_OK)
          << cn_error();
    }
  for (cn_operation* const operation : operations) {
    ASSERT_EQ(cn_wait(operation, kPatience), CN_OK) << cn_error();
    ASSERT_EQ(cn_send(cn_operation_peer(operation), 1, 0, "hello", 5, nullptr, nullptr), CN_OK) << cn_error();
    cn_operation_release(operation);
  }
  EXPECT_TRUE(soon([&] { return arrived == operations.size(); })) << arrived << " of " << operations.size();
}

INSTANTIATE_TEST_SUITE_P(Transports, Life, testing::Values("memory", "shared", "unix", "tcp"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace commnet::tests
