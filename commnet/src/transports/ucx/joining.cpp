// How connections over UCX begin: two workers learn each other's addresses over a socket.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "core/status.h"
#include "core/transports.h"
#include "transports/sockets/url.h"
#include "transports/ucx/transport.h"
#include "transports/ucx/worker.h"

namespace commnet::ucx {

namespace {

constexpr std::string_view kScheme = "ucx://", kSocketScheme = "tcp://";
constexpr int kEvents = 64;

// What each side sends, with the address of its worker after it.
struct Hello {
  uint32_t magic, size;
};
constexpr uint32_t kMagic = 0x31786e63;
constexpr uint32_t kLongestAddress = 64 << 10;

sockets::Address parse(const std::string& url) {
  if (!url.starts_with(kScheme)) fail(CN_INVALID_ARGUMENT, "'%s' must be ucx://host:port", url.c_str());
  try {
    return sockets::parse(std::string(kSocketScheme) + url.substr(kScheme.size()));
  } catch (const Error&) {
    fail(CN_INVALID_ARGUMENT, "'%s' must be ucx://host:port, with a host that is known", url.c_str());
  }
}

}  // namespace

void Transport::listen(const std::string& url) {
  const sockets::Address address = parse(url);
  try {
    const std::string listening = listeners_.listen(address);
    if (!address_.empty()) address_ += ',';
    address_.append(kScheme).append(listening.substr(kSocketScheme.size()));
  } catch (const Error& error) {
    fail(error.status(), "cannot listen at '%s': %s", url.c_str(), error.what());
  }
}

Connection& Transport::add(Descriptor socket, bool has_begun) {
  const int on = 1;
  setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockets_.add(socket.number(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
  auto connection = std::unique_ptr<Connection>(new Connection{*this, has_begun});
  Connection& added = *connection;
  added.socket = std::move(socket);
  const size_t room = connections_.size() + 1;
  for (auto* const list : {&writable_, &arrived_, &failed_}) list->make_room(room);
  ending_.reserve(room);
  const auto place = by_socket_.emplace(added.socket.number(), &added).first;
  try {
    connections_.emplace(&added, std::move(connection));
  } catch (...) {
    by_socket_.erase(place);
    throw;
  }
  return added;
}

void Transport::remove(Connection& connection) {
  if (connection.worker) {
    poller_.remove(connection.descriptor);
    ucp_.ucp_worker_destroy(connection.worker);
  }
  by_socket_.erase(connection.socket.number());
  connections_.erase(&connection);
}

void Transport::open_worker(Connection& connection) {
  connection.worker = make_worker(context_, &connection.descriptor);
  set_handlers(connection);
  poller_.add(connection.descriptor, EPOLLIN);
  const std::string address = address_of(connection.worker);
  const Hello hello{kMagic, static_cast<uint32_t>(address.size())};
  connection.to_write.assign(reinterpret_cast<const char*>(&hello), sizeof hello);
  connection.to_write += address;
}

Connection& Transport::connect(const std::string& url, cn_host_connection* host_connection) {
  const sockets::Address address = parse(url);
  Descriptor socket = sockets::open_socket(address);
  const int code = ::connect(socket.number(), address.get(), address.size) == 0 ? 0 : errno;
  if (code != 0 && code != EINPROGRESS) fail(CN_UNREACHABLE, "'%s': %s", url.c_str(), std::strerror(code));
  Connection& connection = add(std::move(socket), true);
  try {
    open_worker(connection);
  } catch (...) {
    remove(connection);
    throw;
  }
  connection.host = host_connection;
  return connection;
}

void Transport::accept(Descriptor socket) {
  Connection& connection = add(std::move(socket), false);
  connection.is_connected = true;
  connection.host =
      host_.accepted(endpoint_, reinterpret_cast<cn_transport*>(this), reinterpret_cast<cn_connection*>(&connection));
  if (!connection.host) remove(connection);
}

bool Transport::serve_sockets() {
  epoll_event events[kEvents];
  const std::span<epoll_event> ready = sockets_.ready(events);
  for (const epoll_event& event : ready) {
    if (event.data.fd == listeners_.number())
      listeners_.accept([&](Descriptor socket, bool) { accept(std::move(socket)); });
    const auto found = by_socket_.find(event.data.fd);
    if (found == by_socket_.end()) continue;
    try {
      serve(*found->second);
    } catch (const std::exception& error) {
      note_failure(*found->second, error.what());
    }
  }
  return !ready.empty();
}

void Transport::serve(Connection& connection) {
  const int socket = connection.socket.number();
  if (!connection.is_connected) {
    int code = 0;
    socklen_t size = sizeof code;
    if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size) != 0) code = errno;
    if (code != 0) return note_failure(connection, std::strerror(code));
    // An event may come before the connection stands.
    sockaddr_storage other;
    socklen_t other_size = sizeof other;
    if (getpeername(socket, reinterpret_cast<sockaddr*>(&other), &other_size) != 0) return;
    connection.is_connected = true;
  }
  const auto write = [&] {
    while (!connection.to_write.empty()) {
      const ssize_t sent = ::send(socket, connection.to_write.data(), connection.to_write.size(), MSG_NOSIGNAL);
      if (sent < 0) return;  // more follows with the next event
      connection.to_write.erase(0, static_cast<size_t>(sent));
    }
  };
  write();
  for (;;) {
    char bytes[4096];
    const ssize_t size = recv(socket, bytes, sizeof bytes, 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (size <= 0) return note_failure(connection, size == 0 ? "the other side has ended" : std::strerror(errno));
    if (connection.is_open || connection.heard.size() > kLongestAddress + sizeof(Hello))
      return note_failure(connection, "the other side does not follow the protocol");
    connection.heard.append(bytes, static_cast<size_t>(size));
  }
  Hello hello{};
  if (connection.is_open || connection.has_failed || connection.heard.size() < sizeof hello) return;
  std::memcpy(&hello, connection.heard.data(), sizeof hello);
  if (hello.magic != kMagic || hello.size > kLongestAddress)
    return note_failure(connection, "the other side does not follow the protocol");
  if (connection.heard.size() < sizeof hello + hello.size || !connection.host) return;
  connection.heard.erase(0, sizeof hello);
  if (!connection.worker) open_worker(connection);
  open_endpoint(connection);
  write();
}

void Transport::open_endpoint(Connection& connection) {
  ucp_ep_params_t parameters{};
  parameters.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  parameters.address = reinterpret_cast<const ucp_address_t*>(connection.heard.data());
  parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  parameters.err_handler.arg = &connection;
  parameters.err_handler.cb = [](void* own, ucp_ep_h, ucs_status_t status) {
    auto& failed = *static_cast<Connection*>(own);
    failed.owner.note_failure(failed, failed.owner.ucp_.ucs_status_string(status));
  };
  if (const ucs_status_t status = ucp_.ucp_ep_create(connection.worker, &parameters, &connection.endpoint);
      status != UCS_OK) {
    connection.endpoint = nullptr;
    fail(CN_UNREACHABLE, "%s", ucp_.ucs_status_string(status));
  }
  connection.is_open = true;
  arrived_.add(connection);
  if (connection.has_begun) host_.connected(connection.host);
}

}  // namespace commnet::ucx
