// The transport over TCP and Unix sockets.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/secure.h"
#include "core/status.h"
#include "core/transports.h"
#include "transports/sockets/stream.h"
#include "transports/sockets/url.h"

namespace commnet::sockets {

namespace {

constexpr int kEvents = 64;
constexpr unsigned kTurns = 4;
constexpr int kUnixBuffer = 1 << 20;
constexpr timespec kRest{0, 100'000'000};

class Sockets;

struct Connection {
  Sockets& owner;
  Stream stream;
  bool is_unfinished = false, is_readable = false, has_failed = false;  // whether it is in the list
};

class Sockets {
 public:
  Sockets(const cn_transport_host& host, cn_host_endpoint* endpoint, const cn_transport_settings& settings)
      : host_(host),
        endpoint_(endpoint),
        poller_(Descriptor::checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
        timer_(Descriptor::checked(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create")) {
    watch(timer_.number(), EPOLLIN);
    const std::string wanted = settings.listen;
    for (const std::string& url : wanted.empty() ? default_urls() : split_list(wanted))
      if (wanted.empty() || understands(kSockets, url)) listen(url);
  }

  ~Sockets() {
    for (const auto& [number, listener] : listeners_)
      if (!listener.file.empty()) unlink(listener.file.c_str());
  }

  const char* address() const { return address_.c_str(); }
  int descriptor() const { return poller_.number(); }

  cn_connection* connect(const char* url, cn_host_connection* host_connection) {
    const Address address = parse(url);
    Descriptor socket = open_socket(address);
    prepare(socket, address.is_unix());
    const int code = ::connect(socket.number(), address.get(), address.size) == 0 ? 0 : errno;
    if (code != 0 && code != EINPROGRESS) fail(CN_UNREACHABLE, "'%s': %s", url, std::strerror(code));
    // Also without EINPROGRESS, connected() comes later: with the event that the socket is writable.
    Connection& connection = add(std::move(socket), false, address.is_unix());
    connection.stream.set_host(host_connection);
    return reinterpret_cast<cn_connection*>(&connection);
  }

  void flush(Connection& connection) {
    if (!connection.stream.flush()) note_failure(connection);
  }

  void detach(Connection& connection, const void* begin, uint64_t size) {
    if (!connection.stream.detach(begin, size)) note_failure(connection);
  }

  void pause(Connection& connection, bool pauses) {
    connection.stream.pause(pauses);
    if (pauses) return;
    // No event says what has arrived before.
    if (!std::exchange(connection.is_unfinished, true)) unfinished_.push_back(&connection);
    host_.wake(endpoint_);
  }

  void disconnect(Connection& connection) {
    std::erase(unfinished_, &connection);
    std::erase(failed_, &connection);
    if (last_ == &connection) last_ = nullptr;
    by_socket_.erase(connection.stream.socket());
    connections_.erase(&connection);
  }

  bool progress() {
    // Answers come where the last frames came from: most of the time, that connection is looked at without the others.
    if (last_ && ++turns_ % kTurns != 0 && unfinished_.empty() && failed_.empty()) return receive(*last_);
    epoll_event events[kEvents];
    const int count = epoll_wait(poller_.number(), events, kEvents, 0);
    readable_.swap(unfinished_);
    for (Connection* const connection : readable_) {
      connection->is_unfinished = false;
      connection->is_readable = true;
    }
    for (int i = 0; i < count; ++i) {
      if (const auto listener = listeners_.find(events[i].data.fd); listener != listeners_.end()) {
        accept(listener->second);
        continue;
      }
      if (events[i].data.fd == timer_.number()) {
        go_on();
        continue;
      }
      const auto found = by_socket_.find(events[i].data.fd);
      if (found == by_socket_.end()) continue;
      Connection& connection = *found->second;
      if ((events[i].events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) connection.stream.on_writable();
      if ((events[i].events & (EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0) note_readable(connection);
    }
    bool did = count > 0 || !failed_.empty();
    while (!failed_.empty()) {
      Connection& connection = *failed_.back();
      failed_.pop_back();
      connection.has_failed = false;
      connection.stream.report_failure();
    }
    // The list may get room for others meanwhile.
    for (size_t i = 0; i < readable_.size(); ++i) {
      readable_[i]->is_readable = false;
      did |= receive(*readable_[i]);
    }
    readable_.clear();
    return did;
  }

 private:
  static std::vector<std::string> default_urls() {
    uint8_t random[8];
    fill_randomly(random);
    std::string name = "unix:@commnet-";
    for (const uint8_t byte : random) {
      char digits[3];
      std::snprintf(digits, sizeof digits, "%02x", byte);
      name += digits;
    }
    return {name, "tcp://127.0.0.1:0"};
  }

  void note_readable(Connection& connection) {
    if (!std::exchange(connection.is_readable, true)) readable_.push_back(&connection);
  }

  void note_failure(Connection& connection) {
    if (!std::exchange(connection.has_failed, true)) failed_.push_back(&connection);
    host_.wake(endpoint_);
  }

  bool receive(Connection& connection) {
    if (connection.stream.is_broken()) return false;
    bool is_dry = false;
    const bool did = connection.stream.receive(&is_dry);
    if (!is_dry && !connection.stream.is_broken() && !std::exchange(connection.is_unfinished, true))
      unfinished_.push_back(&connection);
    if (did) last_ = &connection;
    return did;
  }

  void listen(const std::string& url) {
    const Address address = parse(url);
    Descriptor socket = listen_at(address);
    watch(socket.number(), EPOLLIN);
    address_ += (address_.empty() ? "" : ",") + url_of(socket);
    const int number = socket.number();
    listeners_.emplace(number, Listener{std::move(socket), address.is_unix(), address.file()});
  }

  static void prepare(const Descriptor& socket, bool is_unix) {
    const int on = 1;
    if (is_unix) {
      setsockopt(socket.number(), SOL_SOCKET, SO_SNDBUF, &kUnixBuffer, sizeof kUnixBuffer);
      setsockopt(socket.number(), SOL_SOCKET, SO_RCVBUF, &kUnixBuffer, sizeof kUnixBuffer);
    } else {
      setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
  }

  void watch(int descriptor, uint32_t events) {
    epoll_event event{events, {.fd = descriptor}};
    if (epoll_ctl(poller_.number(), EPOLL_CTL_ADD, descriptor, &event) != 0) fail_with_errno("epoll_ctl");
  }

  Connection& add(Descriptor socket, bool is_connected, bool is_unix) {
    const int number = socket.number();
    std::unique_ptr<Neighbour> neighbour;
    if (is_unix) {
      ucred other{};
      socklen_t size = sizeof other;
      getsockopt(number, SOL_SOCKET, SO_PEERCRED, &other, &size);
      neighbour = std::make_unique<Neighbour>(other.pid);
    }
    auto connection = std::unique_ptr<Connection>(
        new Connection{*this, Stream(host_, std::move(socket), is_connected, std::move(neighbour))});
    Connection& added = *connection;
    for (auto* const list : {&unfinished_, &readable_, &failed_}) list->reserve(connections_.size() + 1);
    const auto place = by_socket_.emplace(number, &added).first;
    try {
      watch(number, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
      connections_.emplace(&added, std::move(connection));
    } catch (...) {
      by_socket_.erase(place);
      throw;
    }
    return added;
  }

  struct Listener {
    Descriptor socket;
    bool is_unix;
    std::string file;
  };

  void accept(const Listener& listener) {
    for (;;) {
      Descriptor socket(accept4(listener.socket.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) rest();
        return;
      }
      prepare(socket, listener.is_unix);
      try {
        Connection& connection = add(std::move(socket), true, listener.is_unix);
        cn_host_connection* const accepted = host_.accepted(endpoint_, reinterpret_cast<cn_transport*>(this),
                                                            reinterpret_cast<cn_connection*>(&connection));
        if (accepted)
          connection.stream.set_host(accepted);
        else
          disconnect(connection);
      } catch (...) {
        // There is no memory for it: the other side finds it closed.
      }
    }
  }

  // The process has no more descriptors, or the system no memory: those that want to connect wait for a while, instead
  // of being looked at again and again.
  void rest() {
    watch_listeners(0);
    const itimerspec soon{{}, kRest};
    timerfd_settime(timer_.number(), 0, &soon, nullptr);
  }

  void go_on() {
    uint64_t count = 0;
    if (read(timer_.number(), &count, sizeof count) > 0) watch_listeners(EPOLLIN);
  }

  void watch_listeners(uint32_t events) {
    for (const auto& [number, listener] : listeners_) {
      epoll_event event{events, {.fd = number}};
      epoll_ctl(poller_.number(), EPOLL_CTL_MOD, number, &event);
    }
  }

  const cn_transport_host& host_;
  cn_host_endpoint* const endpoint_;
  const Descriptor poller_, timer_;
  std::string address_;
  std::map<int, Listener> listeners_;
  std::map<Connection*, std::unique_ptr<Connection>> connections_;
  std::map<int, Connection*> by_socket_;
  // With room for all connections: of which more can be received, which are received from now, and whose failure is to
  // be reported.
  std::vector<Connection*> unfinished_, readable_, failed_;
  Connection* last_ = nullptr;  // that has received frames
  unsigned turns_ = 0;
};

Sockets& transport_of(cn_transport* handle) { return *reinterpret_cast<Sockets*>(handle); }
Connection& connection_of(cn_connection* handle) { return *reinterpret_cast<Connection*>(handle); }

cn_status open(const cn_transport_host* host, cn_host_endpoint* endpoint, const cn_transport_settings* settings,
               cn_transport** transport) {
  return guarded([&] { *transport = reinterpret_cast<cn_transport*>(new Sockets(*host, endpoint, *settings)); });
}

cn_status connect(cn_transport* transport, const char* url, cn_host_connection* host_connection,
                  cn_connection** connection) {
  return guarded([&] { *connection = transport_of(transport).connect(url, host_connection); });
}

constexpr cn_transport_table make_table() {
  cn_transport_table table{};
  table.struct_size = sizeof table;
  table.version = CN_TRANSPORT_VERSION;
  table.name = "sockets";
  table.schemes = "tcp,unix";
  table.has_hosts = true;
  table.has_streams = true;
  table.open = open;
  table.close = [](cn_transport* transport) { delete &transport_of(transport); };
  table.address = [](cn_transport* transport) { return transport_of(transport).address(); };
  table.descriptor = [](cn_transport* transport) { return transport_of(transport).descriptor(); };
  table.progress = [](cn_transport* transport) { return transport_of(transport).progress(); };
  table.connect = connect;
  table.disconnect = [](cn_connection* handle) {
    Connection& connection = connection_of(handle);
    connection.owner.disconnect(connection);
  };
  table.send = [](cn_connection* handle, const void* header, const void* payload, uint64_t size, uint64_t cookie) {
    return connection_of(handle).stream.send(header, payload, size, cookie);
  };
  table.flush = [](cn_connection* handle) {
    Connection& connection = connection_of(handle);
    connection.owner.flush(connection);
  };
  table.detach = [](cn_connection* handle, const void* begin, uint64_t size) {
    Connection& connection = connection_of(handle);
    connection.owner.detach(connection, begin, size);
  };
  table.pause = [](cn_connection* handle, bool pauses) {
    Connection& connection = connection_of(handle);
    connection.owner.pause(connection, pauses);
  };
  table.has_unsent = [](cn_connection* handle) { return connection_of(handle).stream.has_unsent(); };
  table.reaches_memory = [](cn_connection* handle) {
    const Neighbour* const neighbour = connection_of(handle).stream.neighbour();
    return neighbour != nullptr && neighbour->reaches_memory();
  };
  table.pull = [](cn_connection* handle, void* destination, uint64_t remote, uint64_t size) {
    const int code = connection_of(handle).stream.neighbour()->pull(destination, remote, size);
    return code == 0 ? CN_OK : set_error(CN_SYSTEM_ERROR, std::strerror(code));
  };
  return table;
}

}  // namespace
}  // namespace commnet::sockets

namespace commnet {
constinit const cn_transport_table kSockets = sockets::make_table();
}  // namespace commnet
