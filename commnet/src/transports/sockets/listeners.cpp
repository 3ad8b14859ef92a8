#include "transports/sockets/listeners.h"

#include <sys/timerfd.h>

#include <cerrno>

namespace commnet::sockets {

namespace {

constexpr timespec kRest{0, 100'000'000};

}  // namespace

Listeners::Listeners()
    : timer_(Descriptor::checked(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create")) {
  poller_.add(timer_.number(), EPOLLIN);
}

Listeners::~Listeners() {
  for (const Listener& listener : listeners_)
    if (!listener.file.empty()) unlink(listener.file.c_str());
}

std::string Listeners::listen(const Address& address, int type) {
  listeners_.push_back({listen_at(address, type), address.is_unix(), address.file()});
  const Descriptor& socket = listeners_.back().socket;
  poller_.add(socket.number(), EPOLLIN);
  return url_of(socket);
}

Descriptor Listeners::next(const Descriptor& listener) {
  for (;;) {
    Descriptor socket(accept4(listener.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket) return socket;
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) rest();
    return {};
  }
}

// The process has no more descriptors, or the system no memory: those that want to connect wait for a while, instead of
// being looked at again and again.
void Listeners::rest() {
  watch(0);
  const itimerspec soon{{}, kRest};
  timerfd_settime(timer_.number(), 0, &soon, nullptr);
}

void Listeners::go_on() {
  uint64_t count = 0;
  if (read(timer_.number(), &count, sizeof count) > 0) watch(EPOLLIN);
}

void Listeners::watch(uint32_t events) {
  for (const Listener& listener : listeners_) poller_.change(listener.socket.number(), events);
}

}  // namespace commnet::sockets
