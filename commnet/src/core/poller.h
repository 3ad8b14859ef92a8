// An epoll instance.
#ifndef COMMNET_CORE_POLLER_H_
#define COMMNET_CORE_POLLER_H_

#include <poll.h>
#include <sys/epoll.h>

#include <chrono>
#include <span>

#include "core/descriptor.h"

namespace commnet {

// Returns whether the other side of a socket has ended the connection.
inline bool has_ended(int socket) {
  pollfd look{socket, POLLRDHUP, 0};
  return poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

class Poller {
 public:
  Poller() : descriptor_(Descriptor::checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {}

  // Readable while one of its descriptors is ready.
  int number() const { return descriptor_.number(); }
  void add(int descriptor, uint32_t events) const {
    epoll_event event{events, {.fd = descriptor}};
    if (epoll_ctl(number(), EPOLL_CTL_ADD, descriptor, &event) != 0) fail_with_errno("epoll_ctl");
  }
  void change(int descriptor, uint32_t events) const noexcept {
    epoll_event event{events, {.fd = descriptor}};
    epoll_ctl(number(), EPOLL_CTL_MOD, descriptor, &event);
  }
  void remove(int descriptor) const noexcept { epoll_ctl(number(), EPOLL_CTL_DEL, descriptor, nullptr); }

  // Returns those that are ready now, at most as many as `events` holds.
  std::span<epoll_event> ready(std::span<epoll_event> events) const noexcept {
    const int count = epoll_wait(number(), events.data(), static_cast<int>(events.size()), 0);
    return events.first(count > 0 ? static_cast<size_t>(count) : 0);
  }

  // Waits until one is ready, for at most some time. Returns those that are.
  std::span<epoll_event> wait(std::span<epoll_event> events, std::chrono::nanoseconds longest) const noexcept {
    using std::chrono::duration_cast, std::chrono::seconds;
    // epoll_wait() rounds to milliseconds, and epoll_pwait2() needs Linux 5.11.
    const timespec time{duration_cast<seconds>(longest).count(), static_cast<long>((longest % seconds(1)).count())};
    pollfd any{number(), POLLIN, 0};
    return ppoll(&any, 1, &time, nullptr) > 0 ? ready(events) : events.first(0);
  }

 private:
  Descriptor descriptor_;
};

}  // namespace commnet

#endif  // COMMNET_CORE_POLLER_H_
