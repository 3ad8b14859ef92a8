// Messages over a Unix socket that carry files: by these, two processes share memory.
#ifndef COMMNET_TRANSPORTS_SHARED_LETTER_H_
#define COMMNET_TRANSPORTS_SHARED_LETTER_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "core/descriptor.h"
#include "transports/shared/neighbour.h"

namespace commnet::shared {

enum class LetterKind : uint32_t {
  kHello = 0x31686e63,  // the first one of each side; with a signal that wakes it, and the segment from who connects
  kRegion,              // the file of a region that the other side may access
};

struct Letter {
  LetterKind kind{};
  uint32_t ring = 0;    // bytes of a ring: both sides must agree
  Greeting greeting{};  // of kHello
  uint64_t region = 0;  // of kRegion
  uint64_t size = 0;
};

constexpr size_t kMostFiles = 2;

// Sends a letter with the files of some descriptors. Returns 0 or the number of an error.
int send_letter(int socket, const Letter& letter, std::initializer_list<int> files);
// Receives one. Returns 0, EAGAIN if there is none now, or the number of another error; ECONNRESET is the end.
int receive_letter(int socket, Letter& letter, Descriptor (&files)[kMostFiles]);

}  // namespace commnet::shared

#endif  // COMMNET_TRANSPORTS_SHARED_LETTER_H_
