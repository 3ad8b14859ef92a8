#include "relay.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace commnet::tests {

namespace {

constexpr std::string_view kPrefix = "tcp://127.0.0.1:";
// Little, so that what is under way does not hide that the way is slow.
constexpr int kBuffer = 8 << 10;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

void set_small_buffer(int socket) { setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &kBuffer, sizeof kBuffer); }

}  // namespace

Relay::Relay(const std::string& address, size_t rate) : rate_(rate) {
  target_port_ = std::atoi(address.c_str() + address.find(kPrefix) + kPrefix.size());
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  set_small_buffer(listener_);
  sockaddr_in own = loopback(0);
  socklen_t size = sizeof own;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&own), size) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&own), &size) != 0)
    std::abort();
  address_ = address.substr(0, address.find('@') + 1) + std::string(kPrefix) + std::to_string(ntohs(own.sin_port));
  accepting_ = std::thread([this] { accept(); });
}

Relay::~Relay() {
  is_done_ = true;
  accepting_.join();
  for (std::thread& thread : passing_) thread.join();
  for (const int socket : sockets_) close(socket);
  close(listener_);
}

void Relay::accept() {
  while (!is_done_) {
    pollfd watched{listener_, POLLIN, 0};
    if (poll(&watched, 1, 10) != 1) continue;
    const int from = ::accept(listener_, nullptr, nullptr);
    const int to = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockets_.insert(sockets_.end(), {from, to});
    const sockaddr_in there = loopback(target_port_);
    if (connect(to, reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0) continue;
    passing_.emplace_back([=, this] { pass(from, to, rate_); });
    passing_.emplace_back([=, this] { pass(to, from, SIZE_MAX); });
  }
}

void Relay::pass(int from, int to, size_t rate) {
  std::vector<char> bytes(64 << 10);
  while (!is_done_) {
    pollfd watched{from, POLLIN, 0};
    if (is_stopped_ || poll(&watched, 1, 10) != 1) {
      usleep(1000);
      continue;
    }
    const ssize_t size = recv(from, bytes.data(), std::min(bytes.size(), rate), 0);
    if (size <= 0) {
      shutdown(to, SHUT_WR);
      return;
    }
    for (ssize_t sent = 0; sent < size;) {
      const ssize_t now = send(to, bytes.data() + sent, static_cast<size_t>(size - sent), MSG_NOSIGNAL);
      if (now <= 0) return;
      sent += now;
    }
    if (rate < bytes.size()) usleep(1000);
  }
}

}  // namespace commnet::tests
