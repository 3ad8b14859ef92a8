// The transport over TCP and Unix sockets.
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/secure.h"
#include "core/status.h"
#include "core/transports.h"
#include "transports/notes.h"
#include "transports/sockets/listeners.h"
#include "transports/sockets/stream.h"
#include "transports/sockets/url.h"
#include "transports/table.h"

namespace commnet::sockets {

namespace {

constexpr int kEvents = 64;
constexpr int kUnixBuffer = 1 << 20;

class Sockets;

struct Connection {
  Sockets& owner;
  Stream stream;
  bool is_readable = false, has_failed = false;  // whether it is in the list
};

class Sockets {
 public:
  Sockets(const cn_transport_host& host, cn_host_endpoint* endpoint, const cn_transport_settings& settings)
      : host_(host), endpoint_(endpoint) {
    poller_.add(listeners_.number(), EPOLLIN);
    const std::string wanted = settings.listen;
    for (const std::string& url : wanted.empty() ? default_urls() : split_list(wanted))
      if (wanted.empty() || understands(kSockets, url))
        address_ += (address_.empty() ? "" : ",") + listeners_.listen(parse(url));
  }

  const char* address() const { return address_.c_str(); }
  int descriptor() const { return poller_.number(); }

  Connection& connect(const char* url, cn_host_connection* host_connection) {
    const Address address = parse(url);
    Descriptor socket = open_socket(address);
    prepare(socket, address.is_unix());
    const int code = ::connect(socket.number(), address.get(), address.size) == 0 ? 0 : errno;
    if (code != 0 && code != EINPROGRESS) fail(CN_UNREACHABLE, "'%s': %s", url, std::strerror(code));
    // Also without EINPROGRESS, connected() comes later: with the event that the socket is writable.
    Connection& connection = add(std::move(socket), false, address.is_unix());
    connection.stream.set_host(host_connection);
    return connection;
  }

  bool send(Connection& connection, const void* header, const void* payload, uint64_t size, uint64_t cookie) {
    return connection.stream.send(header, payload, size, cookie);
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
    readable_.add(connection);
    host_.wake(endpoint_);
  }

  bool has_unsent(const Connection& connection) const { return connection.stream.has_unsent(); }

  void disconnect(Connection& connection) {
    for (auto* const list : {&readable_, &failed_}) list->erase(connection);
    by_socket_.erase(connection.stream.socket());
    connections_.erase(&connection);
  }

  bool progress() {
    epoll_event events[kEvents];
    bool did = !failed_.empty();
    for (const epoll_event& event : poller_.ready(events)) {
      did = true;
      if (event.data.fd == listeners_.number())
        listeners_.accept([&](Descriptor socket, bool is_unix) { accept(std::move(socket), is_unix); });
      const auto found = by_socket_.find(event.data.fd);
      if (found == by_socket_.end()) continue;
      Connection& connection = *found->second;
      if ((event.events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) connection.stream.on_writable();
      if ((event.events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0) connection.stream.note_end();
      if ((event.events & (EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0) readable_.add(connection);
    }
    failed_.take([](Connection& connection) { connection.stream.report_failure(); });
    readable_.take([&](Connection& connection) { did |= receive(connection); });
    return did;
  }

 private:
  static std::vector<std::string> default_urls() { return {"unix:@commnet-" + random_digits(8), "tcp://127.0.0.1:0"}; }

  void note_failure(Connection& connection) {
    failed_.add(connection);
    host_.wake(endpoint_);
  }

  bool receive(Connection& connection) {
    if (connection.stream.is_broken()) return false;
    bool is_dry = false;
    const bool did = connection.stream.receive(&is_dry);
    if (!is_dry && !connection.stream.is_broken()) {
      readable_.add(connection);
      host_.wake(endpoint_);
    }
    return did;
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

  Connection& add(Descriptor socket, bool is_connected, bool is_unix) {
    const int number = socket.number();
    auto connection =
        std::unique_ptr<Connection>(new Connection{*this, Stream(host_, std::move(socket), is_connected, is_unix)});
    Connection& added = *connection;
    for (auto* const list : {&readable_, &failed_}) list->make_room(connections_.size() + 1);
    const auto place = by_socket_.emplace(number, &added).first;
    try {
      poller_.add(number, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
      connections_.emplace(&added, std::move(connection));
    } catch (...) {
      by_socket_.erase(place);
      throw;
    }
    return added;
  }

  void accept(Descriptor socket, bool is_unix) {
    prepare(socket, is_unix);
    Connection& connection = add(std::move(socket), true, is_unix);
    cn_host_connection* const accepted =
        host_.accepted(endpoint_, reinterpret_cast<cn_transport*>(this), reinterpret_cast<cn_connection*>(&connection));
    if (accepted)
      connection.stream.set_host(accepted);
    else
      disconnect(connection);
  }

  const cn_transport_host& host_;
  cn_host_endpoint* const endpoint_;
  Poller poller_;
  Listeners listeners_;
  std::string address_;
  std::map<Connection*, std::unique_ptr<Connection>> connections_;
  std::map<int, Connection*> by_socket_;
  // Connections that have more data to receive, and connections whose failure is still to be reported.
  Notes<Connection> readable_{&Connection::is_readable}, failed_{&Connection::has_failed};
};

}  // namespace
}  // namespace commnet::sockets

namespace commnet {
constinit const cn_transport_table kSockets = table_of<sockets::Sockets, sockets::Connection>(
    {.name = "sockets", .schemes = "tcp,unix", .parallel = "tcp", .has_hosts = true});
}  // namespace commnet
