// The process at the other end of a Unix socket, whose memory this one may be able to read.
#ifndef COMMNET_TRANSPORTS_SOCKETS_NEIGHBOUR_H_
#define COMMNET_TRANSPORTS_SOCKETS_NEIGHBOUR_H_

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>

namespace commnet::sockets {

// What both sides send first: where random bytes are in the process, and the bytes. Whoever finds them there can read
// its memory. Processes of other users and other namespaces, and those that the system protects, cannot.
struct Greeting {
  uint64_t address;
  std::array<uint8_t, 32> bytes;
};

class Neighbour {
 public:
  explicit Neighbour(pid_t process);

  Greeting greeting() const { return {reinterpret_cast<uintptr_t>(bytes_.get()), *bytes_}; }
  // Finds out whether the memory of the process can be read.
  void greet(const Greeting& other);
  bool reaches_memory() const { return reaches_memory_; }
  // Copies bytes of its memory. Returns 0 or the number of an error.
  int pull(void* destination, uint64_t remote, uint64_t size) const;

 private:
  const pid_t process_;
  bool reaches_memory_ = false;
  const std::unique_ptr<std::array<uint8_t, 32>> bytes_;
};

}  // namespace commnet::sockets

#endif  // COMMNET_TRANSPORTS_SOCKETS_NEIGHBOUR_H_
