// Tests that a peer that knows the secret, but does not follow the protocol, harms nobody.
#include <atomic>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "raw_peer.h"
#include "support.h"

namespace commnet::tests {
namespace {

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

class Hostile : public testing::Test {
 protected:
  void SetUp() override {
    a = make_endpoint("a", "sockets", [](auto& options) {
      options.listen = "tcp://127.0.0.1:0";
      options.message_limit = 1 << 20;
      options.receive_window = 100'000;
    });
    raw = std::make_unique<RawPeer>(cn_endpoint_address(a.get()));
    ASSERT_EQ(raw->greet("raw", "a secret"), CN_OK);
    peer = cn_find_peer(a.get(), "raw");
    ASSERT_NE(peer, nullptr);
  }
  void expect_thrown_out() {
    EXPECT_TRUE(raw->is_closed_by_other());
    EXPECT_TRUE(soon([&] { return !cn_peer_is_connected(peer); }));
  }
  cn_token expose(std::vector<uint8_t>& bytes, uint32_t rights) {
    cn_memory* memory = nullptr;
    EXPECT_EQ(cn_memory_register(a.get(), bytes.data(), bytes.size(), rights, &memory), CN_OK);
    cn_token token{};
    EXPECT_EQ(cn_memory_token(memory, rights, &token), CN_OK);
    memories.push_back(memory);
    return token;
  }
  void TearDown() override {
    raw.reset();
    for (cn_memory* const memory : memories) cn_memory_release(memory);
  }

  EndpointHandle a;
  std::unique_ptr<RawPeer> raw;
  cn_peer* peer = nullptr;
  std::vector<cn_memory*> memories;
};

TEST_F(Hostile, MessagesBeyondTheLimit) {
  raw->send({.type = FrameType::kMessage, .total = kHuge, .size = 10}, "0123456789", 10);
  expect_thrown_out();
}

TEST_F(Hostile, MessagesBeyondTheWindow) {
  const std::vector<uint8_t> bytes(60'000);
  for (int i = 0; i < 3; ++i)
    raw->send_right({.type = FrameType::kMessage, .a = 9, .total = bytes.size()}, bytes.data(), bytes.size());
  expect_thrown_out();
}

TEST_F(Hostile, PiecesThatDoNotContinueTheirMessage) {
  raw->send_right({.type = FrameType::kMessage, .offset = 5, .total = 10}, "01234", 5);
  expect_thrown_out();
}

TEST_F(Hostile, PiecesLargerThanTheirMessage) {
  raw->send_right({.type = FrameType::kMessage, .offset = 0, .total = 3}, "01234", 5);
  expect_thrown_out();
}

TEST_F(Hostile, PiecesWhoseTotalChanges) {
  raw->send_right({.type = FrameType::kMessage, .offset = 0, .total = 10}, "01234", 5);
  raw->send_right({.type = FrameType::kMessage, .offset = 5, .total = 1000}, "01234", 5);
  expect_thrown_out();
}

TEST_F(Hostile, PiecesWithoutBytes) {
  raw->send_right({.type = FrameType::kMessage, .offset = 0, .total = 10});
  expect_thrown_out();
}

TEST_F(Hostile, ControlFramesThatAreTooLong) {
  raw->send({.type = FrameType::kResult, .id = 1, .size = kHuge});
  expect_thrown_out();
}

TEST_F(Hostile, UnknownFrames) {
  for (const int type : {0, 1, 2, 3, 4, 18, 255}) {
    SetUp();
    raw->send_right({.type = static_cast<FrameType>(type)});
    expect_thrown_out();
  }
}

TEST_F(Hostile, WritesWithFewerOrMoreBytesThanTheySay) {
  std::vector<uint8_t> memory(1000, 1);
  const cn_token token = expose(memory, CN_READ | CN_WRITE);
  std::vector<uint8_t> payload(sizeof(Request) + 50, 9);
  for (const uint64_t size : {uint64_t{49}, uint64_t{51}, uint64_t{0}, uint64_t{1000}}) {
    SetUp();
    const cn_token fresh = expose(memory, CN_READ | CN_WRITE);
    const Request request{fresh, 0, size};
    std::memcpy(payload.data(), &request, sizeof request);
    raw->send_right({.type = FrameType::kWrite, .id = 1}, payload.data(), payload.size());
    expect_thrown_out();
  }
  (void)token;
  EXPECT_EQ(memory, std::vector<uint8_t>(1000, 1));
}

TEST_F(Hostile, OffsetsThatOverflow) {
  std::vector<uint8_t> memory(1000, 1);
  const cn_token token = expose(memory, CN_READ | CN_WRITE);
  uint64_t id = 0;
  for (const auto& [offset, size] :
       {std::pair{kHuge - 5, uint64_t{10}}, std::pair{kHuge, kHuge}, std::pair{uint64_t{1000}, uint64_t{1}},
        std::pair{uint64_t{1}, kHuge}, std::pair{uint64_t{990}, uint64_t{11}}}) {
    const Request request{token, offset, size};
    raw->send_right({.type = FrameType::kRead, .id = ++id}, &request, sizeof request);
    RawPeer::Arrived arrived;
    ASSERT_TRUE(raw->receive(FrameType::kResult, arrived));
    EXPECT_EQ(arrived.frame.status, CN_OUT_OF_RANGE);
    EXPECT_EQ(arrived.frame.id, id);
  }
}

TEST_F(Hostile, WritePiecesOutsideOfTheirRange) {
  std::vector<uint8_t> memory(200'000, 1);
  const cn_token token = expose(memory, CN_WRITE);
  const Request request{token, 50'000, 100'000};
  for (const auto& [offset, size] : {std::pair{uint64_t{99'999}, uint64_t{2}}, std::pair{kHuge, uint64_t{2}},
                                     std::pair{uint64_t{0}, kHuge}, std::pair{uint64_t{0}, uint64_t{100'001}}}) {
    SetUp();
    const cn_token fresh = expose(memory, CN_WRITE);
    Request fresh_request = request;
    fresh_request.token = fresh;
    raw->send_right({.type = FrameType::kWrite, .id = 1}, &fresh_request, sizeof fresh_request);
    RawPeer::Arrived arrived;
    ASSERT_TRUE(raw->receive(FrameType::kResult, arrived));
    EXPECT_EQ(arrived.frame.flags, kGoOn);
    raw->send({.type = FrameType::kWritePiece, .id = 1, .offset = offset, .size = size}, "ab", 2);
    expect_thrown_out();
  }
  EXPECT_EQ(memory, std::vector<uint8_t>(200'000, 1));
}

// The memory of a request that was taken back must not be read by way of another request with its number.
TEST_F(Hostile, NumbersThatAreUsedAgainGiveNoRights) {
  std::vector<uint8_t> readable(8 << 20, 1), secret(8 << 20, 2);
  const cn_token can_read = expose(readable, CN_READ), can_write = expose(secret, CN_WRITE);
  const Request read{can_read, 0, readable.size()}, write{can_write, 0, secret.size()};
  // While this side does not receive, the first read stays in its turn.
  raw->send_right({.type = FrameType::kRead, .id = 1}, &read, sizeof read);
  raw->send_right({.type = FrameType::kRead, .id = 2}, &read, sizeof read);
  usleep(50'000);
  raw->send_right({.type = FrameType::kCancel, .id = 2});
  raw->send_right({.type = FrameType::kWrite, .id = 2}, &write, sizeof write);
  raw->send_right({.type = FrameType::kPing});
  RawPeer::Arrived arrived;
  while (raw->receive(arrived) && arrived.frame.type != FrameType::kPong)
    for (const uint8_t byte : arrived.payload) ASSERT_TRUE(arrived.frame.type != FrameType::kReadPiece || byte == 1);
  for (int i = 0; i < 20 && raw->receive(arrived); ++i) {
    if (arrived.frame.type == FrameType::kReadPiece) {
      ASSERT_EQ(arrived.payload[0], 1);
      if (arrived.frame.id == 1 && arrived.frame.offset + arrived.payload.size() == readable.size()) break;
    }
  }
}

TEST_F(Hostile, ReadPiecesOutsideOfTheirRange) {
  for (const auto& [offset, size] :
       {std::pair{uint64_t{0}, uint64_t{101}}, std::pair{kHuge, uint64_t{1}}, std::pair{uint64_t{100}, uint64_t{1}}}) {
    SetUp();
    std::vector<uint8_t> guarded(300, 7);
    const cn_token token{};
    cn_operation* operation = nullptr;
    ASSERT_EQ(cn_read(peer, &token, 0, guarded.data() + 100, 100, nullptr, &operation), CN_OK);
    RawPeer::Arrived arrived;
    ASSERT_TRUE(raw->receive(FrameType::kRead, arrived));
    raw->send({.type = FrameType::kReadPiece, .id = arrived.frame.id, .offset = offset, .size = size}, "x", 1);
    expect_thrown_out();
    EXPECT_EQ(cn_wait(operation, kPatience), CN_PEER_LOST);
    EXPECT_NE(std::string(cn_error()).find("'raw'"), std::string::npos);
    cn_operation_release(operation);
    for (size_t i = 0; i < 300; ++i) EXPECT_TRUE(guarded[i] == 7 || (i >= 100 && i < 200));
  }
}

// A read must not end while a piece of it still arrives over another connection.
TEST_F(Hostile, PiecesTwice) {
  std::vector<uint8_t> bytes(200'000);
  const cn_token token{};
  cn_operation* operation = nullptr;
  ASSERT_EQ(cn_read(peer, &token, 0, bytes.data(), bytes.size(), nullptr, &operation), CN_OK);
  RawPeer::Arrived arrived;
  ASSERT_TRUE(raw->receive(FrameType::kRead, arrived));
  RawPeer second(cn_endpoint_address(a.get()));
  ASSERT_EQ(second.greet("raw", "a secret", 1, raw->link()), CN_OK);
  // The second connection begins the whole range, the first one sends it.
  const std::vector<uint8_t> sent(bytes.size(), 5);
  second.send({.type = FrameType::kReadPiece, .id = arrived.frame.id, .size = sent.size()}, sent.data(), 100'000);
  usleep(20'000);
  raw->send_right({.type = FrameType::kReadPiece, .id = arrived.frame.id}, sent.data(), sent.size());
  EXPECT_EQ(cn_wait(operation, kPatience), CN_PEER_LOST);
  cn_operation_release(operation);
  expect_thrown_out();
}

// The destination is free once the read has ended, whatever still arrives for it.
TEST_F(Hostile, AResultBeforeThePiecesAreThere) {
  auto bytes = std::make_unique<std::vector<uint8_t>>(200'000);
  const cn_token token{};
  cn_operation* operation = nullptr;
  ASSERT_EQ(cn_read(peer, &token, 0, bytes->data(), bytes->size(), nullptr, &operation), CN_OK);
  RawPeer::Arrived arrived;
  ASSERT_TRUE(raw->receive(FrameType::kRead, arrived));
  RawPeer second(cn_endpoint_address(a.get()));
  ASSERT_EQ(second.greet("raw", "a secret", 1, raw->link()), CN_OK);
  const std::vector<uint8_t> sent(bytes->size(), 5);
  second.send({.type = FrameType::kReadPiece, .id = arrived.frame.id, .size = sent.size()}, sent.data(), 100'000);
  usleep(20'000);
  raw->send_right({.type = FrameType::kResult, .status = CN_DENIED, .id = arrived.frame.id}, "no", 2);
  EXPECT_EQ(cn_wait(operation, kPatience), CN_DENIED);
  cn_operation_release(operation);
  bytes.reset();  // a sanitizer finds whoever still writes there
  second.send_bytes(sent.data(), 100'000);
  raw->send_right({.type = FrameType::kPing});
  EXPECT_TRUE(raw->receive(FrameType::kPong, arrived));
}

TEST_F(Hostile, ResultsOfOperationsThatThereAreNot) {
  raw->send_right({.type = FrameType::kResult, .id = 12345});
  raw->send_right({.type = FrameType::kResult, .flags = kGoOn, .id = 12345, .offset = 1});
  raw->send_right({.type = FrameType::kCancel, .id = 12345});
  raw->send_right({.type = FrameType::kCredit, .total = kHuge});
  raw->send_right({.type = FrameType::kReadPiece, .id = 77}, "abc", 3);
  raw->send_right({.type = FrameType::kWritePiece, .id = 77}, "abc", 3);
  raw->send_right({.type = FrameType::kPing});
  RawPeer::Arrived arrived;
  EXPECT_TRUE(raw->receive(FrameType::kPong, arrived));
}

TEST_F(Hostile, AddressesForMemoryThatItDoesNotShare) {
  std::vector<uint8_t> bytes(200'000);
  const cn_token token{};
  cn_operation* operation = nullptr;
  ASSERT_EQ(cn_read(peer, &token, 0, bytes.data(), bytes.size(), nullptr, &operation), CN_OK);
  RawPeer::Arrived arrived;
  ASSERT_TRUE(raw->receive(FrameType::kRead, arrived));
  raw->send_right({.type = FrameType::kResult, .flags = kGoOn, .id = arrived.frame.id, .offset = 0x1000});
  EXPECT_EQ(cn_wait(operation, kPatience), CN_PEER_LOST);
  cn_operation_release(operation);
}

TEST_F(Hostile, TooManyRequests) {
  std::vector<uint8_t> memory(1 << 20);
  const cn_token token = expose(memory, CN_WRITE);
  const Request request{token, 0, memory.size()};
  uint64_t id = 0;
  bool is_open = true;
  while (is_open && id < 200'000)
    is_open = raw->send_right({.type = FrameType::kWrite, .id = ++id}, &request, sizeof request);
  EXPECT_TRUE(soon([&] { return !cn_peer_is_connected(peer); }));
}

// What a peer asks for without reading the answers waits with the system, not here, until the peer is given up.
TEST(Answers, APeerThatDoesNotReadTakesNoMemory) {
  const EndpointHandle a = make_endpoint("a", "sockets", [](auto& options) {
    options.listen = "tcp://127.0.0.1:0";
    options.peer_timeout_ms = 1000;
  });
  ASSERT_EQ(cn_watch_peers(a.get(), true), CN_OK);
  const Request request{};
  for (const FrameType type : {FrameType::kPing, FrameType::kWrite}) {
    RawPeer raw(cn_endpoint_address(a.get()));
    ASSERT_EQ(raw.greet("raw", "a secret"), CN_OK);
    constexpr uint64_t kMany = 3'000'000;
    uint64_t id = 0;
    const size_t size = type == FrameType::kWrite ? sizeof request : 0;
    while (id < kMany && raw.send_right({.type = type, .id = id + 1}, &request, size)) ++id;
    EXPECT_LT(id, kMany);
    cn_event event{};
    event.struct_size = sizeof event;
    do {
      ASSERT_EQ(cn_next_event(a.get(), &event, kPatience), CN_OK);
    } while (event.kind != CN_EVENT_LEFT);
    EXPECT_EQ(std::string(event.error), "the peer 'raw' is lost: it does not read what it asks for");
  }
}

// A peer that reads slowly gets all answers.
TEST(Answers, APeerThatReadsSlowlyGetsThemAll) {
  for (const char* const transport : {"memory", "sockets"}) {
    const EndpointHandle a = make_endpoint("a", transport), b = make_endpoint("b", transport);
    // b asks, cancels and asks again while a has more answers to send than it keeps.
    std::vector<uint8_t> there(100), here(100);
    cn_memory* memory = nullptr;
    ASSERT_EQ(cn_memory_register(a.get(), there.data(), there.size(), CN_WRITE, &memory), CN_OK);
    cn_token token{};
    ASSERT_EQ(cn_memory_token(memory, CN_WRITE, &token), CN_OK);
    cn_peer* const to_a = connect(b.get(), cn_endpoint_address(a.get()));
    for (int i = 0; i < 100'000; ++i) {
      cn_operation* operation = nullptr;
      ASSERT_EQ(cn_write(to_a, &token, 0, here.data(), here.size(), nullptr, &operation), CN_OK) << cn_error();
      cn_cancel(operation);
      cn_operation_release(operation);
    }
    EXPECT_EQ(
        complete([&](cn_operation** op) { return cn_write(to_a, &token, 0, here.data(), here.size(), nullptr, op); }),
        CN_OK)
        << cn_error();
    cn_memory_release(memory);
  }
}

TEST(Answers, PingsOfASlowReaderAreAllAnswered) {
  const EndpointHandle a = make_endpoint("a", "sockets", [](auto& options) { options.listen = "tcp://127.0.0.1:0"; });
  RawPeer raw(cn_endpoint_address(a.get()));
  ASSERT_EQ(raw.greet("raw", "a secret"), CN_OK);
  constexpr int kMany = 400'000;
  std::thread sender([&] {
    const std::vector<Frame> pings(1000, Frame{.type = FrameType::kPing});
    for (int i = 0; i < kMany / 1000; ++i) raw.send_bytes(pings.data(), pings.size() * sizeof(Frame));
  });
  usleep(300'000);
  RawPeer::Arrived arrived;
  int answers = 0;
  while (answers < kMany && raw.receive(arrived)) answers += arrived.frame.type == FrameType::kPong;
  EXPECT_EQ(answers, kMany);
  sender.join();
}

}  // namespace
}  // namespace commnet::tests
