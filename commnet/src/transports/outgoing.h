// The bytes that a connection still has to send.
#ifndef COMMNET_TRANSPORTS_OUTGOING_H_
#define COMMNET_TRANSPORTS_OUTGOING_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace commnet {

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
  // Gives parts, at most kMostParts at a time, to give(parts, count) until there are no more or it takes only some of
  // them, or none. It returns how many bytes it has taken, or the negative number of an error. Returns 0 or that
  // number; appends the cookies of what was taken.
  template <class Give>
  int send(Give&& give, std::vector<uint64_t>& cookies) {
    while (size_ > 0) {
      cookies.reserve(cookies.size() + kMostParts);  // now: once bytes are sent, nothing may fail
      iovec parts[kMostParts];
      const size_t count = list(parts);
      const ssize_t taken = give(parts, count);
      if (taken < 0) return static_cast<int>(-taken);
      if (taken == 0) return 0;
      take_away(static_cast<uint64_t>(taken), cookies);
    }
    return 0;
  }

 private:
  struct Segment {
    const char* data;
    uint64_t size;
    uint64_t cookie;                // 0: none
    std::unique_ptr<char[]> block;  // what `data` is in, unless it is borrowed
    uint64_t room = 0;              // bytes that the block has after the data
  };

  static constexpr size_t kMostParts = 64;

  std::unique_ptr<char[]> take_block();
  // Lists the first parts; returns how many.
  size_t list(iovec (&parts)[kMostParts]) const;
  // Forgets bytes that were sent.
  void take_away(uint64_t count, std::vector<uint64_t>& cookies) noexcept;

  std::deque<Segment> segments_;
  std::vector<std::unique_ptr<char[]>> free_blocks_;
  uint64_t size_ = 0;
};

}  // namespace commnet

#endif  // COMMNET_TRANSPORTS_OUTGOING_H_
