// The process at the other end of a Unix socket, whose memory this one may be able to read.
#ifndef COMMNET_TRANSPORTS_SOCKETS_NEIGHBOUR_H_
#define COMMNET_TRANSPORTS_SOCKETS_NEIGHBOUR_H_

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <memory>

#include "core/descriptor.h"
#include "transports/sockets/page.h"

namespace commnet::sockets {

// What both sides send first: where random bytes are in the process, and the bytes. Whoever finds them there can read
// its memory. Processes of other users and other namespaces, and those that the system protects, cannot. The page of
// the process goes along.
struct Greeting {
  uint64_t address;
  std::array<uint8_t, 32> bytes;
};

class Neighbour {
 public:
  explicit Neighbour(pid_t process);

  // Sends the greeting. Returns 0 or the number of an error.
  int send_greeting(int socket);
  bool has_sent_greeting() const { return has_sent_greeting_; }
  // Receives into `parts`, as readv() does, while the greeting of the other side is not complete.
  ssize_t receive(int socket, iovec* parts, size_t count);
  // Finds out whether the memory of the process can be read.
  void greet(const Greeting& other);

  bool reaches_memory() const { return reaches_memory_; }
  // Returns what the other process needs to copy from this one's memory now.
  uint64_t grant() const { return own_page_ ? own_page_->revocations.load() : 0; }
  // Makes all grants invalid, and waits until the other process does not copy any more. Returns false if it does not
  // stop.
  bool revoke(int socket);
  // Copies bytes of its memory. Returns 0, ESTALE for a grant that was revoked, or the number of another error.
  int pull(void* destination, uint64_t remote, uint64_t size, uint64_t grant);

 private:
  int read_memory(void* destination, uint64_t remote, uint64_t size) const;

  const pid_t process_;
  bool has_sent_greeting_ = false, reaches_memory_ = false;
  const std::unique_ptr<std::array<uint8_t, 32>> bytes_;
  Descriptor own_file_, other_file_;  // until they are sent, and mapped
  Page own_page_, other_page_;
};

}  // namespace commnet::sockets

#endif  // COMMNET_TRANSPORTS_SOCKETS_NEIGHBOUR_H_
