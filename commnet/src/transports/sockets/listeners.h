// The sockets at which a transport listens.
#ifndef COMMNET_TRANSPORTS_SOCKETS_LISTENERS_H_
#define COMMNET_TRANSPORTS_SOCKETS_LISTENERS_H_

#include <string>
#include <vector>

#include "core/poller.h"
#include "transports/sockets/url.h"

namespace commnet::sockets {

class Listeners {
 public:
  Listeners();
  // Removes the files of Unix sockets.
  ~Listeners();

  // Readable while accept() has something to do.
  int number() const { return poller_.number(); }
  // Listens at an address. Returns its URL, with the port that was chosen. Throws Error.
  std::string listen(const Address& address, int type = SOCK_STREAM);

  // Gives each connection that has come to take(socket, is_unix). Where there is no memory for one, the other side
  // finds it closed.
  template <class Take>
  void accept(Take&& take) {
    epoll_event events[8];
    for (const epoll_event& event : poller_.ready(events)) {
      if (event.data.fd == timer_.number()) go_on();
      for (const Listener& listener : listeners_) {
        if (listener.socket.number() != event.data.fd) continue;
        while (Descriptor socket = next(listener.socket)) {
          try {
            take(std::move(socket), listener.is_unix);
          } catch (...) {
          }
        }
      }
    }
  }

 private:
  struct Listener {
    Descriptor socket;
    bool is_unix;
    std::string file;
  };

  // Returns the next connection of a listener, or nothing.
  Descriptor next(const Descriptor& listener);
  void rest();
  void go_on();
  void watch(uint32_t events);

  Poller poller_;
  Descriptor timer_;
  std::vector<Listener> listeners_;
};

}  // namespace commnet::sockets

#endif  // COMMNET_TRANSPORTS_SOCKETS_LISTENERS_H_
