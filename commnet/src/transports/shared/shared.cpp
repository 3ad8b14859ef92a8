// The transport through shared memory, between processes of one host and one user.
//
// A Unix socket brings the two sides together, and ends with either process. Frames go through rings in a memory that
// both have mapped; a side that sleeps is woken by a signal of its endpoint.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/poller.h"
#include "core/secure.h"
#include "core/status.h"
#include "core/transports.h"
#include "transports/shared/channel.h"
#include "transports/sockets/listeners.h"
#include "transports/sockets/url.h"
#include "transports/table.h"

namespace commnet::shared {

namespace {

constexpr std::string_view kScheme = "shared:", kSocket = "unix:@";
constexpr int kEvents = 64;
// How often the sockets are looked at while the endpoint does not sleep.
constexpr unsigned kTurns = 64;
// Connections whose first letter has not come yet.
constexpr std::ptrdiff_t kMostStrangers = 64;

class Shared;

struct Connection {
  Shared& owner;
  Channel channel;
};

// URLs are "shared:name", for a socket without a file.
sockets::Address parse(const std::string& url) {
  if (!url.starts_with(kScheme) || url.size() == kScheme.size())
    fail(CN_INVALID_ARGUMENT, "'%s' must be shared:name", url.c_str());
  return sockets::parse(std::string(kSocket) + url.substr(kScheme.size()));
}

bool is_of_other_user(int socket) {
  ucred other{};
  socklen_t size = sizeof other;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) != 0 || other.uid != geteuid();
}

class Shared {
 public:
  Shared(const cn_transport_host& host, cn_host_endpoint* endpoint, const cn_transport_settings& settings)
      : host_(host), endpoint_(endpoint) {
    poller_.add(listeners_.number(), EPOLLIN);
    const std::string wanted = settings.listen;
    for (const std::string& url : split_list(wanted))
      if (understands(kShared, url)) listen(url);
    // Also beside addresses of other transports, as it takes the place of none: only processes of the user get in.
    if (address_.empty() && wanted != "none") listen(std::string(kScheme) + "commnet-" + random_digits(8));
  }

  const char* address() const { return address_.c_str(); }
  int descriptor() const { return poller_.number(); }
  int bell() const { return bell_.number(); }

  Connection& connect(const char* url, cn_host_connection* host_connection) {
    const sockets::Address address = parse(url);
    Descriptor socket = sockets::open_socket(address, SOCK_SEQPACKET);
    if (::connect(socket.number(), address.get(), address.size) != 0)
      fail(CN_UNREACHABLE, "'%s': %s", url, std::strerror(errno));
    if (is_of_other_user(socket.number())) fail(CN_UNREACHABLE, "'%s' is another user's", url);
    auto connection = std::unique_ptr<Connection>(new Connection{*this, Channel(host_, std::move(socket), true)});
    connection->channel.set_host(host_connection);
    connection->channel.make_segment();
    if (const int code = connection->channel.send_hello(bell_.number()))
      fail(CN_UNREACHABLE, "'%s': %s", url, std::strerror(code));
    return add(std::move(connection));
  }

  void disconnect(Connection& connection) {
    by_socket_.erase(connection.channel.socket());
    std::erase_if(connections_, [&](const auto& each) { return each.get() == &connection; });
  }

  bool send(Connection& connection, const void* header, const void* payload, uint64_t size, uint64_t cookie) {
    return connection.channel.send(header, payload, size, cookie);
  }
  void flush(Connection& connection) { connection.channel.flush(); }
  void detach(Connection& connection, const void* begin, uint64_t size) { connection.channel.detach(begin, size); }
  bool has_unsent(const Connection& connection) const { return connection.channel.has_unsent(); }
  void pause(Connection& connection, bool pauses) {
    connection.channel.pause(pauses);
    if (!pauses) host_.wake(endpoint_);
  }

  bool reaches_memory(const Connection&) const { return true; }
  cn_status expose(Connection& connection, const cn_region& region, cn_grant& grant) {
    return connection.channel.expose(region, grant);
  }
  bool revoke(Connection& connection, uint64_t region) { return connection.channel.revoke(region); }
  void forget(uint64_t) {}
  Remote* open_remote(Connection& connection, const cn_grant& grant, uint64_t size) {
    return connection.channel.open_remote(grant, size);
  }
  void close_remote(Connection&, Remote* remote) { delete remote; }
  cn_status get(Connection& connection, Remote& remote, uint64_t offset, void* to, uint64_t* size, uint64_t, bool*) {
    return connection.channel.get(remote, offset, to, size);
  }
  cn_status put(Connection& connection, Remote& remote, uint64_t offset, const void* from, uint64_t* size, uint64_t,
                bool*) {
    return connection.channel.put(remote, offset, from, size);
  }

  bool progress() {
    bool did = false;
    const bool has_rested = std::exchange(is_resting_, false);
    if (has_rested)
      for (const auto& each : connections_) each->channel.wake();
    // Others may begin meanwhile.
    for (size_t i = 0; i < connections_.size(); ++i) {
      Channel& channel = connections_[i]->channel;
      if (!channel.is_open() || channel.is_broken()) continue;
      if (channel.has_unsent()) did |= channel.flush();
      did |= channel.receive();
    }
    // Without news in the rings, it was the sockets that have ended the rest.
    if ((has_rested && !did) || ++turns_ % kTurns == 0) did |= serve_descriptors();
    return did;
  }

  bool rest() {
    is_resting_ = true;
    bool may_sleep = true;
    for (const auto& each : connections_) may_sleep &= each->channel.rest();
    return may_sleep;
  }

 private:
  void listen(const std::string& url) {
    const std::string socket = listeners_.listen(parse(url), SOCK_SEQPACKET);
    address_ += (address_.empty() ? "" : ",") + std::string(kScheme) + socket.substr(kSocket.size());
  }

  bool serve_descriptors() {
    epoll_event events[kEvents];
    bool did = false;
    for (const epoll_event& event : poller_.ready(events)) {
      if (event.data.fd == listeners_.number()) {
        did = true;
        listeners_.accept([&](Descriptor socket, bool) { accept(std::move(socket)); });
      }
      const auto found = by_socket_.find(event.data.fd);
      if (found == by_socket_.end()) continue;
      did = true;
      serve(*found->second);
    }
    return did;
  }

  void serve(Connection& connection) {
    Channel& channel = connection.channel;
    if (channel.is_broken()) return;
    bool has_hello = false;
    int code = channel.receive_letters(&has_hello);
    if (has_hello && !channel.host()) {
      code = channel.send_hello(bell_.number());
      if (code == 0)
        channel.set_host(host_.accepted(endpoint_, reinterpret_cast<cn_transport*>(this),
                                        reinterpret_cast<cn_connection*>(&connection)));
      if (!channel.host()) return disconnect(connection);
    } else if (has_hello) {
      host_.connected(channel.host());
    }
    if (code == 0) return;
    if (!channel.host()) return disconnect(connection);
    channel.end(code);
  }

  Connection& add(std::unique_ptr<Connection> connection) {
    Connection& added = *connection;
    const auto place = by_socket_.emplace(added.channel.socket(), &added).first;
    try {
      connections_.push_back(std::move(connection));
    } catch (...) {
      by_socket_.erase(place);
      throw;
    }
    try {
      poller_.add(added.channel.socket(), EPOLLIN | EPOLLRDHUP | EPOLLET);
    } catch (...) {
      disconnect(added);
      throw;
    }
    return added;
  }

  void accept(Descriptor socket) {
    if (is_of_other_user(socket.number())) return;
    const auto is_stranger = [](const auto& each) { return !each->channel.host(); };
    if (std::ranges::count_if(connections_, is_stranger) >= kMostStrangers)
      disconnect(**std::ranges::find_if(connections_, is_stranger));
    add(std::unique_ptr<Connection>(new Connection{*this, Channel(host_, std::move(socket), false)}));
  }

  const cn_transport_host& host_;
  cn_host_endpoint* const endpoint_;
  Poller poller_;
  Signal bell_;  // rung by the other sides; what it counts is not read
  sockets::Listeners listeners_;
  std::string address_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::unordered_map<int, Connection*> by_socket_;
  bool is_resting_ = false;
  unsigned turns_ = 0;
};

}  // namespace
}  // namespace commnet::shared

namespace commnet {
constinit const cn_transport_table kShared = table_of<shared::Shared, shared::Connection>(
    {.name = "shared", .schemes = "shared", .is_flush_cheap = true, .copies_itself = true});
}  // namespace commnet
