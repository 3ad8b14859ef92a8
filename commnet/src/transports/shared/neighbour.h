// The process at the other end of a connection, whose memory this one reads and writes.
#ifndef COMMNET_TRANSPORTS_SHARED_NEIGHBOUR_H_
#define COMMNET_TRANSPORTS_SHARED_NEIGHBOUR_H_

#include <sys/types.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>

#include "transports/shared/segment.h"

namespace commnet::shared {

// Where random bytes are in a process, and the bytes. Who finds them there can read its memory. Processes of other
// namespaces, and those that the system protects, cannot.
struct Greeting {
  uint64_t address;
  std::array<uint8_t, 32> bytes;
};

class Neighbour {
 public:
  Neighbour();

  Greeting greeting() const { return {reinterpret_cast<uintptr_t>(bytes_.get()), *bytes_}; }
  // Finds out whether the memory of a process can be read.
  void greet(pid_t process, const Greeting& other);
  // `own` is for copies of this process's memory, `other` for those of the other's.
  void set_states(CopyState& own, CopyState& other) {
    own_ = &own;
    other_ = &other;
  }
  bool reaches_process() const { return reaches_process_; }

  // Returns what the other process needs to copy from or to a region of this one's memory now.
  uint64_t grant(uint64_t region) const { return own_->revocations[region % kCounts].load(); }
  // Makes the grants of a region invalid; 0: all.
  void revoke(uint64_t region);
  // Waits until the other process does not copy any more from or to a region; 0: all. Returns false if it does not
  // stop.
  bool await_copies(int socket, uint64_t region) const;
  // Runs copy() unless the grant of a region was revoked. Returns what it returns, or ESTALE.
  template <class Copy>
  int with_grant(uint64_t region, uint64_t grant, Copy&& copy) {
    other_->copying.store(mark(region));
    const int code = other_->revocations[region % kCounts].load() == grant ? copy() : ESTALE;
    other_->copying.store(0);
    return code;
  }
  // Copy bytes of the other process's memory. They return 0 or the number of an error. `socket` tells whether the
  // process still lives: another one may have its number later, which must not be written to.
  int read(void* to, uint64_t remote, uint64_t size) const;
  int write(int socket, const void* from, uint64_t remote, uint64_t size) const;

 private:
  static uint32_t mark(uint64_t region) { return static_cast<uint32_t>(region % kCounts) + 1; }

  pid_t process_ = 0;
  bool reaches_process_ = false;
  const std::unique_ptr<std::array<uint8_t, 32>> bytes_;
  CopyState *own_ = nullptr, *other_ = nullptr;
};

}  // namespace commnet::shared

#endif  // COMMNET_TRANSPORTS_SHARED_NEIGHBOUR_H_
