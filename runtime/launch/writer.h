// Writes to a terminal, a pipe or a file when it takes more, so that a slow reader does not keep the program from
// handling signals.
#ifndef ONEFLOW_LAUNCH_WRITER_H_
#define ONEFLOW_LAUNCH_WRITER_H_

#include <string>
#include <string_view>

#include "launch/descriptor.h"
#include "launch/loop.h"

namespace oneflow::launch {

class Writer {
 public:
  // Writes to a descriptor that stays open until after the writer, or to one of its own.
  Writer(Loop& loop, int descriptor);
  Writer(Loop& loop, Descriptor descriptor);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { stop(); }

  // Takes bytes, which are dropped if an earlier write has failed.
  void write(std::string_view bytes);
  // Closes the writer's own descriptor when all is written.
  void end();

  // Returns whether so much waits to be written that nothing should be read for it.
  bool is_full() const { return pending() >= kMany; }
  bool is_empty() const { return pending() == 0; }
  // Returns the number of the error of a write; 0 if there was none.
  int error() const { return error_; }

 private:
  static constexpr size_t kMany = 1 << 20;

  size_t pending() const { return bytes_.size() - written_; }
  void flush();
  void stop();

  Loop& loop_;
  Descriptor owned_;
  int descriptor_;  // -1: closed
  size_t most_;     // that one write takes without blocking
  std::string bytes_;
  size_t written_ = 0;
  int error_ = 0;
  bool is_ending_ = false;
};

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_WRITER_H_
