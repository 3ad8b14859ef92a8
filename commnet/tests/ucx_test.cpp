// Tests what is particular to the transport over UCX: processes that end, payloads under way, and when it is used.
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

constexpr const char* kDescriptor = "COMMNET_TEST_DESCRIPTOR";
constexpr const char* kAccess = "COMMNET_UCX_ACCESS";
// Messages with a token, whose memory is read or written by who gets them until its process ends.
constexpr uint32_t kReadOn = 2, kWriteOn = 3;
// One with an address, to which another endpoint connects, and sends a message.
constexpr uint32_t kConnect = 4;
constexpr size_t kLarge = 70'000'003;

uint8_t byte_at(size_t i) { return static_cast<uint8_t>(i * 31 + (i >> 13)); }

EndpointHandle make_ucx(const std::string& name, uint32_t flags = 0) {
  return make_endpoint(name, "ucx", [&](cn_endpoint_options& options) { options.flags = flags; });
}

template <class Condition>
bool wait_until(Condition&& holds) {
  for (int i = 0; i < 20'000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return holds();
}

size_t open_descriptors() {
  DIR* const folder = opendir("/proc/self/fd");
  size_t count = 0;
  while (readdir(folder)) ++count;
  closedir(folder);
  return count;
}

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Returns the first instructions of functions that UCX may replace.
std::string instructions() {
  std::string found;
  for (const char* const name : {"mmap", "munmap", "mremap", "madvise", "brk", "sbrk", "shmat", "shmdt"})
    found.append(static_cast<const char*>(dlsym(RTLD_DEFAULT, name)), 16);
  return found;
}

// Before the first test.
const std::string kInstructions = instructions();

struct Introduction {
  char address[512];
  cn_token token;
};

// Reads or writes memory again and again.
void access_on(cn_peer* peer, const cn_token& token, bool reads) {
  std::thread([=] {
    std::vector<uint8_t> bytes(300'000, 9);
    for (;;)
      complete([&](cn_operation** op) {
        return reads ? cn_read(peer, &token, 0, bytes.data(), bytes.size(), nullptr, op)
                     : cn_write(peer, &token, 0, bytes.data(), bytes.size(), nullptr, op);
      });
  }).detach();
}

// What the other process does: it sends back what it gets, and has memory.
TEST(UcxOther, DISABLED_Serves) {
  const char* const descriptor = std::getenv(kDescriptor);
  if (!descriptor) GTEST_SKIP();
  const EndpointHandle own = make_ucx("other");
  ASSERT_NE(own, nullptr);
  const auto echo = [](void*, cn_message* message) {
    cn_call call{};
    call.struct_size = sizeof call;
    call.flags = CN_COPY;
    cn_send(cn_message_peer(message), 1, 0, cn_message_data(message), cn_message_size(message), &call, nullptr);
  };
  ASSERT_EQ(cn_set_handler(own.get(), 1, echo, nullptr), CN_OK);
  const auto begin = [](void* reads, cn_message* message) {
    cn_token token;
    std::memcpy(token.bytes, cn_message_data(message), sizeof token.bytes);
    access_on(cn_message_peer(message), token, reads != nullptr);
  };
  ASSERT_EQ(cn_set_handler(own.get(), kReadOn, begin, own.get()), CN_OK);
  ASSERT_EQ(cn_set_handler(own.get(), kWriteOn, begin, nullptr), CN_OK);
  const auto connect_another = [](void*, cn_message* message) {
    static std::vector<EndpointHandle> others;
    others.push_back(make_ucx("other" + std::to_string(others.size()), CN_MANUAL_PROGRESS));
    const std::string address(static_cast<const char*>(cn_message_data(message)), cn_message_size(message));
    cn_peer* const peer = connect(others.back().get(), address.c_str());
    const std::vector<char> bytes(20'000);
    complete([&](cn_operation** op) { return cn_send(peer, 1, 0, bytes.data(), bytes.size(), nullptr, op); });
  };
  ASSERT_EQ(cn_set_handler(own.get(), kConnect, connect_another, nullptr), CN_OK);
  std::vector<uint8_t> bytes(kLarge);
  for (size_t i = 0; i < kLarge; ++i) bytes[i] = byte_at(i);
  cn_memory* memory = nullptr;
  ASSERT_EQ(cn_memory_register(own.get(), bytes.data(), bytes.size(), CN_READ | CN_WRITE, &memory), CN_OK);
  Introduction introduction{};
  std::strcpy(introduction.address, cn_endpoint_address(own.get()));
  cn_memory_token(memory, CN_READ | CN_WRITE, &introduction.token);
  ASSERT_EQ(write(std::atoi(descriptor), &introduction, sizeof introduction), ssize_t{sizeof introduction});
  for (;;) pause();
}

// Another process with an endpoint. It is started afresh, as UCX does not work after fork(). The parameter says how
// memory is accessed: "never" by frames, "always" by gets and puts, which UCX emulates where there is no device.
class UcxProcess : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    setenv(kAccess, GetParam(), 1);
    if (!is_available("ucx")) GTEST_SKIP() << cn_error();
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    setenv(kDescriptor, std::to_string(ends[1]).c_str(), 1);
    // The other process runs its test, whichever part of the tests this one runs.
    for (const char* const name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"}) unsetenv(name);
    char program[] = "/proc/self/exe", filter[] = "--gtest_filter=UcxOther.DISABLED_Serves",
         all[] = "--gtest_also_run_disabled_tests", quiet[] = "--gtest_brief=1";
    char* const arguments[] = {program, filter, all, quiet, nullptr};
    ASSERT_EQ(posix_spawn(&process, program, nullptr, nullptr, arguments, environ), 0);
    unsetenv(kDescriptor);
    close(ends[1]);
    ASSERT_EQ(read(ends[0], &other, sizeof other), ssize_t{sizeof other});
    close(ends[0]);
    own = make_ucx("own");
    peer = connect(own.get(), other.address);
    ASSERT_NE(peer, nullptr);
  }
  void TearDown() override {
    end_process();
    unsetenv(kAccess);
  }

  void end_process() {
    if (process <= 0) return;
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
    process = 0;
  }

  pid_t process = 0;
  Introduction other{};
  EndpointHandle own;
  cn_peer* peer = nullptr;
};

TEST_P(UcxProcess, ReadsAndWritesManyBytes) {
  std::vector<uint8_t> here(kLarge);
  ASSERT_EQ(
      complete([&](cn_operation** op) { return cn_read(peer, &other.token, 0, here.data(), kLarge, nullptr, op); }),
      CN_OK)
      << cn_error();
  size_t wrong = 0;
  for (size_t i = 0; i < kLarge; ++i) wrong += here[i] != byte_at(i);
  EXPECT_EQ(wrong, 0u);
  for (uint8_t& byte : here) byte ^= 0x5a;
  ASSERT_EQ(
      complete([&](cn_operation** op) { return cn_write(peer, &other.token, 0, here.data(), kLarge, nullptr, op); }),
      CN_OK)
      << cn_error();
  std::vector<uint8_t> again(kLarge);
  ASSERT_EQ(
      complete([&](cn_operation** op) { return cn_read(peer, &other.token, 0, again.data(), kLarge, nullptr, op); }),
      CN_OK)
      << cn_error();
  EXPECT_EQ(here, again);
}

TEST_P(UcxProcess, ReadsAndWritesOfAllSizes) {
  std::vector<uint8_t> expected(3'000'000);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = byte_at(i);
  uint8_t value = 0;
  for (const size_t size : {0, 1, 2, 7, 8, 63, 64, 100, 4095, 8192, 8193, 65'537, 262'144, 262'145, 1'048'577}) {
    for (const size_t offset : {size_t{0}, size_t{1}, size_t{4093}, expected.size() - size}) {
      std::vector<uint8_t> bytes(size + 2, ++value);
      ASSERT_EQ(complete([&](cn_operation** op) {
                  return cn_write(peer, &other.token, offset, bytes.data() + 1, size, nullptr, op);
                }),
                CN_OK)
          << cn_error();
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(offset), size, value);
      ASSERT_EQ(complete([&](cn_operation** op) {
                  return cn_read(peer, &other.token, offset, bytes.data() + 1, size, nullptr, op);
                }),
                CN_OK)
          << cn_error();
      EXPECT_EQ(static_cast<size_t>(std::count(bytes.begin(), bytes.end(), value)), bytes.size());
    }
  }
  std::vector<uint8_t> all(expected.size());
  ASSERT_EQ(
      complete([&](cn_operation** op) { return cn_read(peer, &other.token, 0, all.data(), all.size(), nullptr, op); }),
      CN_OK);
  EXPECT_EQ(all, expected);
  EXPECT_EQ(
      complete([&](cn_operation** op) { return cn_read(peer, &other.token, kLarge, all.data(), 1, nullptr, op); }),
      CN_OUT_OF_RANGE);
}

TEST_P(UcxProcess, APeerTakesTwoDescriptorsAndLittleMemory) {
  std::atomic<size_t> arrived{0};
  const auto take = [](void* user, cn_message*) { ++*static_cast<std::atomic<size_t>*>(user); };
  ASSERT_EQ(cn_set_handler(own.get(), 1, take, &arrived), CN_OK);
  const std::string address = cn_endpoint_address(own.get());
  size_t peers = 0;
  const auto connect_more = [&](size_t count) {
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(complete([&](cn_operation** op) {
                  return cn_send(peer, kConnect, 0, address.data(), address.size(), nullptr, op);
                }),
                CN_OK)
          << cn_error();
    peers += count;
    EXPECT_TRUE(wait_until([&] { return arrived == peers; })) << arrived;
  };
  connect_more(16);
  const size_t descriptors = open_descriptors(), memory = resident_bytes();
  constexpr size_t kMore = 48;
  connect_more(kMore);
  EXPECT_LE(open_descriptors(), descriptors + 2 * kMore);
  if (!kIsSanitized) {
    EXPECT_LE(resident_bytes(), memory + kMore * (200 << 10));
  }
}

TEST_P(UcxProcess, ProcessesAreKilledWhileTheyConnect) {
  for (int i = 0; i < 30; ++i) {
    if (process == 0) SetUp();
    const std::string address = cn_endpoint_address(own.get());
    for (int k = 0; k < 4; ++k)
      ASSERT_EQ(cn_send(peer, kConnect, 0, address.data(), address.size(), nullptr, nullptr), CN_OK) << cn_error();
    std::this_thread::sleep_for(std::chrono::microseconds(2'500 * i));
    end_process();
    EXPECT_TRUE(wait_until([&] { return !cn_peer_is_connected(peer); }));
  }
}

TEST_P(UcxProcess, AKilledPeerLeavesMemoryAlone) {
  for (const uint32_t number : {kReadOn, kWriteOn}) {
    if (process == 0) SetUp();
    std::vector<uint8_t> bytes(300'000, 1);
    cn_memory* memory = nullptr;
    ASSERT_EQ(cn_memory_register(own.get(), bytes.data(), bytes.size(), CN_READ | CN_WRITE, &memory), CN_OK);
    cn_token token;
    cn_memory_token(memory, CN_READ | CN_WRITE, &token);
    ASSERT_EQ(complete([&](cn_operation** op) {
                return cn_send(peer, number, 0, token.bytes, sizeof token.bytes, nullptr, op);
              }),
              CN_OK);
    if (number == kWriteOn)
      EXPECT_TRUE(wait_until([&] { return *const_cast<volatile uint8_t*>(bytes.data()) == 9; }));
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    end_process();
    EXPECT_TRUE(wait_until([&] { return !cn_peer_is_connected(peer); }));
    cn_memory_release(memory);
    std::fill(bytes.begin(), bytes.end(), uint8_t{5});
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(static_cast<size_t>(std::count(bytes.begin(), bytes.end(), uint8_t{5})), bytes.size());
    own.reset();
  }
}

TEST_P(UcxProcess, MessagesOfAllSizesKeepTheirOrder) {
  struct Seen {
    std::atomic<size_t> count{0}, wrong{0};
    std::vector<std::vector<uint8_t>> sent;
  } seen;
  for (size_t i = 0; i < 400; ++i) {
    const size_t size = i % 7 == 0 ? 300'000 + i * 1000 : i % 3 == 0 ? 20'000 + i : i;
    seen.sent.emplace_back(size);
    for (size_t k = 0; k < size; ++k) seen.sent.back()[k] = byte_at(k + i);
  }
  const auto take = [](void* user, cn_message* message) {
    Seen& all = *static_cast<Seen*>(user);
    const std::vector<uint8_t>& expected = all.sent[all.count];
    const size_t size = cn_message_size(message);
    all.wrong += size != expected.size() || std::memcmp(cn_message_data(message), expected.data(), size) != 0;
    ++all.count;
  };
  ASSERT_EQ(cn_set_handler(own.get(), 1, take, &seen), CN_OK);
  for (const auto& message : seen.sent)
    ASSERT_EQ(cn_send(peer, 1, 0, message.data(), message.size(), nullptr, nullptr), CN_OK) << cn_error();
  EXPECT_TRUE(wait_until([&] { return seen.count == seen.sent.size(); })) << seen.count;
  EXPECT_EQ(seen.wrong, 0u);
}

TEST_P(UcxProcess, AKilledPeerIsLost) {
  std::vector<uint8_t> here(kLarge);
  cn_operation* operation = nullptr;
  ASSERT_EQ(cn_read(peer, &other.token, 0, here.data(), kLarge, nullptr, &operation), CN_OK);
  end_process();
  const cn_status status = cn_wait(operation, kPatience);
  EXPECT_TRUE(status == CN_PEER_LOST || status == CN_OK) << cn_error();
  cn_operation_release(operation);
  EXPECT_TRUE(wait_until([&] { return !cn_peer_is_connected(peer); }));
  EXPECT_EQ(cn_send(peer, 1, 0, nullptr, 0, nullptr, nullptr), CN_PEER_LOST);
  operation = nullptr;
  ASSERT_EQ(cn_connect(own.get(), other.address, nullptr, &operation), CN_OK) << cn_error();
  EXPECT_EQ(cn_wait(operation, kPatience), CN_UNREACHABLE) << cn_error();
  cn_operation_release(operation);
}

TEST_P(UcxProcess, MemoryIsFreeAfterACancel) {
  for (int i = 0; i < 20; ++i) {
    std::vector<uint8_t> here(kLarge / 4);
    cn_operation* operation = nullptr;
    const bool reads = i % 2 == 0;
    ASSERT_EQ(reads ? cn_read(peer, &other.token, 0, here.data(), here.size(), nullptr, &operation)
                    : cn_write(peer, &other.token, 0, here.data(), here.size(), nullptr, &operation),
              CN_OK)
        << cn_error();
    std::this_thread::sleep_for(std::chrono::microseconds(300 * i));
    cn_cancel(operation);
    const cn_status status = cn_wait(operation, kPatience);
    EXPECT_TRUE(status == CN_CANCELLED || status == CN_OK) << cn_error();
    cn_operation_release(operation);
    std::fill(here.begin(), here.end(), uint8_t{7});
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(std::count(here.begin(), here.end(), uint8_t{7}), static_cast<std::ptrdiff_t>(here.size()));
  }
  EXPECT_TRUE(cn_peer_is_connected(peer));
}

TEST_P(UcxProcess, AStoppedPeerDoesNotHoldUpACancel) {
  std::vector<uint8_t> here(kLarge);
  kill(process, SIGSTOP);
  cn_operation* operation = nullptr;
  ASSERT_EQ(cn_send(peer, 9, 0, here.data(), here.size(), nullptr, &operation), CN_OK) << cn_error();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  cn_cancel(operation);
  EXPECT_NE(cn_wait(operation, kPatience), CN_TIMED_OUT);
  cn_operation_release(operation);
  own.reset();
}

INSTANTIATE_TEST_SUITE_P(Access, UcxProcess, testing::Values("never", "always"),
                         [](const auto& info) { return std::string(info.param); });

class Ucx : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_available("ucx")) GTEST_SKIP() << cn_error();
  }
};

TEST_F(Ucx, IsUsedOnlyWhereItIsNamed) {
  cn_endpoint* endpoint = nullptr;
  ASSERT_EQ(cn_endpoint_create(nullptr, &endpoint), CN_OK) << cn_error();
  EXPECT_EQ(std::string(cn_endpoint_address(endpoint)).find("ucx:"), std::string::npos);
  cn_endpoint_close(endpoint);
  cn_endpoint_options options{};
  options.struct_size = sizeof options;
  options.listen = "ucx://127.0.0.1:0,tcp://127.0.0.1:0";
  ASSERT_EQ(cn_endpoint_create(&options, &endpoint), CN_OK) << cn_error();
  const std::string address = cn_endpoint_address(endpoint);
  EXPECT_NE(address.find("ucx://127.0.0.1:"), std::string::npos) << address;
  EXPECT_NE(address.find("tcp://127.0.0.1:"), std::string::npos) << address;
  const EndpointHandle other = make_endpoint("other", "ucx,sockets", [](cn_endpoint_options& changed) {
    changed.listen = "none";
    changed.secret = nullptr;
    changed.secret_size = 0;
  });
  EXPECT_EQ(std::string(cn_endpoint_address(other.get())), "other@");
  cn_peer* const peer = connect(other.get(), address.c_str());
  ASSERT_NE(peer, nullptr);
  EXPECT_STREQ(cn_peer_transport(peer), "ucx");
  cn_endpoint_close(endpoint);
}

TEST_F(Ucx, LeavesTheProcessAsItIs) {
  unsetenv("UCX_MEM_EVENTS");
  struct sigaction before, after;
  sigaction(SIGSEGV, nullptr, &before);
  const EndpointHandle own = make_ucx("own");
  sigaction(SIGSEGV, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  EXPECT_EQ(kInstructions, instructions());
  EXPECT_EQ(std::getenv("UCX_MEM_EVENTS"), nullptr);
}

TEST_F(Ucx, BadUrlsAreRefused) {
  cn_endpoint_options options{};
  options.struct_size = sizeof options;
  options.transports = "ucx";
  for (const char* const listen : {"ucx:", "ucx://", "ucx://127.0.0.1", "ucx://no.such.host.invalid:1"}) {
    options.listen = listen;
    cn_endpoint* endpoint = nullptr;
    EXPECT_EQ(cn_endpoint_create(&options, &endpoint), CN_INVALID_ARGUMENT) << listen;
    const bool is_unknown = std::string(listen).find("no.such.host") != std::string::npos;
    EXPECT_NE(std::string(cn_error()).find(is_unknown ? "is not known" : "must be ucx://host:port"), std::string::npos)
        << cn_error();
    cn_endpoint_close(endpoint);
  }
  const EndpointHandle own = make_ucx("own");
  // A port at which nobody listens.
  EXPECT_EQ(complete([&](cn_operation** op) { return cn_connect(own.get(), "x@ucx://127.0.0.1:1", nullptr, op); }),
            CN_UNREACHABLE);
}

TEST_F(Ucx, APortInUseIsAnError) {
  const EndpointHandle first = make_ucx("first");
  const std::string address = cn_endpoint_address(first.get());
  cn_endpoint_options options{};
  options.struct_size = sizeof options;
  options.transports = "ucx";
  const std::string url = address.substr(address.find('@') + 1);
  options.listen = url.c_str();
  cn_endpoint* endpoint = nullptr;
  EXPECT_EQ(cn_endpoint_create(&options, &endpoint), CN_SYSTEM_ERROR);
  EXPECT_NE(std::string(cn_error()).find(url), std::string::npos) << cn_error();
}

TEST_F(Ucx, BothSidesConnectAtTheSameTime) {
  for (int i = 0; i < 10; ++i) {
    const EndpointHandle a = make_ucx("a"), b = make_ucx("b");
    cn_operation *from_a = nullptr, *from_b = nullptr;
    ASSERT_EQ(cn_connect(a.get(), cn_endpoint_address(b.get()), nullptr, &from_a), CN_OK) << cn_error();
    ASSERT_EQ(cn_connect(b.get(), cn_endpoint_address(a.get()), nullptr, &from_b), CN_OK) << cn_error();
    EXPECT_EQ(cn_wait(from_a, kPatience), CN_OK) << cn_error();
    EXPECT_EQ(cn_wait(from_b, kPatience), CN_OK) << cn_error();
    EXPECT_TRUE(cn_peer_is_connected(cn_operation_peer(from_a)));
    cn_operation_release(from_a);
    cn_operation_release(from_b);
  }
}

TEST_F(Ucx, PeersConnectAgain) {
  const EndpointHandle a = make_ucx("a"), b = make_ucx("b");
  for (int i = 0; i < 10; ++i) {
    cn_peer* const peer = connect(a.get(), cn_endpoint_address(b.get()));
    ASSERT_NE(peer, nullptr);
    EXPECT_EQ(cn_disconnect(peer), CN_OK) << cn_error();
    EXPECT_FALSE(cn_peer_is_connected(peer));
  }
}

TEST_F(Ucx, WhatWasSentArrivesThoughTheSenderCloses) {
  const EndpointHandle b = make_ucx("b");
  std::atomic<uint64_t> arrived{0};
  const auto count = [](void* user, cn_message* message) {
    *static_cast<std::atomic<uint64_t>*>(user) += cn_message_size(message);
  };
  ASSERT_EQ(cn_set_handler(b.get(), 1, count, &arrived), CN_OK);
  const std::vector<uint8_t> bytes(100'000);
  for (int i = 0; i < 10; ++i) {
    const EndpointHandle a = make_ucx("a" + std::to_string(i));
    cn_peer* const peer = connect(a.get(), cn_endpoint_address(b.get()));
    ASSERT_NE(peer, nullptr);
    for (int k = 0; k < 20; ++k)
      ASSERT_EQ(complete([&](cn_operation** op) { return cn_send(peer, 1, 0, bytes.data(), 5'000u * k, nullptr, op); }),
                CN_OK);
  }
  EXPECT_TRUE(wait_until([&] { return arrived == 10 * 5'000u * 190; })) << arrived;
}

TEST_F(Ucx, EndpointsWithoutThreadsWorkInOne) {
  const EndpointHandle a = make_ucx("a", CN_MANUAL_PROGRESS), b = make_ucx("b", CN_MANUAL_PROGRESS);
  cn_operation* operation = nullptr;
  ASSERT_EQ(cn_connect(a.get(), cn_endpoint_address(b.get()), nullptr, &operation), CN_OK) << cn_error();
  const auto run = [&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!cn_test(operation, nullptr) && std::chrono::steady_clock::now() < end) {
      cn_progress(a.get(), 0);
      cn_progress(b.get(), 0);
    }
  };
  run();
  ASSERT_EQ(cn_wait(operation, 0), CN_OK) << cn_error();
  cn_peer* const peer = cn_operation_peer(operation);
  cn_operation_release(operation);
  std::vector<uint8_t> there(5'000'000, 3), here(5'000'000);
  cn_memory* memory = nullptr;
  ASSERT_EQ(cn_memory_register(b.get(), there.data(), there.size(), CN_READ, &memory), CN_OK);
  cn_token token;
  cn_memory_token(memory, CN_READ, &token);
  ASSERT_EQ(cn_read(peer, &token, 0, here.data(), here.size(), nullptr, &operation), CN_OK);
  run();
  EXPECT_EQ(cn_wait(operation, 0), CN_OK) << cn_error();
  cn_operation_release(operation);
  EXPECT_EQ(here, there);
  cn_memory_release(memory);
}

TEST_F(Ucx, AnIdleEndpointSleeps) {
  const EndpointHandle a = make_ucx("a"), b = make_ucx("b");
  ASSERT_NE(connect(a.get(), cn_endpoint_address(b.get())), nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::clock_t begin = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC / 20);
}

// UCX cannot give back what it has begun to send, and each side would wait for the other with its lock.
TEST_F(Ucx, LargeCopiedMessagesCrossEachOther) {
  const EndpointHandle a = make_ucx("a"), b = make_ucx("b");
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  ASSERT_NE(to_b, nullptr);
  std::atomic<int> at_a{0}, at_b{0};
  const auto count = [](void* user, cn_message*) { ++*static_cast<std::atomic<int>*>(user); };
  // b answers with what it gets, and a sends more meanwhile.
  const auto answer = [](void* user, cn_message* message) {
    ++*static_cast<std::atomic<int>*>(user);
    cn_call copied{};
    copied.struct_size = sizeof copied;
    copied.flags = CN_COPY;
    cn_send(cn_message_peer(message), 1, 0, cn_message_data(message), cn_message_size(message), &copied, nullptr);
  };
  cn_set_handler(a.get(), 1, count, &at_a);
  cn_set_handler(b.get(), 1, answer, &at_b);
  std::vector<char> bytes(300'000, 1);
  cn_call copied{};
  copied.struct_size = sizeof copied;
  copied.flags = CN_COPY;
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(cn_send(to_b, 1, 0, bytes.data(), bytes.size(), &copied, nullptr), CN_OK) << cn_error();
    bytes.assign(bytes.size(), static_cast<char>(i));
  }
  EXPECT_TRUE(soon([&] { return at_a == 50; })) << at_a << " of " << at_b;
}

class UcxAccess : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    setenv(kAccess, GetParam(), 1);
    if (!is_available("ucx")) GTEST_SKIP() << cn_error();
  }
  void TearDown() override { unsetenv(kAccess); }
};

INSTANTIATE_TEST_SUITE_P(Access, UcxAccess, testing::Values("never", "always"),
                         [](const auto& info) { return std::string(info.param); });

// Memory is neither read nor written once it is released, whatever is under way.
TEST_P(UcxAccess, ReleasedMemoryIsLeftAlone) {
  const EndpointHandle owner = make_ucx("owner"), other = make_ucx("other");
  cn_peer* const peer = connect(other.get(), cn_endpoint_address(owner.get()));
  ASSERT_NE(peer, nullptr);
  constexpr size_t kSize = 1'500'000;
  std::vector<uint8_t> there(kSize);
  int good = 0;
  for (int round = 0; round < 60; ++round) {
    std::fill(there.begin(), there.end(), uint8_t{1});
    cn_memory* memory = nullptr;
    ASSERT_EQ(cn_memory_register(owner.get(), there.data(), kSize, CN_READ | CN_WRITE, &memory), CN_OK);
    cn_token token;
    cn_memory_token(memory, CN_READ | CN_WRITE, &token);
    const bool reads = round % 2 == 0;
    std::vector<std::vector<uint8_t>> here(4, std::vector<uint8_t>(kSize, 1));
    std::vector<cn_operation*> operations(here.size());
    for (size_t i = 0; i < here.size(); ++i)
      ASSERT_EQ(reads ? cn_read(peer, &token, 0, here[i].data(), kSize, nullptr, &operations[i])
                      : cn_write(peer, &token, 0, here[i].data(), kSize, nullptr, &operations[i]),
                CN_OK)
          << cn_error();
    std::this_thread::sleep_for(std::chrono::microseconds(150 * round));
    cn_memory_release(memory);
    std::fill(there.begin(), there.end(), uint8_t{2});
    for (size_t i = 0; i < here.size(); ++i) {
      const cn_status status = cn_wait(operations[i], kPatience);
      EXPECT_TRUE(status == CN_OK || status == CN_DENIED) << status << cn_error();
      good += status == CN_OK;
      cn_operation_release(operations[i]);
      EXPECT_EQ(static_cast<size_t>(std::count(here[i].begin(), here[i].end(), uint8_t{1})), kSize);
    }
    EXPECT_EQ(static_cast<size_t>(std::count(there.begin(), there.end(), uint8_t{2})), kSize);
  }
  EXPECT_TRUE(cn_peer_is_connected(peer));
  EXPECT_GT(good, 0);
}

TEST_F(Ucx, GarbageEndsItsConnectionOnly) {
  const EndpointHandle own = make_ucx("own"), other = make_ucx("other");
  const std::string address = cn_endpoint_address(own.get());
  struct Greeting {
    uint32_t magic, size;
    uint64_t number;
    uint32_t link, next;
  };
  constexpr uint32_t kMagic = 0x32786e63;
  const auto bytes_of = [](const Greeting& greeting) {
    return std::string(reinterpret_cast<const char*>(&greeting), sizeof greeting);
  };
  for (const std::string& garbage :
       {std::string(1000, 'x'), bytes_of({kMagic, UINT32_MAX, 1, 0, 0}), bytes_of({kMagic + 1, 10, 1, 0, 0}),
        bytes_of({kMagic, 100'000, 1, 0, 0}) + std::string(100'000, 'y')}) {
    const int stranger = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    ASSERT_EQ(::connect(stranger, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    (void)!::send(stranger, garbage.data(), garbage.size(), MSG_NOSIGNAL);
    char answer[4096];
    while (recv(stranger, answer, sizeof answer, 0) > 0) continue;
    close(stranger);
  }
  cn_peer* const peer = connect(other.get(), address.c_str());
  ASSERT_NE(peer, nullptr);
  EXPECT_TRUE(cn_peer_is_connected(peer));
}

TEST(UcxSettings, UnknownAccessIsAnError) {
  if (!is_available("ucx")) GTEST_SKIP() << cn_error();
  setenv(kAccess, "sometimes", 1);
  cn_endpoint_options options{};
  options.struct_size = sizeof options;
  options.transports = "ucx";
  cn_endpoint* endpoint = nullptr;
  EXPECT_EQ(cn_endpoint_create(&options, &endpoint), CN_INVALID_ARGUMENT);
  EXPECT_NE(std::string(cn_error()).find("sometimes"), std::string::npos) << cn_error();
  unsetenv(kAccess);
}

// Many endpoints in one process, of which each is connected to two others.
TEST_F(Ucx, ManyEndpointsInARing) {
  const size_t count = number_of("COMMNET_ENDPOINTS", kIsSanitized ? 32 : 128);
  constexpr size_t kOfEndpoint = 30, kOfPeer = 2;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const size_t needed = count * (kOfEndpoint + 2 * kOfPeer) + 100;
  if (limit.rlim_max < needed) GTEST_SKIP() << "it needs " << needed << " descriptors, the limit is " << limit.rlim_max;
  limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, needed);
  setrlimit(RLIMIT_NOFILE, &limit);

  std::atomic<size_t> arrived{0};
  std::vector<EndpointHandle> ring;
  for (size_t i = 0; i < count; ++i) {
    ring.push_back(make_ucx("ring" + std::to_string(i), CN_MANUAL_PROGRESS));
    ASSERT_NE(ring.back(), nullptr);
    const auto take = [](void* user, cn_message*) { ++*static_cast<std::atomic<size_t>*>(user); };
    cn_set_handler(ring.back().get(), 1, take, &arrived);
  }
  const size_t descriptors = open_descriptors();
  const auto run = [&](size_t i, cn_operation* operation) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatience);
    while (!cn_test(operation, nullptr) && std::chrono::steady_clock::now() < end) {
      cn_progress(ring[i].get(), 0);
      cn_progress(ring[(i + 1) % count].get(), 0);
    }
    const cn_status status = cn_wait(operation, 0);
    EXPECT_EQ(status, CN_OK) << i << ": " << cn_error();
    return status;
  };
  std::vector<cn_peer*> next;
  for (size_t i = 0; i < count; ++i) {
    cn_operation* operation = nullptr;
    ASSERT_EQ(cn_connect(ring[i].get(), cn_endpoint_address(ring[(i + 1) % count].get()), nullptr, &operation), CN_OK);
    ASSERT_EQ(run(i, operation), CN_OK);
    next.push_back(cn_operation_peer(operation));
    cn_operation_release(operation);
  }
  const std::vector<uint8_t> bytes(20'000);
  for (size_t i = 0; i < count; ++i) {
    cn_operation* operation = nullptr;
    ASSERT_EQ(cn_send(next[i], 1, 0, bytes.data(), bytes.size(), nullptr, &operation), CN_OK);
    ASSERT_EQ(run(i, operation), CN_OK);
    cn_operation_release(operation);
  }
  // Each connection has two ends here, and each end is a peer.
  const size_t most = descriptors + 2 * count * kOfPeer;
  EXPECT_TRUE(soon([&] {
    for (const EndpointHandle& each : ring) cn_progress(each.get(), 0);
    return arrived == count && open_descriptors() <= most;
  }));
  EXPECT_EQ(arrived, count);
  EXPECT_LE(open_descriptors(), most);
  // One that closes waits until its peers have heard of it.
  for (size_t i = 0; i < count; ++i) {
    std::atomic<bool> is_closed{false};
    std::thread others([&] {
      while (!is_closed)
        for (const size_t k : {(i + 1) % count, (i + count - 1) % count})
          if (k != i && ring[k]) cn_progress(ring[k].get(), 0);
    });
    EndpointHandle closing = std::move(ring[i]);
    closing.reset();
    is_closed = true;
    others.join();
  }
}

}  // namespace
}  // namespace commnet::tests
