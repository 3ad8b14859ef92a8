// Addresses of sockets: "tcp://127.0.0.1:port", "tcp://[::1]:port", "unix:/a/path" and "unix:@name" without a file.
#ifndef COMMNET_TRANSPORTS_SOCKETS_URL_H_
#define COMMNET_TRANSPORTS_SOCKETS_URL_H_

#include <sys/socket.h>

#include <string>

#include "core/descriptor.h"

namespace commnet::sockets {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  bool is_unix() const { return storage.ss_family == AF_UNIX; }
  // Returns the path of the file of a Unix socket; "" if it has none.
  std::string file() const;
};

// Throws Error. The host must be a number.
Address parse(const std::string& url);
// Returns the URL of the address that a socket is bound to.
std::string url_of(const Descriptor& socket);
// Returns a socket for an address, which does not block.
Descriptor open_socket(const Address& address, int type = SOCK_STREAM);
// Returns a socket that listens at an address.
Descriptor listen_at(const Address& address, int type = SOCK_STREAM);

}  // namespace commnet::sockets

#endif  // COMMNET_TRANSPORTS_SOCKETS_URL_H_
