#include "raw_peer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sodium.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace commnet::tests {

namespace {

using Buffer = std::vector<uint8_t>;

Buffer prove(const std::string& secret, std::string_view role, const Buffer& first, const Buffer& second) {
  uint8_t key[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(key, reinterpret_cast<const uint8_t*>(secret.data()), secret.size());
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, key, sizeof key);
  const auto add = [&](const void* data, uint64_t size) {
    crypto_auth_hmacsha256_update(&state, reinterpret_cast<const uint8_t*>(&size), sizeof size);
    crypto_auth_hmacsha256_update(&state, static_cast<const uint8_t*>(data), size);
  };
  add(role.data(), role.size());
  add(first.data(), first.size());
  add(second.data(), second.size());
  Buffer proof(crypto_auth_hmacsha256_BYTES);
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
  Buffer hello;
  append(hello, kProtocolVersion);
  append(hello, stream);
  append(hello, uint64_t{1} << 20);  // the window
  hello.resize(hello.size() + 32, 0x5a);
  hello.insert(hello.end(), link.begin(), link.end());
  hello.insert(hello.end(), name.begin(), name.end());
  Arrived arrived;
  if (!send_right({.type = FrameType::kHello}, hello.data(), hello.size()) || !receive(arrived) ||
      arrived.frame.type != FrameType::kChallenge || arrived.payload.size() < 64)
    return CN_PEER_LOST;
  Buffer challenge = arrived.payload;
  std::fill(challenge.begin() + 32, challenge.begin() + 64, 0);
  const Buffer proof = prove(secret, "connects", hello, challenge);
  if (!send_right({.type = FrameType::kProof}, proof.data(), proof.size()) || !receive(arrived) ||
      arrived.frame.type != FrameType::kWelcome || arrived.payload.size() < 40)
    return CN_PEER_LOST;
  link_.assign(arrived.payload.begin() + 8, arrived.payload.begin() + 40);
  return static_cast<cn_status>(arrived.frame.status);
}

bool RawPeer::answer(const std::string& name, const std::string& secret, uint16_t status) {
  Arrived hello, proof;
  if (!receive(hello) || hello.frame.type != FrameType::kHello) return false;
  Buffer challenge(64, 0);
  challenge.insert(challenge.end(), name.begin(), name.end());
  const Buffer own = prove(secret, "accepts", hello.payload, challenge);
  std::copy(own.begin(), own.end(), challenge.begin() + 32);
  if (!send_right({.type = FrameType::kChallenge}, challenge.data(), challenge.size()) || !receive(proof) ||
      proof.frame.type != FrameType::kProof)
    return false;
  const Buffer welcome(40, 0);
  return send_right({.type = FrameType::kWelcome, .status = status}, welcome.data(), welcome.size());
}

}  // namespace commnet::tests
