#include "launch/addresses.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

#include "launch/descriptor.h"
#include "launch/failure.h"

namespace oneflow::launch {

namespace {

using Found = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

std::string text_of(const sockaddr* address, socklen_t length) {
  char text[NI_MAXHOST];
  const int error = getnameinfo(address, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  if (error != 0) throw Failure(std::string("an address cannot be written as text: ") + gai_strerror(error));
  return text;
}

// Returns the address of a network interface; empty if there is none of this name.
std::string address_of_interface(const std::string& name) {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return "";
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, freeifaddrs);
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next)
    if (name == each->ifa_name && each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET)
      return text_of(each->ifa_addr, sizeof(sockaddr_in));
  return "";
}

Found look_up(const std::string& name) {
  addrinfo wanted{}, *first = nullptr;
  wanted.ai_socktype = SOCK_DGRAM;
  const int error = getaddrinfo(name.c_str(), "9", &wanted, &first);
  if (error != 0)
    throw Failure("the address of " + name + " is not known: " + gai_strerror(error) +
                  "; --address says where rank 0 is reached");
  return {first, freeaddrinfo};
}

}  // namespace

std::string resolve(const std::string& name) {
  if (std::string found = address_of_interface(name); !found.empty()) return found;
  const Found found = look_up(name);
  return text_of(found->ai_addr, found->ai_addrlen);
}

std::string own_address_towards(const std::string& address) {
  const Found found = look_up(address);
  // A datagram socket sends nothing when it is connected: the system only chooses a route.
  const Descriptor socket(::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (!socket.is_open() || connect(socket.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0)
    fail_with(errno, "there is no way to " + address);
  return text_of(reinterpret_cast<sockaddr*>(&own), length);
}

int free_port() {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in own{};
  own.sin_family = AF_INET;
  socklen_t length = sizeof own;
  if (!socket.is_open() || bind(socket.get(), reinterpret_cast<sockaddr*>(&own), length) != 0 ||
      getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0)
    fail_with(errno, "there is no free port");
  return ntohs(own.sin_port);
}

std::string tcp_meeting(const std::string& address, int port) {
  const bool is_version_6 = address.find(':') != std::string::npos;
  return "tcp://" + (is_version_6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

}  // namespace oneflow::launch
