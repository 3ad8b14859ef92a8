// Tests the copies that a process makes of the memory of another one: that they end when the memory is taken back, and
// what becomes of them when the other process ends or the system no longer permits them.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "child.h"
#include "forbid.h"
#include "support.h"

namespace commnet::tests {
namespace {

// Sanitizers make it slow to fill and to look at memory.
constexpr size_t kSize = (kIsSanitized ? 6 : 48) << 20;
constexpr int kRounds = kIsSanitized ? 8 : 30;
constexpr char kBefore = 1, kAfter = 2;
// The numbers of messages.
constexpr uint32_t kToken = 1, kReport = 2, kGo = 3;

struct Report {
  cn_status status;
  bool has_seen_after;  // whether there were bytes that the memory got after it was taken back
};

// Messages of a kind, one after the other.
class Inbox {
 public:
  Inbox(cn_endpoint* endpoint) : endpoint_(endpoint) {
    for (const uint32_t number : {kToken, kReport, kGo}) cn_set_event_handler(endpoint, number, nullptr);
  }
  template <class Content>
  Content next() {
    cn_event event{};
    event.struct_size = sizeof event;
    EXPECT_EQ(cn_next_event(endpoint_, &event, kPatience), CN_OK) << cn_error();
    Content content{};
    if (event.message && cn_message_size(event.message) == sizeof content)
      std::memcpy(&content, cn_message_data(event.message), sizeof content);
    peer_ = event.message ? cn_message_peer(event.message) : nullptr;
    cn_message_release(event.message);
    return content;
  }
  // Returns the peer of the last message.
  cn_peer* peer() const { return peer_; }

 private:
  cn_endpoint* const endpoint_;
  cn_peer* peer_ = nullptr;
};

template <class Content>
void tell(cn_peer* peer, uint32_t number, const Content& content) {
  cn_call call{};
  call.struct_size = sizeof call;
  call.flags = CN_COPY;
  EXPECT_EQ(cn_send(peer, number, 0, &content, sizeof content, &call, nullptr), CN_OK) << cn_error();
}

bool has(const std::vector<char>& bytes, char value) { return std::ranges::find(bytes, value) != bytes.end(); }

cn_memory* share(cn_endpoint* endpoint, std::vector<char>& bytes, uint32_t rights, cn_token* token) {
  cn_memory* memory = nullptr;
  EXPECT_EQ(cn_memory_register(endpoint, bytes.data(), bytes.size(), rights, &memory), CN_OK);
  EXPECT_EQ(cn_memory_token(memory, rights, token), CN_OK);
  return memory;
}

TEST(Copy, NothingIsReadOnceMemoryIsReleased) {
  Child child("shared", [](cn_endpoint* endpoint, const std::string& address) {
    Inbox inbox(endpoint);
    cn_peer* const peer = connect(endpoint, address.c_str());
    tell(peer, kGo, 0);
    std::vector<char> here(kSize);
    for (int i = 0; i < kRounds; ++i) {
      const auto token = inbox.next<cn_token>();
      std::ranges::fill(here, 0);
      const cn_status status =
          complete([&](cn_operation** op) { return cn_read(peer, &token, 0, here.data(), kSize, nullptr, op); });
      tell(peer, kReport, Report{status, has(here, kAfter)});
    }
    inbox.next<int>();
  });
  const EndpointHandle own = make_endpoint("own", "shared");
  Inbox inbox(own.get());
  child.tell(cn_endpoint_address(own.get()));
  inbox.next<int>();
  cn_peer* const peer = inbox.peer();
  std::vector<char> bytes(kSize);
  int denied = 0;
  for (int i = 0; i < kRounds; ++i) {
    std::ranges::fill(bytes, kBefore);
    cn_token token;
    cn_memory* const memory = share(own.get(), bytes, CN_READ, &token);
    tell(peer, kToken, token);
    usleep(static_cast<unsigned>(i * 300));
    cn_memory_release(memory);
    std::ranges::fill(bytes, kAfter);
    const auto report = inbox.next<Report>();
    EXPECT_FALSE(report.has_seen_after) << i;
    EXPECT_TRUE(report.status == CN_OK || report.status == CN_DENIED) << cn_status_name(report.status);
    denied += report.status == CN_DENIED;
  }
  EXPECT_GT(denied, 0);
  tell(peer, kGo, 0);
  EXPECT_TRUE(child.ends_well());
}

TEST(Copy, NothingIsReadOfAWriteThatWasCancelled) {
  Child child("shared", [](cn_endpoint* endpoint, const std::string& address) {
    Inbox inbox(endpoint);
    cn_peer* const peer = connect(endpoint, address.c_str());
    std::vector<char> here(kSize);
    for (int i = 0; i < kRounds; ++i) {
      std::ranges::fill(here, 0);
      cn_token token;
      cn_memory* const memory = share(endpoint, here, CN_WRITE, &token);
      tell(peer, kToken, token);
      inbox.next<int>();
      cn_memory_release(memory);
      tell(peer, kReport, Report{CN_OK, has(here, kAfter)});
    }
    inbox.next<int>();
  });
  const EndpointHandle own = make_endpoint("own", "shared");
  Inbox inbox(own.get());
  child.tell(cn_endpoint_address(own.get()));
  std::vector<char> bytes(kSize);
  for (int i = 0; i < kRounds; ++i) {
    std::ranges::fill(bytes, kBefore);
    const auto token = inbox.next<cn_token>();
    cn_operation* operation = nullptr;
    ASSERT_EQ(cn_write(inbox.peer(), &token, 0, bytes.data(), kSize, nullptr, &operation), CN_OK);
    usleep(static_cast<unsigned>(i * 300));
    cn_cancel(operation);
    const cn_status status = cn_wait(operation, kPatience);
    EXPECT_TRUE(status == CN_OK || status == CN_CANCELLED) << cn_status_name(status);
    std::ranges::fill(bytes, kAfter);
    cn_operation_release(operation);
    tell(inbox.peer(), kGo, 0);
    EXPECT_FALSE(inbox.next<Report>().has_seen_after) << i;
  }
  tell(inbox.peer(), kGo, 0);
  EXPECT_TRUE(child.ends_well());
}

// Begins writes and cancels them, which revokes what the other side copies of other memory, too.
class Revocations {
 public:
  Revocations(cn_peer* peer, const cn_token& token)
      : thread_([this, peer, token] {
          const std::vector<char> bytes(4 << 20);
          while (!is_done_) {
            cn_operation* operation = nullptr;
            EXPECT_EQ(cn_write(peer, &token, 0, bytes.data(), bytes.size(), nullptr, &operation), CN_OK);
            usleep(300);
            cn_cancel(operation);
            cn_operation_release(operation);
          }
        }) {}
  ~Revocations() {
    is_done_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> is_done_{false};
  std::thread thread_;
};

TEST(Copy, OtherCopiesGoOnAfterARevocation) {
  const auto exchange = [](cn_endpoint* endpoint, Inbox& inbox, cn_peer* peer, char mark) {
    std::vector<char> readable(kSize, mark), writable(kSize), scratch(4 << 20), here(kSize);
    cn_token own[3], other[3];
    cn_memory* const memories[] = {share(endpoint, readable, CN_READ, &own[0]),
                                   share(endpoint, writable, CN_WRITE, &own[1]),
                                   share(endpoint, scratch, CN_WRITE, &own[2])};
    for (const cn_token& token : own) tell(peer, kToken, token);
    for (cn_token& token : other) token = inbox.next<cn_token>();
    const char expected = mark == kBefore ? kAfter : kBefore;
    {
      const Revocations revocations(peer, other[2]);
      for (int i = 0; i < 5; ++i) {
        std::ranges::fill(here, 0);
        cn_operation* write = nullptr;
        ASSERT_EQ(cn_write(peer, &other[1], 0, readable.data(), kSize, nullptr, &write), CN_OK);
        EXPECT_EQ(
            complete([&](cn_operation** op) { return cn_read(peer, &other[0], 0, here.data(), kSize, nullptr, op); }),
            CN_OK)
            << cn_error();
        EXPECT_EQ(std::ranges::count(here, expected), static_cast<ptrdiff_t>(kSize));
        EXPECT_EQ(cn_wait(write, kPatience), CN_OK) << cn_error();
        cn_operation_release(write);
      }
    }
    tell(peer, kGo, 0);
    inbox.next<int>();
    EXPECT_EQ(std::ranges::count(writable, expected), static_cast<ptrdiff_t>(kSize));
    for (cn_memory* const memory : memories) cn_memory_release(memory);
  };
  Child child("shared", [&](cn_endpoint* endpoint, const std::string& address) {
    Inbox inbox(endpoint);
    cn_peer* const peer = connect(endpoint, address.c_str());
    tell(peer, kGo, 0);
    exchange(endpoint, inbox, peer, kAfter);
    tell(peer, kGo, 0);
    inbox.next<int>();
  });
  const EndpointHandle own = make_endpoint("own", "shared");
  Inbox inbox(own.get());
  child.tell(cn_endpoint_address(own.get()));
  inbox.next<int>();
  cn_peer* const peer = inbox.peer();
  exchange(own.get(), inbox, peer, kBefore);
  inbox.next<int>();
  tell(peer, kGo, 0);
  EXPECT_TRUE(child.ends_well());
}

TEST(Copy, TheEndOfAProcessIsThatOfItsPeer) {
  for (int i = 0; i < 6; ++i) {
    Child child("shared", [](cn_endpoint* endpoint, const std::string& address) {
      cn_peer* const peer = connect(endpoint, address.c_str());
      std::vector<char> bytes(kSize, kBefore);
      cn_token token;
      share(endpoint, bytes, CN_READ, &token);
      tell(peer, kToken, token);
      for (;;) pause();
    });
    const EndpointHandle own = make_endpoint("own", "shared");
    Inbox inbox(own.get());
    child.tell(cn_endpoint_address(own.get()));
    const auto token = inbox.next<cn_token>();
    std::vector<char> here(kSize);
    std::vector<cn_operation*> operations(10);
    for (cn_operation*& each : operations)
      ASSERT_EQ(cn_read(inbox.peer(), &token, 0, here.data(), kSize, nullptr, &each), CN_OK);
    usleep(static_cast<unsigned>(i * 2000));
    child.end();
    for (cn_operation* const each : operations) {
      const cn_status status = cn_wait(each, kPatience);
      EXPECT_TRUE(status == CN_OK || status == CN_PEER_LOST) << cn_status_name(status) << ": " << cn_error();
      cn_operation_release(each);
    }
    EXPECT_TRUE(soon([&] { return !cn_peer_is_connected(inbox.peer()); }));
  }
}

// Reads of this process, and writes to it, go over the socket once the system does not permit the copies any more.
TEST(Copy, WhatIsNoLongerPermittedTravelsInFrames) {
  const auto refuses = [](cn_endpoint* endpoint, const std::string& address) {
    Inbox inbox(endpoint);
    cn_peer* const peer = connect(endpoint, address.c_str());
    std::vector<char> bytes(kSize), here(kSize);
    cn_token own;
    cn_memory* const memory = share(endpoint, bytes, CN_WRITE, &own);
    tell(peer, kToken, own);
    const auto token = inbox.next<cn_token>();
    forbid(SYS_process_vm_readv, EPERM);
    EXPECT_EQ(complete([&](cn_operation** op) { return cn_read(peer, &token, 0, here.data(), kSize, nullptr, op); }),
              CN_OK)
        << cn_error();
    EXPECT_EQ(std::ranges::count(here, kBefore), static_cast<ptrdiff_t>(kSize));
    inbox.next<int>();
    EXPECT_EQ(std::ranges::count(bytes, kBefore), static_cast<ptrdiff_t>(kSize));
    cn_memory_release(memory);
  };
  Child child("shared", refuses);
  const EndpointHandle own = make_endpoint("own", "shared");
  Inbox inbox(own.get());
  child.tell(cn_endpoint_address(own.get()));
  const auto writable = inbox.next<cn_token>();
  cn_peer* const peer = inbox.peer();
  std::vector<char> bytes(kSize, kBefore);
  cn_token token;
  cn_memory* const memory = share(own.get(), bytes, CN_READ, &token);
  tell(peer, kToken, token);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(
        complete([&](cn_operation** op) { return cn_write(peer, &writable, 0, bytes.data(), kSize, nullptr, op); }),
        CN_OK)
        << cn_error();
  tell(peer, kGo, 0);
  EXPECT_TRUE(child.ends_well());
  cn_memory_release(memory);
}

}  // namespace
}  // namespace commnet::tests
