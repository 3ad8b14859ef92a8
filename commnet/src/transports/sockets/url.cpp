#include "transports/sockets/url.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace commnet::sockets {

namespace {

constexpr std::string_view kTcp = "tcp://", kUnix = "unix:";
constexpr int kBacklog = 1024;

Address parse_unix(const std::string& url, std::string_view path) {
  Address address;
  auto* const name = reinterpret_cast<sockaddr_un*>(&address.storage);
  name->sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof name->sun_path)
    fail(CN_INVALID_ARGUMENT, "'%s': the path must have 1 to %zu bytes", url.c_str(), sizeof name->sun_path - 1);
  std::memcpy(name->sun_path, path.data(), path.size());
  // Names without a file begin with a zero byte, and have no zero byte at their end.
  const bool has_file = path[0] != '@';
  if (!has_file) name->sun_path[0] = '\0';
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (has_file ? 1 : 0));
  return address;
}

Address parse_tcp(const std::string& url, std::string_view rest) {
  const size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == rest.size())
    fail(CN_INVALID_ARGUMENT, "'%s' must be tcp://host:port", url.c_str());
  std::string host(rest.substr(0, colon));
  const std::string port(rest.substr(colon + 1));
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &found))
    fail(CN_INVALID_ARGUMENT, "'%s': %s", url.c_str(), gai_strerror(code));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, freeaddrinfo);
  Address address;
  address.size = found->ai_addrlen;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  return address;
}

}  // namespace

std::string Address::file() const {
  if (!is_unix()) return {};
  return reinterpret_cast<const sockaddr_un*>(&storage)->sun_path;
}

Address parse(const std::string& url) {
  const std::string_view text = url;
  if (text.starts_with(kUnix)) return parse_unix(url, text.substr(kUnix.size()));
  if (text.starts_with(kTcp)) return parse_tcp(url, text.substr(kTcp.size()));
  fail(CN_INVALID_ARGUMENT, "'%s' is neither tcp://host:port nor unix:path", url.c_str());
}

std::string url_of(const Descriptor& socket) {
  Address address;
  address.size = sizeof address.storage;
  if (getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address.storage), &address.size) != 0)
    fail_with_errno("getsockname");
  if (address.is_unix()) {
    const auto* const name = reinterpret_cast<const sockaddr_un*>(&address.storage);
    const size_t length = address.size - offsetof(sockaddr_un, sun_path);
    std::string path(name->sun_path, length);
    if (path[0] == '\0')
      path[0] = '@';
    else
      path.resize(std::strlen(path.c_str()));
    return std::string(kUnix) + path;
  }
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (const int code = getnameinfo(address.get(), address.size, host, sizeof host, port, sizeof port,
                                   NI_NUMERICHOST | NI_NUMERICSERV))
    fail(CN_SYSTEM_ERROR, "getnameinfo: %s", gai_strerror(code));
  const bool is_long = address.storage.ss_family == AF_INET6;
  return std::string(kTcp) + (is_long ? "[" : "") + host + (is_long ? "]:" : ":") + port;
}

Descriptor open_socket(const Address& address, int type) {
  return Descriptor::checked(::socket(address.storage.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
}

namespace {

// Removes the file of a Unix socket that no process listens at any more.
void remove_dead_file(const Address& address, const std::string& path) {
  if (path.empty() || errno != EADDRINUSE) return;
  // A connection to a file of another kind is refused, too.
  struct stat file {};
  const bool is_socket = lstat(path.c_str(), &file) == 0 && S_ISSOCK(file.st_mode);
  errno = EADDRINUSE;
  if (!is_socket) return;
  const Descriptor probe = open_socket(address);
  if (connect(probe.number(), address.get(), address.size) != 0 && errno == ECONNREFUSED) unlink(path.c_str());
  errno = EADDRINUSE;
}

}  // namespace

Descriptor listen_at(const Address& address, int type) {
  Descriptor socket = open_socket(address, type);
  const int on = 1;
  if (!address.is_unix()) setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(socket.number(), address.get(), address.size) != 0) {
    remove_dead_file(address, address.file());
    if (bind(socket.number(), address.get(), address.size) != 0) fail_with_errno("bind");
  }
  if (listen(socket.number(), kBacklog) != 0) fail_with_errno("listen");
  return socket;
}

}  // namespace commnet::sockets
