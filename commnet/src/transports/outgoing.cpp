#include "transports/outgoing.h"

#include <algorithm>
#include <cstring>

namespace commnet {

namespace {

// Small pieces are put together in blocks, so that one call sends many of them.
constexpr uint64_t kBlock = 64 << 10;
constexpr size_t kMostFree = 8;

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

size_t Outgoing::list(iovec (&parts)[kMostParts]) const {
  size_t count = 0;
  for (const Segment& segment : segments_) {
    if (count == kMostParts) break;
    parts[count++] = {const_cast<char*>(segment.data), segment.size};
  }
  return count;
}

void Outgoing::take_away(uint64_t count, std::vector<uint64_t>& cookies) noexcept {
  size_ -= count;
  while (!segments_.empty()) {
    Segment& first = segments_.front();
    const uint64_t taken = std::min(count, first.size);
    first.data += taken;
    first.size -= taken;
    count -= taken;
    if (first.size > 0) break;
    if (first.cookie != 0) cookies.push_back(first.cookie);
    const bool is_block = first.block && first.cookie == 0;
    if (is_block && free_blocks_.size() < kMostFree) free_blocks_.push_back(std::move(first.block));
    segments_.pop_front();
  }
}

}  // namespace commnet
