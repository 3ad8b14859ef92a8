// The uses of a block of memory whose order the stream that owns it does not ensure.
#ifndef ONEFLOW_DEVICE_USES_H_
#define ONEFLOW_DEVICE_USES_H_

#include <memory>
#include <vector>

#include "device/stream.h"

namespace oneflow {

// Whether blocks note their uses. It is set, for good, when the process first creates a stream or first copies
// page-locked memory without waiting. Until then, no use needs to be noted.
extern std::atomic<bool> uses_are_noted;

// The uses of one block: work of other streams than its own, and for page-locked memory, copies that may be running.
// Thread-safe.
class Uses {
 public:
  // Notes that work of a stream uses the block from now on.
  void add(Stream& stream);
  // Notes a copy in a stream, of which `end` marks the end. `writes` says whether it writes the block.
  void add_copy(Stream& stream, Event end, bool writes);
  // Returns whether no use is noted.
  bool are_empty() const;
  // Makes later work of a stream wait for the copies. Blocks the host if it cannot wait by an event.
  void order_copies_before(Stream& stream);
  // Waits on the host for the copies. Throws the errors of the work before a copy that writes.
  void wait_for_copies();
  // Returns events after which the block is unused, and forgets the uses. Waits for a stream in which no event can be
  // recorded.
  std::vector<Event> finish() noexcept;
  // Makes later work of a stream wait for the uses, and forgets them.
  void finish_before(Stream& stream) noexcept;

 private:
  struct Use {
    Stream* stream;
    uint64_t id;                 // of the stream: another one was opened after the work was done
    std::shared_ptr<Event> end;  // of a copy
    bool writes;
  };
  // Returns the place of a stream in the list.
  std::vector<Use>::iterator find(const Stream& stream);
  std::vector<Use> snapshot() const;

  std::vector<Use> uses_;  // at most one per stream
};

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_USES_H_
