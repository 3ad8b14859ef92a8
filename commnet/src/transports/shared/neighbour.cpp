#include "transports/shared/neighbour.h"

#include <sched.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "core/poller.h"
#include "core/secure.h"

namespace commnet::shared {

namespace {

using Clock = std::chrono::steady_clock;

// How long the end of a copy is waited for. What is copied at a time takes some microseconds; a process that does not
// run may keep others waiting.
constexpr Clock::duration kPatience = std::chrono::seconds(1);
// After this, the processor is left to others meanwhile.
constexpr Clock::duration kSpin = std::chrono::microseconds(100);

// Calls copy(local, remote) with what is still to be copied until nothing is left.
template <class Copy>
int copy_all(char* local, uint64_t remote, uint64_t size, Copy&& copy) {
  while (size > 0) {
    const iovec here{local, size}, there{reinterpret_cast<void*>(remote), size};
    const ssize_t copied = copy(here, there);
    if (copied <= 0) return copied < 0 ? errno : EFAULT;
    local += copied;
    remote += static_cast<uint64_t>(copied);
    size -= static_cast<uint64_t>(copied);
  }
  return 0;
}

}  // namespace

Neighbour::Neighbour() : bytes_(std::make_unique<std::array<uint8_t, 32>>()) { fill_randomly(*bytes_); }

void Neighbour::greet(pid_t process, const Greeting& other) {
  process_ = process;
  std::array<uint8_t, 32> found{};
  reaches_process_ =
      process > 0 && read(found.data(), other.address, found.size()) == 0 && are_same(found, other.bytes);
}

void Neighbour::revoke(uint64_t region) {
  if (region != 0) {
    own_->revocations[region % kCounts].fetch_add(1);
  } else {
    for (std::atomic<uint64_t>& count : own_->revocations) count.fetch_add(1);
  }
}

bool Neighbour::await_copies(int socket, uint64_t region) const {
  const auto is_copying = [&] {
    const uint32_t copying = own_->copying.load();
    return region != 0 ? copying == mark(region) : copying != 0;
  };
  if (!is_copying()) return true;
  const Clock::time_point begin = Clock::now();
  while (is_copying()) {
    const Clock::duration waited = Clock::now() - begin;
    if (waited < kSpin) {
      sched_yield();
      continue;
    }
    // The sockets of a process that has ended are closed after it has stopped to copy.
    if (has_ended(socket)) return true;
    if (waited > kPatience) return false;
    usleep(50);
  }
  return true;
}

int Neighbour::read(void* to, uint64_t remote, uint64_t size) const {
  return copy_all(static_cast<char*>(to), remote, size, [&](const iovec& here, const iovec& there) {
    return process_vm_readv(process_, &here, 1, &there, 1, 0);
  });
}

int Neighbour::write(int socket, const void* from, uint64_t remote, uint64_t size) const {
  if (has_ended(socket)) return ESRCH;
  return copy_all(
      static_cast<char*>(const_cast<void*>(from)), remote, size,
      [&](const iovec& here, const iovec& there) { return process_vm_writev(process_, &here, 1, &there, 1, 0); });
}

}  // namespace commnet::shared
