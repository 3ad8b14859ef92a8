// Tests the further connections of a peer.
#include "raw_peer.h"
#include "support.h"

namespace commnet::tests {
namespace {

struct Streams : testing::Test {
  EndpointHandle a = make_endpoint("a", "sockets");
  RawPeer raw{cn_endpoint_address(a.get())};
  cn_peer* peer = nullptr;

  void SetUp() override {
    ASSERT_EQ(raw.greet("raw", "a secret"), CN_OK);
    ASSERT_NE(peer = cn_find_peer(a.get(), "raw"), nullptr);
  }
};

// Its other side may have given it up because its handshake took too long.
TEST_F(Streams, AConnectionThatEndsUnusedIsNotMissed) {
  {
    RawPeer further(cn_endpoint_address(a.get()));
    ASSERT_EQ(further.greet("raw", "a secret", 1, raw.link()), CN_OK);
  }
  EXPECT_FALSE(soon([&] { return !cn_peer_is_connected(peer); }, 1'300));
}

TEST_F(Streams, AConnectionThatEndsAfterPiecesEndsThePeer) {
  {
    RawPeer further(cn_endpoint_address(a.get()));
    ASSERT_EQ(further.greet("raw", "a secret", 1, raw.link()), CN_OK);
    ASSERT_TRUE(further.send_right({.type = FrameType::kReadPiece, .id = 1}, "x", 1));
  }
  EXPECT_TRUE(soon([&] { return !cn_peer_is_connected(peer); }));
}

}  // namespace
}  // namespace commnet::tests
