// The bytes that a socket still has to send.
#ifndef COMMNET_TRANSPORTS_SOCKETS_OUTGOING_H_
#define COMMNET_TRANSPORTS_SOCKETS_OUTGOING_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace commnet::sockets {

class Outgoing {
 public:
  Outgoing();

  uint64_t size() const { return size_; }
  // Adds a copy of bytes.
  void copy(const void* data, uint64_t size);
  // Adds bytes that stay where they are until they are sent.
  void borrow(const void* data, uint64_t size, uint64_t cookie);
  // Forgets all bytes.
  void clear();
  // Copies what is borrowed of a range.
  void detach(const void* begin, uint64_t size);
  // Sends as much as the socket takes. Returns 0 or the number of an error; appends the cookies of what was sent.
  int send(int socket, std::vector<uint64_t>& cookies);

 private:
  struct Segment {
    const char* data;
    uint64_t size;
    uint64_t cookie;                // 0: none
    std::unique_ptr<char[]> block;  // what `data` is in, unless it is borrowed
    uint64_t room = 0;              // bytes that the block has after the data
  };

  std::unique_ptr<char[]> take_block();

  std::deque<Segment> segments_;
  std::vector<std::unique_ptr<char[]>> free_blocks_;
  uint64_t size_ = 0;
};

}  // namespace commnet::sockets

#endif  // COMMNET_TRANSPORTS_SOCKETS_OUTGOING_H_
