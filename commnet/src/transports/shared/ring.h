// Bytes that go from one process to another one through memory that both have mapped.
//
// Each side keeps the numbers that it trusts for itself: what the other side writes into the ring may be nonsense.
#ifndef COMMNET_TRANSPORTS_SHARED_RING_H_
#define COMMNET_TRANSPORTS_SHARED_RING_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace commnet::shared {

// Bytes of a ring, a power of two.
constexpr uint64_t kRing = 256 << 10;
// After how many bytes the other side hears of them: both then copy at the same time.
constexpr uint64_t kStep = 32 << 10;

// What both sides see of a ring. Each number has a cache line of its own, as one side waits for what the other one
// changes.
struct RingState {
  alignas(64) std::atomic<uint64_t> written;            // bytes so far
  alignas(64) std::atomic<uint64_t> read;               // of them
  alignas(64) std::atomic<uint32_t> reader_sleeps;      // and is to be woken when more is written
  alignas(64) std::atomic<uint32_t> writer_is_waiting;  // for room, and is to be woken
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

class Writer {
 public:
  Writer() = default;
  Writer(RingState& state, char* bytes) : state_(&state), bytes_(bytes) {}

  // Writes as many bytes as there is room for, and returns how many. Calls wake() when the reader is to be woken.
  template <class Wake>
  uint64_t write(const void* data, uint64_t size, Wake&& wake) {
    const auto* from = static_cast<const char*>(data);
    uint64_t left = size;
    while (left > 0) {
      const uint64_t place = written_ % kRing;
      const uint64_t count = std::min({left, room(), kRing - place, kStep});
      if (count == 0) break;
      std::memcpy(bytes_ + place, from, count);
      written_ += count;
      from += count;
      left -= count;
      if (written_ - shown_ >= kStep) show(wake);
    }
    return size - left;
  }

  // Lets the reader see what was written.
  template <class Wake>
  void show(Wake&& wake) {
    if (shown_ == written_) return;
    shown_ = written_;
    state_->written.store(written_, std::memory_order_release);
    // In this order on both sides: either this one finds the reader asleep, or the reader finds the bytes.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (state_->reader_sleeps.load(std::memory_order_relaxed) != 0 && state_->reader_sleeps.exchange(0) != 0) wake();
  }

  // Has the reader wake this side once there is room. Returns false if there is some already.
  bool await_room() {
    state_->writer_is_waiting.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return fresh_room() < kRing / 4;
  }
  // Returns whether the reader has read all.
  bool is_empty() const { return state_->read.load(std::memory_order_relaxed) == written_; }

 private:
  uint64_t room() { return written_ - read_ < kRing ? kRing - (written_ - read_) : fresh_room(); }
  uint64_t fresh_room() {
    const uint64_t read = state_->read.load(std::memory_order_acquire);
    if (written_ - read <= kRing) read_ = read;  // else it is nonsense
    return kRing - (written_ - read_);
  }

  RingState* state_ = nullptr;
  char* bytes_ = nullptr;
  uint64_t written_ = 0, shown_ = 0;
  uint64_t read_ = 0;  // as far as it is known
};

class Reader {
 public:
  Reader() = default;
  Reader(RingState& state, const char* bytes) : state_(&state), bytes_(bytes) {}

  // Returns how many bytes there are to read; more than kRing if the writer has written nonsense.
  uint64_t available() const { return state_->written.load(std::memory_order_acquire) - read_; }
  // Returns where the next bytes are, and sets *count to how many follow each other there, of `available`.
  const char* next(uint64_t available, uint64_t* count) const {
    const uint64_t place = read_ % kRing;
    *count = std::min({available, kRing - place, kStep});
    return bytes_ + place;
  }
  // Gives bytes back to the writer. Calls wake() when that one is to be woken.
  template <class Wake>
  void skip(uint64_t count, Wake&& wake) {
    read_ += count;
    if (read_ - shown_ >= kStep) show(wake);
  }
  template <class Wake>
  void show(Wake&& wake) {
    if (shown_ == read_) return;
    shown_ = read_;
    state_->read.store(read_, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const bool has_room = state_->written.load(std::memory_order_relaxed) - read_ <= kRing * 3 / 4;
    if (has_room && state_->writer_is_waiting.load(std::memory_order_relaxed) != 0 &&
        state_->writer_is_waiting.exchange(0) != 0)
      wake();
  }

  // Has the writer wake this side once there is something to read. Returns false if there is something already.
  bool sleep() {
    state_->reader_sleeps.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return available() == 0;
  }
  void wake() { state_->reader_sleeps.store(0, std::memory_order_relaxed); }

 private:
  RingState* state_ = nullptr;
  const char* bytes_ = nullptr;
  uint64_t read_ = 0, shown_ = 0;
};

}  // namespace commnet::shared

#endif  // COMMNET_TRANSPORTS_SHARED_RING_H_
