// Bytes that go from one process to another one through memory that both have mapped.
//
// The bytes are cut into records, which begin with their size: the reader waits for that of the next record to become
// other than zero, and finds the bytes of a small one in the same cache line. A writer therefore makes the size of the
// next record zero before it shows one.
//
// Each side keeps the numbers that it trusts for itself: what the other side writes into the ring may be nonsense.
#ifndef COMMNET_TRANSPORTS_SHARED_RING_H_
#define COMMNET_TRANSPORTS_SHARED_RING_H_

#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace commnet::shared {

// Bytes of a ring, and the most of a record: the reader copies one while the writer fills the next.
constexpr uint64_t kRing = 256 << 10, kRecord = 32 << 10;
// Records begin at cache lines.
constexpr uint64_t kLine = 64;

// What both sides see of a ring, besides its bytes. Each number has a cache line of its own, as one side waits for what
// the other one changes.
struct RingState {
  alignas(kLine) std::atomic<uint64_t> read;           // bytes so far
  alignas(kLine) std::atomic<uint32_t> reader_sleeps;  // and is to be woken when there is more
  // The writer waits until this many bytes are read, and is to be woken then; 0: it does not wait.
  alignas(kLine) std::atomic<uint64_t> writer_awaits;
};

using RecordSize = std::atomic<uint64_t>;
static_assert(RecordSize::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

class Writer {
 public:
  Writer() = default;
  Writer(RingState& state, char* bytes) : state_(&state), bytes_(bytes) {}

  // Writes as many bytes of some parts as there is room for, and returns how many.
  uint64_t write(const iovec* parts, size_t count) {
    uint64_t total = 0, skipped = 0;  // of the first part
    while (count > 0) {
      // Behind the record there must be room for the size of the next one.
      const uint64_t place = written_ % kRing;
      const uint64_t room = std::min({this->room(), kRing - place + kLine, kRecord + kLine});
      if (room <= kLine) break;
      const uint64_t most = room - kLine - sizeof(RecordSize);
      char* const begin = bytes_ + place + sizeof(RecordSize);
      uint64_t size = 0;
      while (count > 0 && size < most) {
        const uint64_t taken = std::min(most - size, parts->iov_len - skipped);
        std::memcpy(begin + size, static_cast<const char*>(parts->iov_base) + skipped, taken);
        size += taken;
        skipped += taken;
        if (skipped < parts->iov_len) break;
        skipped = 0;
        ++parts;
        --count;
      }
      if (size == 0) break;
      written_ += (sizeof(RecordSize) + size + kLine - 1) / kLine * kLine;
      size_at(written_).store(0, std::memory_order_relaxed);
      size_at(place).store(size, std::memory_order_release);
      is_shown_ = false;
      total += size;
    }
    return total;
  }

  // Returns whether the reader is to be woken for what was written.
  bool wakes_reader() {
    if (is_shown_) return false;
    is_shown_ = true;
    // In this order on both sides: either this one finds the reader asleep, or the reader finds the bytes.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return state_->reader_sleeps.load(std::memory_order_relaxed) != 0 && state_->reader_sleeps.exchange(0) != 0;
  }

  // Has the reader wake this side once there is room. Returns false if there is some already.
  bool await_room() {
    constexpr uint64_t kWanted = kRing / 4;
    state_->writer_awaits.store(written_ + kWanted - kRing, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return fresh_room() < kWanted;
  }

 private:
  RecordSize& size_at(uint64_t position) { return *reinterpret_cast<RecordSize*>(bytes_ + position % kRing); }
  uint64_t room() { return kRing - (written_ - read_) >= kRecord ? kRing - (written_ - read_) : fresh_room(); }
  uint64_t fresh_room() {
    const uint64_t read = state_->read.load(std::memory_order_acquire);
    if (read % kLine == 0 && written_ - read <= kRing) read_ = read;  // else it is nonsense
    return kRing - (written_ - read_);
  }

  RingState* state_ = nullptr;
  char* bytes_ = nullptr;
  uint64_t written_ = 0;
  bool is_shown_ = true;
  uint64_t read_ = 0;  // as far as it is known
};

class Reader {
 public:
  Reader() = default;
  Reader(RingState& state, char* bytes) : state_(&state), bytes_(bytes) {}

  // Returns the bytes of the next record, and sets *size to how many there are; 0: there is none yet. Sets
  // *is_nonsense if there is no such record.
  const char* next(uint64_t* size, bool* is_nonsense) const {
    const uint64_t place = read_ % kRing;
    *size = size_at(place).load(std::memory_order_acquire);
    *is_nonsense = *size > std::min(kRecord, kRing - place) - sizeof(RecordSize);
    return bytes_ + place + sizeof(RecordSize);
  }
  // Gives the record back to the writer. Returns whether that one is to be woken.
  bool skip(uint64_t size) {
    read_ += (sizeof(RecordSize) + size + kLine - 1) / kLine * kLine;
    if (read_ - shown_ < kRecord) return false;
    shown_ = read_;
    state_->read.store(read_, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const uint64_t awaited = state_->writer_awaits.load(std::memory_order_relaxed);
    return awaited != 0 && static_cast<int64_t>(read_ - awaited) >= 0 && state_->writer_awaits.exchange(0) != 0;
  }

  // Has the writer wake this side once there is something to read. Returns false if there is something already.
  bool sleep() {
    state_->reader_sleeps.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return size_at(read_).load(std::memory_order_relaxed) == 0;
  }
  void wake() { state_->reader_sleeps.store(0, std::memory_order_relaxed); }

 private:
  RecordSize& size_at(uint64_t position) const { return *reinterpret_cast<RecordSize*>(bytes_ + position % kRing); }

  RingState* state_ = nullptr;
  char* bytes_ = nullptr;
  uint64_t read_ = 0, shown_ = 0;
};

}  // namespace commnet::shared

#endif  // COMMNET_TRANSPORTS_SHARED_RING_H_
