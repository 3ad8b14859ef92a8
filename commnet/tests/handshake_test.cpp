// Tests that nobody gets in without the secret, and that strangers harm nobody.
#include <memory>
#include <random>
#include <vector>

#include "raw_peer.h"
#include "support.h"

namespace commnet::tests {
namespace {

class Handshake : public testing::Test {
 protected:
  Handshake() {
    a = make_endpoint("a", "sockets", [](auto& options) {
      options.listen = "tcp://127.0.0.1:0";
      options.peer_timeout_ms = 1000;
    });
    address = cn_endpoint_address(a.get());
  }
  // Another endpoint gets in.
  void expect_open() {
    const EndpointHandle b = make_endpoint("b", "sockets");
    EXPECT_NE(connect(b.get(), address.c_str()), nullptr);
  }

  EndpointHandle a;
  std::string address;
};

TEST_F(Handshake, TheSecretOpens) {
  RawPeer peer(address);
  EXPECT_EQ(peer.greet("raw", "a secret"), CN_OK);
  EXPECT_TRUE(peer.has_proved());
  EXPECT_NE(cn_find_peer(a.get(), "raw"), nullptr);
}

TEST_F(Handshake, AnotherSecretDoesNot) {
  RawPeer peer(address);
  EXPECT_EQ(peer.greet("raw", "another"), CN_DENIED);
  // Nothing shows the stranger whether a secret that it tries later is the right one.
  EXPECT_FALSE(peer.has_proved());
  EXPECT_TRUE(peer.is_closed_by_other());
  EXPECT_EQ(cn_find_peer(a.get(), "raw"), nullptr);
  expect_open();
}

TEST_F(Handshake, ARecordingIsUseless) {
  std::vector<uint8_t> recording;
  {
    RawPeer peer(address);
    ASSERT_EQ(peer.greet("raw", "a secret"), CN_OK);
    recording = peer.recording();
  }
  ASSERT_TRUE(soon([&] { return cn_find_peer(a.get(), "raw") == nullptr; }));
  RawPeer replayed(address);
  replayed.send_bytes(recording.data(), recording.size());
  EXPECT_TRUE(replayed.is_closed_by_other());
  EXPECT_EQ(cn_find_peer(a.get(), "raw"), nullptr);
}

TEST_F(Handshake, FramesBeforeItsEndAreRefused) {
  for (int type = 0; type < 20; ++type) {
    if (type == static_cast<int>(FrameType::kHello)) continue;
    RawPeer peer(address);
    const std::vector<uint8_t> payload(100);
    peer.send_right({.type = static_cast<FrameType>(type), .id = 1}, payload.data(), payload.size());
    EXPECT_TRUE(peer.is_closed_by_other()) << type;
  }
  expect_open();
}

TEST_F(Handshake, GarbageIsRefused) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 50; ++i) {
    RawPeer peer(address);
    std::vector<uint8_t> bytes(48 + random() % 5000);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    peer.send_bytes(bytes.data(), bytes.size());
    EXPECT_TRUE(peer.is_closed_by_other());
  }
  expect_open();
}

TEST_F(Handshake, HalfOpenConnectionsEndInTime) {
  RawPeer silent(address), slow(address);
  slow.send_bytes("\1\0\0", 3);
  EXPECT_TRUE(silent.is_closed_by_other());
  EXPECT_TRUE(slow.is_closed_by_other());
}

TEST_F(Handshake, ManyStrangersDoNotKeepOthersOut) {
  std::vector<std::unique_ptr<RawPeer>> strangers;
  for (int i = 0; i < 400; ++i) strangers.push_back(std::make_unique<RawPeer>(address));
  expect_open();
}

TEST_F(Handshake, NamesAreChecked) {
  for (const std::string& name : {std::string(), std::string(256, 'x'), std::string("a\0b", 3), std::string("a")}) {
    RawPeer peer(address);
    EXPECT_NE(peer.greet(name, "a secret"), CN_OK) << name;
  }
  expect_open();
}

TEST_F(Handshake, StreamsNeedTheirLink) {
  RawPeer peer(address);
  ASSERT_EQ(peer.greet("raw", "a secret"), CN_OK);
  RawPeer wrong(address), right(address);
  EXPECT_EQ(wrong.greet("raw", "a secret", 1), CN_DENIED);
  EXPECT_EQ(right.greet("raw", "a secret", 1, peer.link()), CN_OK);
  std::vector<std::unique_ptr<RawPeer>> more;
  cn_status status = CN_OK;
  for (int i = 2; i < 40 && status == CN_OK; ++i) {
    more.push_back(std::make_unique<RawPeer>(address));
    status = more.back()->greet("raw", "a secret", i, peer.link());
  }
  EXPECT_EQ(status, CN_DENIED);
  EXPECT_NE(cn_find_peer(a.get(), "raw"), nullptr);
}

TEST_F(Handshake, AnAddressWithAnotherNameIsRefused) {
  const EndpointHandle b = make_endpoint("b", "sockets");
  const std::string wrong = "other" + address.substr(1);
  EXPECT_EQ(complete([&](cn_operation** op) { return cn_connect(b.get(), wrong.c_str(), nullptr, op); }),
            CN_UNREACHABLE);
  EXPECT_NE(std::string(cn_error()).find("is 'a', not 'other'"), std::string::npos) << cn_error();
}

}  // namespace
}  // namespace commnet::tests
