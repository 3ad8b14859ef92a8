#include "raw_peer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sodium.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <string_view>

namespace commnet::tests {

namespace {

using Buffer = std::vector<uint8_t>;

// Derives the key of a secret, and proves that it is known, without the code of the library.
Proof prove(const std::string& secret, std::string_view role, std::initializer_list<Buffer> messages) {
  const uint8_t salt[crypto_pwhash_SALTBYTES] = "commnet 2";
  uint8_t key[crypto_auth_hmacsha256_KEYBYTES];
  static std::map<std::string, std::string> keys;  // of secrets: a key takes some time
  std::string& known = keys[secret];
  if (known.empty() && crypto_pwhash(key, sizeof key, secret.data(), secret.size(), salt, 2, 19 << 20,
                                     crypto_pwhash_ALG_ARGON2ID13) == 0)
    known.assign(reinterpret_cast<const char*>(key), sizeof key);
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, reinterpret_cast<const uint8_t*>(known.data()), known.size());
  const auto add = [&](const void* data, uint64_t size) {
    crypto_auth_hmacsha256_update(&state, reinterpret_cast<const uint8_t*>(&size), sizeof size);
    crypto_auth_hmacsha256_update(&state, static_cast<const uint8_t*>(data), size);
  };
  add(role.data(), role.size());
  for (const Buffer& message : messages) add(message.data(), message.size());
  Proof proof;
  crypto_auth_hmacsha256_final(&state, proof.data());
  return proof;
}

template <class T>
void append(Buffer& buffer, const T& value) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&value);
  buffer.insert(buffer.end(), bytes, bytes + sizeof value);
}

}  // namespace

RawPeer::RawPeer(const std::string& address) {
  const size_t begin = address.find("tcp://127.0.0.1:");
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(static_cast<uint16_t>(std::atoi(address.c_str() + begin + std::strlen("tcp://127.0.0.1:"))));
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval patience{10, 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (begin == std::string::npos || connect(socket_, reinterpret_cast<sockaddr*>(&there), sizeof there) != 0) {
    close(socket_);
    socket_ = -1;
  }
}

RawPeer::~RawPeer() {
  if (socket_ >= 0) close(socket_);
}

bool RawPeer::send_bytes(const void* data, size_t size) {
  const auto* const bytes = static_cast<const uint8_t*>(data);
  recording_.insert(recording_.end(), bytes, bytes + size);
  for (size_t sent = 0; sent < size;) {
    const ssize_t now = ::send(socket_, bytes + sent, size - sent, MSG_NOSIGNAL);
    if (now <= 0) return false;
    sent += static_cast<size_t>(now);
  }
  return true;
}

bool RawPeer::send(Frame frame, const void* payload, size_t size) {
  return send_bytes(&frame, sizeof frame) && (size == 0 || send_bytes(payload, size));
}

bool RawPeer::send_right(Frame frame, const void* payload, size_t size) {
  frame.size = size;
  return send(frame, payload, size);
}

bool RawPeer::receive_bytes(void* data, size_t size) {
  return size == 0 || recv(socket_, data, size, MSG_WAITALL) == static_cast<ssize_t>(size);
}

bool RawPeer::receive(Arrived& arrived) {
  if (!receive_bytes(&arrived.frame, sizeof arrived.frame)) return false;
  arrived.payload.resize(arrived.frame.size);
  return receive_bytes(arrived.payload.data(), arrived.payload.size());
}

bool RawPeer::receive(FrameType type, Arrived& arrived) {
  while (receive(arrived)) {
    if (arrived.frame.type == type) return true;
    if (arrived.frame.type == FrameType::kPing) send_right({.type = FrameType::kPong});
  }
  return false;
}

bool RawPeer::is_closed_by_other() {
  char byte[4096];
  for (;;) {
    const ssize_t size = recv(socket_, byte, sizeof byte, 0);
    if (size <= 0) return size == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }
}

cn_status RawPeer::greet(const std::string& name, const std::string& secret, uint32_t stream, const Buffer& link) {
  Hello head{kProtocolVersion, stream, 1 << 20, 1 << 30, {}, {}};
  head.nonce.fill(0x5a);
  std::copy(link.begin(), link.end(), head.link.begin());
  Buffer hello;
  append(hello, head);
  hello.insert(hello.end(), name.begin(), name.end());
  Arrived challenge, arrived;
  if (!send_right({.type = FrameType::kHello}, hello.data(), hello.size()) || !receive(challenge) ||
      challenge.frame.type != FrameType::kChallenge)
    return CN_PEER_LOST;
  const Proof proof = prove(secret, "connects", {hello, challenge.payload});
  if (!send_right({.type = FrameType::kProof}, proof.data(), proof.size()) || !receive(arrived) ||
      arrived.frame.type != FrameType::kWelcome || arrived.payload.size() < sizeof(Welcome))
    return CN_PEER_LOST;
  Welcome welcome;
  std::memcpy(&welcome, arrived.payload.data(), sizeof welcome);
  link_.assign(welcome.link.begin(), welcome.link.end());
  has_proved_ = std::ranges::any_of(welcome.proof, [](uint8_t byte) { return byte != 0; });
  return static_cast<cn_status>(welcome.status);
}

bool RawPeer::answer(const std::string& name, const std::string& secret, uint32_t status) {
  Arrived hello, proof;
  if (!receive(hello) || hello.frame.type != FrameType::kHello) return false;
  Buffer challenge(sizeof(Challenge), 0);
  challenge.insert(challenge.end(), name.begin(), name.end());
  if (!send_right({.type = FrameType::kChallenge}, challenge.data(), challenge.size()) || !receive(proof) ||
      proof.frame.type != FrameType::kProof)
    return false;
  Welcome welcome{status, 0, 1 << 20, 1 << 30, {}, {}};
  Buffer covered;
  append(covered, welcome);
  welcome.proof = prove(secret, "accepts", {hello.payload, challenge, covered});
  return send_right({.type = FrameType::kWelcome}, &welcome, sizeof welcome);
}

}  // namespace commnet::tests
