// File descriptors that are closed with their objects.
#ifndef COMMNET_CORE_DESCRIPTOR_H_
#define COMMNET_CORE_DESCRIPTOR_H_

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "core/status.h"

namespace commnet {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  // Takes what a system call has returned. Throws Error if it has failed.
  static Descriptor checked(int number, const char* what) {
    if (number < 0) fail_with_errno(what);
    return Descriptor(number);
  }

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// A descriptor that is readable after raise(), until lower().
class Signal {
 public:
  Signal() : descriptor_(Descriptor::checked(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd")) {}

  int number() const { return descriptor_.number(); }
  void raise() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(number(), &one, sizeof one);  // fails only if it is raised already
  }
  void lower() const {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t read = ::read(number(), &count, sizeof count);
  }

 private:
  Descriptor descriptor_;
};

}  // namespace commnet

#endif  // COMMNET_CORE_DESCRIPTOR_H_
