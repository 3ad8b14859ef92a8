// The log of one thread, in words of 64 bits. A call has two notes: one before it runs, with its arguments, and one
// after it, with its results. Notes of nested calls are between these two.
#ifndef ONEFLOW_PROFILE_LOG_H_
#define ONEFLOW_PROFILE_LOG_H_

#include <oneflow/device_plugin.h>

#include <memory>
#include <new>
#include <span>
#include <vector>

#include "dispatch/call.h"

namespace oneflow::profile {

using Word = uint64_t;

// The words of a note before those of the values.
struct Begin {
  uint32_t words;  // the length of the note, in words
  bool is_end = false;
  uint8_t values;  // the number of values
  of_device device;
  const Operator* op;
  const char* caller;
  of_device_event event;  // on the device's stream, before the call; null if there is none
  int64_t tick;           // see host_clock.h
};
struct End {
  uint32_t words;
  bool is_end = true;
  uint8_t values;
  bool failed;
  int64_t tick;
  uint64_t memory;  // bytes that the thread has allocated during the call
  of_device_event event;
};

// A sequence of notes that only its thread extends, without locks and mostly without allocations.
class Log {
 public:
  // Returns room for one note; null once there was no memory for it: the log then stays as it is.
  Word* room() noexcept {
    if (static_cast<size_t>(limit_ - at_) < kMostWords) [[unlikely]]
      grow();
    return at_;
  }
  // Appends the note that was written to the room, up to `end`.
  void append(const Word* end) noexcept {
    used_.back() += static_cast<size_t>(end - at_);
    at_ = const_cast<Word*>(end);
  }

  // Calls visit(note) for each note: a pointer to its first word.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (size_t i = 0; i < chunks_.size(); ++i)
      for (const Word *at = chunks_[i].get(), *end = at + used_[i]; at < end;
           at += *reinterpret_cast<const uint32_t*>(at))
        visit(at);
  }

  static constexpr size_t kMostWords = 512;

 private:
  // A block of memory, whose pages are there at once: a note never waits for one.
  struct Unmap {
    void operator()(Word* chunk) const noexcept;
  };
  void grow() noexcept;

  static constexpr size_t kChunkWords = 16 << 10;
  Word* at_ = nullptr;
  Word* limit_ = nullptr;
  std::vector<std::unique_ptr<Word[], Unmap>> chunks_;
  std::vector<size_t> used_;  // words of each chunk
};

// A noted tensor.
struct TensorNote {
  of_dtype dtype;
  Shape sizes;

  uint64_t bytes() const;
  friend bool operator==(const TensorNote&, const TensorNote&) = default;
};

// Writes values to the room of a log, and returns the end of what it wrote. Values for which there is no room are
// omitted, and so are those that only some operators have.
Word* write_values(std::span<const of_value> values, Word* at, const Word* limit) noexcept;

// The values of a note, whose tensors have no memory.
class Values {
 public:
  // Reads `count` values.
  Values(const Word* at, int count, of_device device);

  std::span<const of_value> values() const { return values_; }
  // Returns whether values were omitted.
  bool is_cut() const { return is_cut_; }
  std::vector<TensorNote> tensors() const;

 private:
  const Word* read(const Word* at, of_device device);
  TensorRef read_tensor(const Word*& at, of_device device);

  std::vector<of_value> values_;
  std::vector<TensorRef> tensors_;
  std::vector<std::unique_ptr<of_tensor[]>> lists_;
  bool is_cut_ = false;
};

}  // namespace oneflow::profile

#endif  // ONEFLOW_PROFILE_LOG_H_
