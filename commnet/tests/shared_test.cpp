// Tests the transport through shared memory: where it is used, what it leaves behind, and sides that write nonsense.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "child.h"
#include "forbid.h"
#include "support.h"
#include "transports/shared/letter.h"
#include "transports/shared/segment.h"

namespace commnet::tests {
namespace {

using shared::Letter;
using shared::LetterKind;
using shared::Segment;

// Returns how many lines of a file have a text.
int count_lines(const char* file, const std::string& text) {
  std::ifstream lines(file);
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += line.find(text) != std::string::npos;
  return count;
}
// Returns whether the system lets this process do something, which a child tries.
bool is_permitted(bool (*act)()) {
  const pid_t child = fork();
  if (child == 0) _exit(act() ? 0 : 1);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
bool leave_network() { return unshare(CLONE_NEWNET) == 0; }
bool become_nobody() { return setuid(65534) == 0; }

int count_mapped() { return count_lines("/proc/self/maps", "memfd:commnet"); }

// Tells this process by which transport a child, with all of them, has connected.
std::string transport_of_child(const std::function<void()>& prepare) {
  Child child(
      "",
      [](cn_endpoint* endpoint, const std::string& address) {
        const std::string transport = cn_peer_transport(connect(endpoint, address.c_str()));
        cn_operation* operation = nullptr;
        cn_send(cn_find_peer(endpoint, "own"), 1, 0, transport.data(), transport.size(), nullptr, &operation);
        cn_wait(operation, kPatience);
      },
      prepare);
  const EndpointHandle own = make_endpoint("own", "");
  EXPECT_EQ(cn_set_event_handler(own.get(), 1, nullptr), CN_OK);
  child.tell(cn_endpoint_address(own.get()));
  cn_event event{};
  event.struct_size = sizeof event;
  EXPECT_EQ(cn_next_event(own.get(), &event, kPatience), CN_OK) << cn_error();
  if (!event.message) return "";
  const std::string transport(static_cast<const char*>(cn_message_data(event.message)), cn_message_size(event.message));
  cn_message_release(event.message);
  return transport;
}

TEST(Shared, ProcessesOfOneHostUseItByThemselves) { EXPECT_EQ(transport_of_child({}), "shared"); }

TEST(Shared, OthersTakeItsPlaceWhereThereIsNoMemoryToShare) {
  for (const auto& [call, error] :
       {std::pair(SYS_memfd_create, ENOSYS), std::pair(SYS_memfd_create, EPERM), std::pair(SYS_fallocate, ENOSPC)})
    EXPECT_NE(transport_of_child([&] { forbid(call, error); }), "shared") << std::strerror(error);
}

TEST(Shared, OthersTakeItsPlaceBetweenNamespaces) {
  if (!is_permitted(leave_network)) GTEST_SKIP() << "the system does not permit to make a namespace";
  // Without a network, there is no other transport to this process either.
  Child child(
      "",
      [](cn_endpoint* endpoint, const std::string& address) {
        EXPECT_EQ(complete([&](cn_operation** op) { return cn_connect(endpoint, address.c_str(), nullptr, op); }),
                  CN_UNREACHABLE);
      },
      [] { EXPECT_TRUE(leave_network()); });
  const EndpointHandle own = make_endpoint("own", "");
  child.tell(cn_endpoint_address(own.get()));
  EXPECT_TRUE(child.ends_well());
}

TEST(Shared, OtherUsersAreKeptOut) {
  if (!is_permitted(become_nobody)) GTEST_SKIP() << "the system does not permit to become another user";
  EXPECT_EQ(transport_of_child([] { EXPECT_TRUE(become_nobody()); }), "sockets");
}

TEST(Shared, NothingIsLeftOfAProcessThatIsKilled) {
  const int mapped = count_mapped();
  for (int i = 0; i < 5; ++i) {
    Child child("shared", [](cn_endpoint* endpoint, const std::string& address) {
      cn_peer* const peer = connect(endpoint, address.c_str());
      cn_memory* memory = nullptr;
      void* data = nullptr;
      cn_token token;
      EXPECT_EQ(cn_memory_alloc(endpoint, 1 << 20, CN_READ, &data, &memory), CN_OK);
      EXPECT_EQ(cn_memory_token(memory, CN_READ, &token), CN_OK);
      cn_call call{};
      call.struct_size = sizeof call;
      call.flags = CN_COPY;
      cn_send(peer, 1, 0, &token, sizeof token, &call, nullptr);
      for (;;) pause();
    });
    const EndpointHandle own = make_endpoint("own", "shared");
    EXPECT_EQ(cn_set_event_handler(own.get(), 1, nullptr), CN_OK);
    child.tell(cn_endpoint_address(own.get()));
    cn_event event{};
    event.struct_size = sizeof event;
    ASSERT_EQ(cn_next_event(own.get(), &event, kPatience), CN_OK) << cn_error();
    cn_token token;
    std::memcpy(&token, cn_message_data(event.message), sizeof token);
    cn_peer* const peer = cn_message_peer(event.message);
    cn_message_release(event.message);
    char byte = 1;
    EXPECT_EQ(complete([&](cn_operation** op) { return cn_read(peer, &token, 0, &byte, 1, nullptr, op); }), CN_OK);
    EXPECT_EQ(byte, 0);
    EXPECT_GT(count_mapped(), mapped);
    child.end();
    EXPECT_TRUE(soon([&] { return !cn_peer_is_connected(peer); }));
    EXPECT_TRUE(soon([&] { return count_mapped() == mapped; }));
  }
}

// What is allocated is read where the system does not permit to read other memory, and is gone once it is released.
TEST(Shared, AllocatedMemoryNeedsNoHelp) {
  Child child("shared", [](cn_endpoint* endpoint, const std::string& address) {
    forbid(SYS_process_vm_readv, EPERM);
    cn_peer* const peer = connect(endpoint, address.c_str());
    EXPECT_EQ(cn_set_event_handler(endpoint, 1, nullptr), CN_OK);
    const int mapped = count_mapped();
    std::vector<char> there(3 << 20), here(3 << 20);
    for (int i = 0; i < 3; ++i) {
      cn_call call{};
      call.struct_size = sizeof call;
      cn_send(peer, 1, 0, "", 0, nullptr, nullptr);
      cn_event event{};
      event.struct_size = sizeof event;
      ASSERT_EQ(cn_next_event(endpoint, &event, kPatience), CN_OK) << cn_error();
      cn_token token;
      std::memcpy(&token, cn_message_data(event.message), sizeof token);
      cn_message_release(event.message);
      std::ranges::fill(there, static_cast<char>(i + 1));
      EXPECT_EQ(complete([&](cn_operation** op) {
                  return cn_write(peer, &token, 0, there.data(), there.size(), nullptr, op);
                }),
                CN_OK)
          << cn_error();
      EXPECT_EQ(
          complete([&](cn_operation** op) { return cn_read(peer, &token, 0, here.data(), here.size(), nullptr, op); }),
          CN_OK)
          << cn_error();
      EXPECT_EQ(here, there);
      EXPECT_EQ(count_mapped(), mapped + 1);
      EXPECT_EQ(complete([&](cn_operation** op) {
                  return cn_read(peer, &token, here.size() - 1, here.data(), 2, nullptr, op);
                }),
                CN_OUT_OF_RANGE);
      cn_send(peer, 1, 0, "", 0, nullptr, nullptr);
      EXPECT_TRUE(soon([&] { return count_mapped() == mapped; }));
      EXPECT_EQ(complete([&](cn_operation** op) { return cn_read(peer, &token, 0, here.data(), 1, nullptr, op); }),
                CN_DENIED);
    }
    cn_send(peer, 1, 0, "", 0, nullptr, nullptr);
  });
  const EndpointHandle own = make_endpoint("own", "shared");
  EXPECT_EQ(cn_set_event_handler(own.get(), 1, nullptr), CN_OK);
  child.tell(cn_endpoint_address(own.get()));
  const auto wait = [&] {
    cn_event event{};
    event.struct_size = sizeof event;
    EXPECT_EQ(cn_next_event(own.get(), &event, kPatience), CN_OK) << cn_error();
    cn_peer* const peer = cn_message_peer(event.message);
    cn_message_release(event.message);
    return peer;
  };
  for (int i = 0; i < 3; ++i) {
    cn_peer* const peer = wait();
    cn_memory* memory = nullptr;
    void* data = nullptr;
    cn_token token;
    ASSERT_EQ(cn_memory_alloc(own.get(), 3 << 20, CN_READ | CN_WRITE, &data, &memory), CN_OK);
    ASSERT_EQ(cn_memory_token(memory, CN_READ | CN_WRITE, &token), CN_OK);
    EXPECT_EQ(complete([&](cn_operation** op) { return cn_send(peer, 1, 0, &token, sizeof token, nullptr, op); }),
              CN_OK);
    wait();
    const auto* const bytes = static_cast<const char*>(data);
    EXPECT_EQ(std::count(bytes, bytes + (3 << 20), i + 1), 3 << 20);
    cn_memory_release(memory);
  }
  wait();
  EXPECT_TRUE(child.ends_well());
}

TEST(Shared, AllocationsThatCannotBe) {
  const EndpointHandle own = make_endpoint("own", "shared");
  cn_memory* memory = nullptr;
  void* data = nullptr;
  EXPECT_EQ(cn_memory_alloc(own.get(), 0, CN_READ, &data, &memory), CN_INVALID_ARGUMENT);
  EXPECT_EQ(cn_memory_alloc(own.get(), 10, 0, &data, &memory), CN_INVALID_ARGUMENT);
  EXPECT_EQ(cn_memory_alloc(own.get(), 10, CN_READ, nullptr, &memory), CN_INVALID_ARGUMENT);
  EXPECT_EQ(cn_memory_alloc(nullptr, 10, CN_READ, &data, &memory), CN_INVALID_ARGUMENT);
  for (const size_t size : {size_t{1} << 46, size_t{1} << 62, SIZE_MAX, SIZE_MAX - 4096})
    EXPECT_EQ(cn_memory_alloc(own.get(), size, CN_READ, &data, &memory), CN_OUT_OF_MEMORY) << size << cn_error();
}

// A program of the same user that connects to an endpoint by itself.
class Stranger {
 public:
  explicit Stranger(const std::string& address) {
    const size_t begin = address.find("shared:") + 7;
    const std::string name = address.substr(begin, address.find(',', begin) - begin);
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    std::memcpy(place.sun_path + 1, name.data(), name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    socket_ = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&place), size), 0) << std::strerror(errno);
    const timeval patience{10, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Stranger() {
    close(socket_);
    if (segment_) munmap(segment_, sizeof(Segment));
    for (const int file : files_) close(file);
  }
  int add_file(int file) { return files_.emplace_back(file); }
  // Sends the letter by which a connection begins.
  void greet() {
    const int bell = add_file(eventfd(0, EFD_NONBLOCK)), memory = add_file(memfd_create("stranger", MFD_ALLOW_SEALING));
    EXPECT_EQ(ftruncate(memory, sizeof(Segment)), 0);
    EXPECT_EQ(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    segment_ = static_cast<Segment*>(mmap(nullptr, sizeof(Segment), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0));
    EXPECT_EQ(shared::send_letter(socket_, hello(), {bell, memory}), 0);
    char answer[sizeof(Letter)];
    EXPECT_EQ(recv(socket_, answer, sizeof answer, 0), static_cast<ssize_t>(sizeof answer));
  }
  static Letter hello() { return {LetterKind::kHello, shared::kRing, {}, 0, 0}; }
  // Returns whether the endpoint closes the connection.
  bool is_thrown_out() const {
    char bytes[sizeof(Letter)];
    ssize_t size = 1;
    while (size > 0) size = recv(socket_, bytes, sizeof bytes, 0);
    return size == 0 || errno == ECONNRESET;
  }
  int number() const { return socket_; }
  Segment& segment() const { return *segment_; }
  // Wakes the endpoint, which may sleep: its own bell has come with its letter, but a letter wakes it as well.
  void wake() const { send(socket_, "", 1, MSG_NOSIGNAL); }

 private:
  int socket_ = -1;
  Segment* segment_ = nullptr;
  std::vector<int> files_;
};

class HostileShared : public testing::Test {
 protected:
  // The endpoint still works, and its other peer is there.
  void expect_well() {
    EXPECT_TRUE(cn_peer_is_connected(peer));
    EXPECT_EQ(complete([&](cn_operation** op) { return cn_send(peer, 7, 0, "well", 4, nullptr, op); }), CN_OK);
  }

  const EndpointHandle a = make_endpoint("a", "shared"), b = make_endpoint("b", "shared");
  cn_peer* const peer = connect(a.get(), cn_endpoint_address(b.get()));
};

TEST_F(HostileShared, LettersThatAreNone) {
  const int bell = eventfd(0, EFD_NONBLOCK);
  const auto memory = [](uint64_t size, bool is_sealed) {
    const int file = memfd_create("stranger", MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(file, static_cast<off_t>(size)), 0);
    if (is_sealed) {
      EXPECT_EQ(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    }
    return file;
  };
  const int open_file = memory(sizeof(Segment), false), small = memory(4096, true),
            good = memory(sizeof(Segment), true);
  Letter other_ring = Stranger::hello(), other_kind = Stranger::hello();
  other_ring.ring = 4096;
  other_kind.kind = LetterKind::kRegion;
  const std::function<void(Stranger&)> acts[] = {
      [](Stranger& stranger) { send(stranger.number(), "nonsense", 8, MSG_NOSIGNAL); },
      [](Stranger& stranger) { send(stranger.number(), std::string(100'000, 'x').data(), 100'000, MSG_NOSIGNAL); },
      [](Stranger& stranger) {
        const Letter letter = Stranger::hello();
        send(stranger.number(), &letter, sizeof letter, MSG_NOSIGNAL);
      },
      [&](Stranger& stranger) { shared::send_letter(stranger.number(), Stranger::hello(), {bell}); },
      [&](Stranger& stranger) {
        shared::send_letter(stranger.number(), Stranger::hello(), {bell, open_file});
      },
      [&](Stranger& stranger) {
        shared::send_letter(stranger.number(), Stranger::hello(), {bell, small});
      },
      [&](Stranger& stranger) {
        shared::send_letter(stranger.number(), Stranger::hello(), {bell, bell});
      },
      [&](Stranger& stranger) {
        shared::send_letter(stranger.number(), other_ring, {bell, good});
      },
      [&](Stranger& stranger) {
        shared::send_letter(stranger.number(), other_kind, {bell, good});
      },
  };
  for (const auto& act : acts) {
    Stranger stranger(cn_endpoint_address(b.get()));
    act(stranger);
    EXPECT_TRUE(stranger.is_thrown_out()) << &act - acts;
  }
  expect_well();
  for (const int file : {bell, open_file, small, good}) close(file);
}

TEST_F(HostileShared, ManyWhoSayNothing) {
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (int i = 0; i < 200; ++i) strangers.push_back(std::make_unique<Stranger>(cn_endpoint_address(b.get())));
  const EndpointHandle c = make_endpoint("c", "shared");
  EXPECT_NE(connect(c.get(), cn_endpoint_address(b.get())), nullptr);
  expect_well();
}

TEST_F(HostileShared, NonsenseInTheRing) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    Stranger stranger(cn_endpoint_address(b.get()));
    stranger.greet();
    Segment& segment = stranger.segment();
    auto* const words = reinterpret_cast<uint64_t*>(segment.bytes[0]);
    // A record of nonsense, nonsense everywhere, a size that is too large, and numbers of the reader's.
    for (size_t k = 1; k < 4000; ++k) words[k] = random();
    if (i % 4 == 1)
      for (uint64_t* word = words + 1; word < words + sizeof(Segment::bytes[0]) / 8; ++word) *word = random() % 100;
    for (shared::RingState& ring : segment.rings) {
      ring.read = random();
      ring.writer_awaits = random();
    }
    for (shared::CopyState& copies : segment.copies)
      for (std::atomic<uint64_t>& count : copies.revocations) count = random();
    const uint64_t sizes[] = {56, 1 + random() % 1000, shared::kRecord, UINT64_MAX};
    reinterpret_cast<shared::RecordSize*>(words)->store(sizes[i % 4]);
    stranger.wake();
    EXPECT_TRUE(stranger.is_thrown_out()) << i;
  }
  expect_well();
}

TEST_F(HostileShared, TheRingIsFullWhileNobodyTakesMessages) {
  cn_peer* const to_b = peer;
  // 8 MiB of messages that nobody takes, and more that wait: the ring is full, and the link goes on living.
  const std::vector<char> bytes(1 << 20);
  std::vector<cn_operation*> operations(16);
  for (cn_operation*& each : operations)
    ASSERT_EQ(cn_send(to_b, 9, 0, bytes.data(), bytes.size(), nullptr, &each), CN_OK) << cn_error();
  usleep(200'000);
  EXPECT_TRUE(cn_peer_is_connected(to_b));
  EXPECT_FALSE(cn_test(operations.back(), nullptr));
  std::atomic<int> count{0};
  EXPECT_EQ(cn_set_handler(
                b.get(), 9, [](void* user, cn_message*) { ++*static_cast<std::atomic<int>*>(user); }, &count),
            CN_OK);
  for (cn_operation* const each : operations) {
    EXPECT_EQ(cn_wait(each, kPatience), CN_OK) << cn_error();
    cn_operation_release(each);
  }
  EXPECT_TRUE(soon([&] { return count == 16; }));
}

}  // namespace
}  // namespace commnet::tests
