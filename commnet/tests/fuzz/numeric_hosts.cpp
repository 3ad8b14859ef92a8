// Keeps names of hosts from being looked up: linked with --wrap=getaddrinfo.
#include <netdb.h>

extern "C" {
int __real_getaddrinfo(const char* host, const char* port, const addrinfo* hints, addrinfo** found);

int __wrap_getaddrinfo(const char* host, const char* port, const addrinfo* hints, addrinfo** found) {
  addrinfo numeric = *hints;
  numeric.ai_flags |= AI_NUMERICHOST;
  return __real_getaddrinfo(host, port, &numeric, found);
}
}
