#include "transports/sockets/outgoing.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace commnet::sockets {

namespace {

// Small pieces are put together in blocks, so that one call sends many of them.
constexpr uint64_t kBlock = 64 << 10;
constexpr size_t kMostFree = 8;
constexpr size_t kMostParts = 64;

}  // namespace

Outgoing::Outgoing() { free_blocks_.reserve(kMostFree); }

void Outgoing::clear() {
  segments_.clear();
  size_ = 0;
}

std::unique_ptr<char[]> Outgoing::take_block() {
  if (free_blocks_.empty()) return std::unique_ptr<char[]>(new char[kBlock]);
  std::unique_ptr<char[]> block = std::move(free_blocks_.back());
  free_blocks_.pop_back();
  return block;
}

void Outgoing::copy(const void* data, uint64_t size) {
  const auto* from = static_cast<const char*>(data);
  while (size > 0) {
    if (segments_.empty() || segments_.back().room == 0) {
      std::unique_ptr<char[]> block = take_block();
      segments_.push_back({block.get(), 0, 0, std::move(block), kBlock});
    }
    Segment& last = segments_.back();
    const uint64_t taken = std::min(size, last.room);
    std::memcpy(const_cast<char*>(last.data) + last.size, from, taken);
    last.size += taken;
    last.room -= taken;
    size_ += taken;
    from += taken;
    size -= taken;
  }
}

void Outgoing::borrow(const void* data, uint64_t size, uint64_t cookie) {
  segments_.push_back({static_cast<const char*>(data), size, cookie, nullptr, 0});
  size_ += size;
}

void Outgoing::detach(const void* begin, uint64_t size) {
  const auto first = reinterpret_cast<uintptr_t>(begin);
  for (Segment& segment : segments_) {
    const auto place = reinterpret_cast<uintptr_t>(segment.data);
    if (segment.block || place >= first + size || place + segment.size <= first) continue;
    segment.block.reset(new char[segment.size]);
    std::memcpy(segment.block.get(), segment.data, segment.size);
    segment.data = segment.block.get();
  }
}

int Outgoing::send(int socket, std::vector<uint64_t>& cookies) {
  while (size_ > 0) {
    cookies.reserve(cookies.size() + kMostParts);  // now: once bytes are sent, nothing may fail
    iovec parts[kMostParts];
    size_t count = 0;
    for (const Segment& segment : segments_) {
      if (count == kMostParts) break;
      parts[count++] = {const_cast<char*>(segment.data), segment.size};
    }
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = count;
    const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : errno;
    }
    auto left = static_cast<uint64_t>(sent);
    size_ -= left;
    while (!segments_.empty()) {
      Segment& first = segments_.front();
      const uint64_t taken = std::min(left, first.size);
      first.data += taken;
      first.size -= taken;
      left -= taken;
      if (first.size > 0) break;
      if (first.cookie != 0) cookies.push_back(first.cookie);
      const bool is_block = first.block && first.cookie == 0;
      if (is_block && free_blocks_.size() < kMostFree) free_blocks_.push_back(std::move(first.block));
      segments_.pop_front();
    }
  }
  return 0;
}

}  // namespace commnet::sockets
