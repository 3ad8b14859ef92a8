#include "pairs.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

// [types]
// What the library's pointers point to. Every call is made under the lock of the endpoint, so that these need none.

struct cn_connection {
  cn_transport& transport;
  const int socket;
  cn_host_connection* host = nullptr;

  std::vector<char> unsent;
  bool was_full = false;  // send() has returned false
  bool waits = false;     // for the socket to take more bytes

  // The frame that arrives.
  char header[CN_FRAME_HEADER];
  size_t header_size = 0;  // bytes of it that are here
  bool is_in_payload = false;
  char* payload = nullptr;  // where the rest of the payload goes; NULL: it is dropped
  uint64_t left = 0;        // bytes of the payload that are missing

  bool is_new = false;     // connected() is to be called
  bool is_broken = false;  // broken() was called, or the library has closed it
};

struct cn_transport {
  const cn_transport_host& host;
  cn_host_endpoint* const endpoint;
  const int poller;
  std::string url;
  std::list<cn_connection> connections;
  std::vector<int> arrivals;  // sockets that others have opened to this transport; guarded by all_mutex
};
// [types]

namespace {

constexpr size_t kMostUnsent = 1 << 20;    // from here on, send() asks the library to wait
constexpr size_t kMostReceived = 1 << 20;  // at a time from one connection, so that others have their turn

// [registry]
// Where connect() finds the others: all open transports of the process. Endpoints have a lock each, so this needs one.
std::mutex all_mutex;
std::map<std::string, cn_transport*> all;
int last_number = 0;
// [registry]

// [open]
cn_status open(const cn_transport_host* host, cn_host_endpoint* endpoint, const cn_transport_settings*,
               cn_transport** result) {
  const int poller = epoll_create1(EPOLL_CLOEXEC);
  if (poller < 0) return host->fail(CN_SYSTEM_ERROR, std::strerror(errno));
  const std::lock_guard lock(all_mutex);
  *result = new cn_transport{*host, endpoint, poller, "pair:" + std::to_string(++last_number), {}, {}};
  all[(*result)->url] = *result;
  return CN_OK;
}

void close(cn_transport* transport) {
  {
    const std::lock_guard lock(all_mutex);
    all.erase(transport->url);
  }
  for (const int socket : transport->arrivals) ::close(socket);
  ::close(transport->poller);
  delete transport;
}

const char* address(cn_transport* transport) { return transport->url.c_str(); }
int descriptor(cn_transport* transport) { return transport->poller; }
// [open]

// [connect]
// Has the poller report what happens at the socket of a connection.
void watch(cn_connection& connection, int change, bool writable) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (writable) event.events |= EPOLLOUT;
  event.data.ptr = &connection;
  epoll_ctl(connection.transport.poller, change, connection.socket, &event);
}

cn_connection& add(cn_transport& transport, int socket) {
  cn_connection& added = transport.connections.emplace_back(transport, socket);
  watch(added, EPOLL_CTL_ADD, false);
  return added;
}

cn_status connect(cn_transport* transport, const char* url, cn_host_connection* host_connection,
                  cn_connection** result) {
  const std::lock_guard lock(all_mutex);
  const auto other = all.find(url);
  if (other == all.end()) return transport->host.fail(CN_UNREACHABLE, "no transport of this process has that URL");
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
    return transport->host.fail(CN_SYSTEM_ERROR, std::strerror(errno));
  cn_connection& connection = add(*transport, ends[0]);
  connection.host = host_connection;
  connection.is_new = true;
  other->second->arrivals.push_back(ends[1]);
  other->second->host.wake(other->second->endpoint);
  transport->host.wake(transport->endpoint);
  *result = &connection;
  return CN_OK;
}

void disconnect(cn_connection* connection) {
  ::close(connection->socket);
  connection->transport.connections.remove_if([&](const cn_connection& each) { return &each == connection; });
}
// [connect]

// [send]
bool send(cn_connection* connection, const void* header, const void* payload, uint64_t size, uint64_t cookie) {
  const auto append = [&](const void* bytes, uint64_t count) {
    const char* const begin = static_cast<const char*>(bytes);
    connection->unsent.insert(connection->unsent.end(), begin, begin + count);
  };
  append(header, CN_FRAME_HEADER);
  if (size > 0) append(payload, size);
  // The payload was copied, so that its owner may have it back at once.
  if (cookie != 0) connection->transport.host.sent(connection->host, cookie);
  connection->was_full = connection->unsent.size() >= kMostUnsent;
  return !connection->was_full;
}

void flush(cn_connection* connection) {
  std::vector<char>& unsent = connection->unsent;
  size_t sent = 0;
  while (sent < unsent.size()) {
    const ssize_t count = ::send(connection->socket, unsent.data() + sent, unsent.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    // The socket is full; or it has failed, which progress() finds, too: the host is not to be told from here.
    if (count < 0) break;
    sent += count;
  }
  unsent.erase(unsent.begin(), unsent.begin() + sent);
  const bool waits = !unsent.empty();
  if (waits != connection->waits) watch(*connection, EPOLL_CTL_MOD, connection->waits = waits);
  // Here, not in progress(): if the socket has taken everything, nothing else happens at this connection.
  if (connection->was_full && unsent.size() < kMostUnsent) {
    connection->was_full = false;
    connection->transport.host.writable(connection->host);
  }
}

bool has_unsent(cn_connection* connection) { return !connection->unsent.empty(); }
// [send]

// [receive]
// Calls the host for a frame whose header, or whose payload, is complete. Returns whether the connection goes on.
bool take(cn_connection& connection) {
  const cn_transport_host& host = connection.transport.host;
  if (!connection.is_in_payload && connection.header_size == CN_FRAME_HEADER) {
    std::memcpy(&connection.left, connection.header + CN_FRAME_HEADER - sizeof connection.left, sizeof connection.left);
    void* payload = nullptr;
    if (!host.begin_frame(connection.host, connection.header, connection.left, &payload)) return false;
    connection.payload = static_cast<char*>(payload);
    connection.is_in_payload = true;
  }
  if (connection.is_in_payload && connection.left == 0) {
    connection.is_in_payload = false;
    connection.header_size = 0;
    return host.end_frame(connection.host);
  }
  return true;
}

// Returns how many bytes have arrived; 0: the other side has closed the connection, -1: there are none now.
ssize_t receive_some(cn_connection& connection) {
  char dropped[4096];
  char* to = connection.header + connection.header_size;
  size_t size = CN_FRAME_HEADER - connection.header_size;
  if (connection.is_in_payload) {
    to = connection.payload ? connection.payload : dropped;
    size = std::min<uint64_t>(connection.left, connection.payload ? kMostReceived : sizeof dropped);
  }
  const ssize_t count = recv(connection.socket, to, size, 0);
  if (count < 0) return errno == EAGAIN || errno == EINTR ? -1 : 0;
  if (!connection.is_in_payload) {
    connection.header_size += count;
  } else {
    connection.left -= count;
    if (connection.payload) connection.payload += count;
  }
  return count;
}

void break_off(cn_connection& connection, cn_status status, const char* text) {
  connection.is_broken = true;
  connection.transport.host.broken(connection.host, status, text);
}

void receive(cn_connection& connection) {
  for (size_t received = 0; received < kMostReceived;) {
    const ssize_t count = receive_some(connection);
    if (count < 0) return;
    if (count == 0) return break_off(connection, CN_PEER_LOST, "the other endpoint was closed");
    received += count;
    if (!take(connection)) return break_off(connection, CN_DENIED, "a frame was not acceptable");
  }
}

void detach(cn_connection* connection, const void* begin, uint64_t size) {
  // What is to be sent was copied. Only a payload that arrives can be in the range.
  const auto first = reinterpret_cast<uintptr_t>(begin), payload = reinterpret_cast<uintptr_t>(connection->payload);
  if (connection->is_in_payload && payload < first + size && payload + connection->left > first)
    connection->payload = nullptr;
}
// [receive]

// [progress]
void accept_all(cn_transport& transport) {
  std::vector<int> arrivals;
  {
    const std::lock_guard lock(all_mutex);
    arrivals.swap(transport.arrivals);
  }
  for (const int socket : arrivals) {
    cn_connection& connection = add(transport, socket);
    connection.host = transport.host.accepted(transport.endpoint, &transport, &connection);
    if (!connection.host) disconnect(&connection);
  }
}

bool progress(cn_transport* transport) {
  accept_all(*transport);
  bool did = false;
  // The library disconnects no connection while it is in here.
  for (cn_connection& connection : transport->connections) {
    if (!std::exchange(connection.is_new, false)) continue;
    transport->host.connected(connection.host);
    did = true;
  }
  epoll_event events[16];
  const int count = epoll_wait(transport->poller, events, 16, 0);
  for (int i = 0; i < count; ++i) {
    cn_connection& connection = *static_cast<cn_connection*>(events[i].data.ptr);
    if (connection.is_broken) continue;
    receive(connection);
    if (connection.is_broken) continue;
    flush(&connection);
  }
  return did || count > 0;
}
// [progress]

// [table]
constexpr cn_transport_table make_table() {
  cn_transport_table table{};
  table.struct_size = sizeof table;
  table.version = CN_TRANSPORT_VERSION;
  table.name = "pairs";
  table.schemes = "pair";
  table.open = open;
  table.close = close;
  table.address = address;
  table.descriptor = descriptor;
  table.progress = progress;
  table.connect = connect;
  table.disconnect = disconnect;
  table.send = send;
  table.flush = flush;
  table.detach = detach;
  table.has_unsent = has_unsent;
  return table;
}

constinit const cn_transport_table table = make_table();
// [table]

}  // namespace

const cn_transport_table* pairs_transport() { return &table; }
