// How connections over UCX begin: over a socket, the two sides greet each other with the addresses of their workers.
// The one who has accepted offers a link that there is already, and the other one chooses it, or a new one.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "core/secure.h"
#include "core/status.h"
#include "core/transports.h"
#include "transports/sockets/url.h"
#include "transports/ucx/transport.h"

namespace commnet::ucx {

namespace {

constexpr std::string_view kScheme = "ucx://", kSocketScheme = "tcp://";
constexpr int kEvents = 64;

// What each side sends first, with the address of its worker after it.
struct Greeting {
  uint32_t magic, size;
  uint64_t number;  // of the connection, for its messages
  // Of the side that has accepted: the link that it offers, and the next one that it can make.
  uint32_t link, next;
};
constexpr uint32_t kMagic = 0x32786e63;
constexpr uint32_t kLongestAddress = 64 << 10;
constexpr const char* kNotTheProtocol = "the other side does not follow the protocol";

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
  uint64_t number = 0;
  do {
    fill_randomly({reinterpret_cast<uint8_t*>(&number), sizeof number});
  } while (connections_.contains(number));
  auto connection = std::unique_ptr<Connection>(new Connection{*this, has_begun, number});
  Connection& added = *connection;
  added.socket = std::move(socket);
  const size_t room = connections_.size() + 1;
  for (auto* const list : {&writable_, &arrived_, &failed_, &revoking_}) list->make_room(room);
  ending_.reserve(room);
  const auto place = by_socket_.emplace(added.socket.number(), &added).first;
  try {
    connections_.emplace(number, std::move(connection));
  } catch (...) {
    by_socket_.erase(place);
    throw;
  }
  return added;
}

void Transport::remove(Connection& connection) {
  by_socket_.erase(connection.socket.number());
  connections_.erase(connection.number);
}

Connection& Transport::connect(const std::string& url, cn_host_connection* host_connection) {
  const sockets::Address address = parse(url);
  Descriptor socket = sockets::open_socket(address);
  const int code = ::connect(socket.number(), address.get(), address.size) == 0 ? 0 : errno;
  if (code != 0 && code != EINPROGRESS) fail(CN_UNREACHABLE, "'%s': %s", url.c_str(), std::strerror(code));
  Connection& connection = add(std::move(socket), true);
  try {
    greet(connection, kNoLink, 0);
  } catch (...) {
    remove(connection);
    throw;
  }
  connection.host = host_connection;
  return connection;
}

void Transport::accept(Descriptor socket) {
  Connection& connection = add(std::move(socket), false);
  connection.state = Connection::State::kGreeted;
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
  if (!connect_socket(connection)) return;
  const auto write = [&] {
    std::string& bytes = connection.to_write;
    while (!bytes.empty()) {
      const ssize_t sent = ::send(connection.socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) return;  // more follows with the next event
      bytes.erase(0, static_cast<size_t>(sent));
    }
  };
  write();
  if (!read_socket(connection) || !connection.host) return;
  if (connection.state == Connection::State::kGreeted) take_greeting(connection);
  if (connection.state == Connection::State::kOffered) take_choice(connection);
  write();
}

// Returns whether the socket is connected.
bool Transport::connect_socket(Connection& connection) {
  if (connection.state != Connection::State::kConnecting) return true;
  const int socket = connection.socket.number();
  int code = 0;
  socklen_t size = sizeof code;
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size) != 0) code = errno;
  if (code != 0) {
    note_failure(connection, std::strerror(code));
    return false;
  }
  // An event may come before the connection stands.
  sockaddr_storage other;
  socklen_t other_size = sizeof other;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&other), &other_size) != 0) return false;
  connection.state = Connection::State::kGreeted;
  return true;
}

// Returns whether what has arrived is to be looked at.
bool Transport::read_socket(Connection& connection) {
  for (;;) {
    char bytes[4096];
    const ssize_t size = recv(connection.socket.number(), bytes, sizeof bytes, 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return !connection.has_failed;
    if (size <= 0) {
      note_failure(connection, size == 0 ? "the other side has ended" : std::strerror(errno));
      return false;
    }
    if (connection.link_is_chosen() || connection.heard.size() > kLongestAddress + sizeof(Greeting)) {
      note_failure(connection, kNotTheProtocol);
      return false;
    }
    connection.heard.append(bytes, static_cast<size_t>(size));
  }
}

void Transport::greet(Connection& connection, uint32_t link, uint32_t next) {
  const std::string& address = worker_.address();
  const Greeting greeting{kMagic, static_cast<uint32_t>(address.size()), connection.number, link, next};
  connection.to_write.assign(reinterpret_cast<const char*>(&greeting), sizeof greeting);
  connection.to_write += address;
}

void Transport::take_greeting(Connection& connection) {
  Greeting greeting;
  std::string& heard = connection.heard;
  if (heard.size() < sizeof greeting) return;
  std::memcpy(&greeting, heard.data(), sizeof greeting);
  if (greeting.magic != kMagic || greeting.size > kLongestAddress) fail(CN_DENIED, kNotTheProtocol);
  if (heard.size() < sizeof greeting + greeting.size) return;
  connection.address = heard.substr(sizeof greeting, greeting.size);
  connection.other_number = greeting.number;
  heard.erase(0, sizeof greeting + greeting.size);
  const uint32_t usable = links_.usable(connection.address), next = links_.next(connection.address);
  if (!connection.has_begun) {
    // It is kept until the other side has chosen.
    if (usable != kNoLink) connection.link = &links_.use(connection.address, usable, connection);
    greet(connection, usable, next);
    connection.state = Connection::State::kOffered;
    return;
  }
  // A link of one side is good if the other one has it, too, or has not made it yet.
  uint32_t choice = std::max(next, greeting.next);
  if (greeting.link != kNoLink && (greeting.link == usable || greeting.link >= next))
    choice = greeting.link;
  else if (usable != kNoLink && usable >= greeting.next)
    choice = usable;
  connection.link = &links_.use(connection.address, choice, connection);
  connection.to_write.append(reinterpret_cast<const char*>(&choice), sizeof choice);
  join(connection);
}

void Transport::take_choice(Connection& connection) {
  uint32_t choice;
  if (connection.heard.size() < sizeof choice) return;
  if (connection.heard.size() > sizeof choice) fail(CN_DENIED, kNotTheProtocol);
  std::memcpy(&choice, connection.heard.data(), sizeof choice);
  Link* const offered = connection.link;
  if (!offered || offered->number != choice || !offered->is_usable()) {
    leave_link(connection);
    connection.link = &links_.use(connection.address, choice, connection);
  }
  join(connection);
}

void Transport::join(Connection& connection) {
  connection.state = Connection::State::kJoined;
  // Another one whose other side may choose this link keeps it, too.
  for (const auto& [number, other] : connections_)
    if (other->state == Connection::State::kOffered && !other->link && other->address == connection.address)
      other->link = &links_.use(connection.address, connection.link->number, *other);
  settle(connection);
}

// The two ends of a link find each other with the first message that is not small, or that has to wait. UCX does not
// survive that one of them ends before the other one has been able to answer (9ccaf31bb6 in UCX mends that). So each
// side waits until its end is connected. The one that leads then sends a small message, which is answered, and one
// that is not small; the connection is open when that has arrived.
void Transport::settle(Connection& connection) {
  if (connection.state != Connection::State::kJoined || !connection.host || !connection.link->is_connected) return;
  const bool leads = worker_.address() < connection.address;
  const auto say = [&](Message message) {
    if (!tell(connection, message)) throw std::bad_alloc();
  };
  if (leads && !std::exchange(connection.has_begun_to_settle, true)) say(kHello);
  if (connection.has_hello && !std::exchange(connection.has_answered, true)) say(leads ? kSettle : kHello);
  if (connection.is_settled) open(connection);
}

void Transport::open(Connection& connection) {
  connection.state = Connection::State::kOpen;
  connection.heard = connection.address = {};
  arrived_.add(connection);
  needs_wake_ = true;
  if (connection.has_begun) host_.connected(connection.host);
}

}  // namespace commnet::ucx
