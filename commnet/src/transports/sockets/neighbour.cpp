#include "transports/sockets/neighbour.h"

#include <sys/uio.h>

#include <cerrno>

#include "core/secure.h"

namespace commnet::sockets {

Neighbour::Neighbour(pid_t process) : process_(process), bytes_(std::make_unique<std::array<uint8_t, 32>>()) {
  fill_randomly(*bytes_);
}

void Neighbour::greet(const Greeting& other) {
  std::array<uint8_t, 32> found{};
  reaches_memory_ =
      process_ > 0 && pull(found.data(), other.address, found.size()) == 0 && are_same(found, other.bytes);
}

int Neighbour::pull(void* destination, uint64_t remote, uint64_t size) const {
  auto* to = static_cast<char*>(destination);
  while (size > 0) {
    const iovec local{to, size}, other{reinterpret_cast<void*>(remote), size};
    const ssize_t copied = process_vm_readv(process_, &local, 1, &other, 1, 0);
    if (copied <= 0) return copied < 0 ? errno : EFAULT;
    to += copied;
    remote += static_cast<uint64_t>(copied);
    size -= static_cast<uint64_t>(copied);
  }
  return 0;
}

}  // namespace commnet::sockets
