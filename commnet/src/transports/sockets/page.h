// A page of memory that two processes share, by which one of them stops the copies that the other makes of its memory.
#ifndef COMMNET_TRANSPORTS_SOCKETS_PAGE_H_
#define COMMNET_TRANSPORTS_SOCKETS_PAGE_H_

#include <atomic>
#include <cstdint>

#include "core/descriptor.h"

namespace commnet::sockets {

// Each process has a page for each other one. The owner counts revocations in it; who copies from the owner's memory
// sets `is_copying`, and then looks whether the count is still that of its grant. In this order, so that an owner which
// has counted, and then finds nobody copying, knows that all later copies find their grants revoked.
struct CopyState {
  std::atomic<uint64_t> revocations;
  std::atomic<uint32_t> is_copying;
};

class Page {
 public:
  Page() = default;
  Page(Page&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Page& operator=(Page&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Page();

  // Makes a page, and sets *descriptor to what the other process gets. Returns an empty one where the system has none.
  static Page make(Descriptor* descriptor);
  // Maps the page of another process. Returns an empty one if it could be cut short while it is used.
  static Page take(const Descriptor& descriptor);

  explicit operator bool() const { return state_ != nullptr; }
  CopyState& operator*() const { return *state_; }
  CopyState* operator->() const { return state_; }

 private:
  static Page map(const Descriptor& descriptor);

  CopyState* state_ = nullptr;
};

}  // namespace commnet::sockets

#endif  // COMMNET_TRANSPORTS_SOCKETS_PAGE_H_
