// Tests that memory is not used any more after its operation has been cancelled.
#include <sys/mman.h>

#include <cstring>

#include "raw_peer.h"
#include "support.h"

namespace commnet::tests {
namespace {

// The source of a write is unmapped after the cancellation: whoever still reads it fails.
TEST(Cancel, TheSourceOfAWriteIsFree) {
  constexpr size_t kSize = 64 << 20;  // more than sockets keep
  const EndpointHandle a = make_endpoint("a", "sockets");
  RawPeer raw(cn_endpoint_address(a.get()));
  ASSERT_EQ(raw.greet("raw", "a secret"), CN_OK);
  cn_peer* const peer = cn_find_peer(a.get(), "raw");
  ASSERT_NE(peer, nullptr);
  void* const source = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(source, MAP_FAILED);
  std::memset(source, 7, kSize);
  const cn_token token{};
  cn_operation* operation = nullptr;
  ASSERT_EQ(cn_write(peer, &token, 0, source, kSize, nullptr, &operation), CN_OK) << cn_error();
  RawPeer::Arrived arrived;
  ASSERT_TRUE(raw.receive(FrameType::kWrite, arrived));
  ASSERT_TRUE(raw.send_right({.type = FrameType::kResult, .flags = kGoOn, .id = arrived.frame.id}));
  // This peer does not read yet: a piece is still with the endpoint.
  usleep(100'000);
  cn_cancel(operation);
  EXPECT_EQ(cn_wait(operation, kPatience), CN_CANCELLED);
  cn_operation_release(operation);
  ASSERT_EQ(munmap(source, kSize), 0);
  size_t pieces = 0;
  while (raw.receive(arrived) && arrived.frame.type != FrameType::kCancel) {
    if (arrived.frame.type != FrameType::kWritePiece) continue;
    ++pieces;
    EXPECT_EQ(arrived.payload, std::vector<uint8_t>(arrived.payload.size(), 7));
  }
  EXPECT_EQ(arrived.frame.type, FrameType::kCancel);
  EXPECT_GT(pieces, 0u);
  EXPECT_TRUE(cn_peer_is_connected(peer));
}

}  // namespace
}  // namespace commnet::tests
