// Addresses at which hosts reach each other.
#ifndef ONEFLOW_LAUNCH_ADDRESSES_H_
#define ONEFLOW_LAUNCH_ADDRESSES_H_

#include <string>

namespace oneflow::launch {

// Returns the numeric address of a host, or of a network interface of this one. Throws Failure.
std::string resolve(const std::string& name);

// Returns the address of this host from which another one is reached. Throws Failure.
std::string own_address_towards(const std::string& address);

// Returns a TCP port of this host that is free now.
int free_port();

// Returns the meeting at an address: "tcp://10.0.0.1:4000", "tcp://[fe80::1]:4000".
std::string tcp_meeting(const std::string& address, int port);

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_ADDRESSES_H_
