// File descriptors that are closed with their owner.
#ifndef ONEFLOW_LAUNCH_DESCRIPTOR_H_
#define ONEFLOW_LAUNCH_DESCRIPTOR_H_

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "launch/failure.h"

namespace oneflow::launch {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

// A pipe that programs which are started do not inherit.
struct Pipe {
  Descriptor reader, writer;

  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail_with(errno, "cannot make a pipe");
    reader = Descriptor(ends[0]);
    writer = Descriptor(ends[1]);
  }
};

// Lets reads and writes of a descriptor that no other process shares return at once.
inline void make_nonblocking(const Descriptor& descriptor) {
  fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_DESCRIPTOR_H_
