#include "core/memory.h"

#include <cstring>
#include <utility>

#include "core/secure.h"
#include "core/status.h"

namespace commnet {

namespace {

constexpr uint32_t kAllRights = CN_READ | CN_WRITE;

// The bytes of a token.
struct Content {
  uint64_t id;
  uint64_t size;
  uint32_t rights;
  uint32_t reserved;
  std::array<uint8_t, 32> key;
  uint64_t unused;
};
static_assert(sizeof(Content) == CN_TOKEN_SIZE);

Content content_of(const cn_token& token) {
  Content content;
  std::memcpy(&content, token.bytes, sizeof content);
  return content;
}

}  // namespace

std::shared_ptr<const Memory> MemoryTable::add(void* data, uint64_t size, uint32_t rights, MemoryFile allocated) {
  if (rights == 0 || (rights & ~kAllRights) != 0)
    fail(CN_INVALID_ARGUMENT, "rights must be CN_READ, CN_WRITE or both, got %u", rights);
  if (data == nullptr && size > 0) fail(CN_INVALID_ARGUMENT, "data is NULL");
  if (reinterpret_cast<uintptr_t>(data) + size < size) fail(CN_INVALID_ARGUMENT, "size is larger than any memory");
  if (free_.empty()) {
    memories_.emplace_back();
    free_.reserve(memories_.capacity());  // so that remove() needs no memory
    free_.push_back(static_cast<uint32_t>(memories_.size() - 1));
  }
  const uint64_t id = ++count_ << 32 | free_.back();
  auto memory = std::make_shared<Memory>(Memory{id, static_cast<char*>(data), size, rights, {}, std::move(allocated)});
  for (auto& key : memory->keys) fill_randomly(key);
  memories_[free_.back()] = memory;
  free_.pop_back();
  return memory;
}

void MemoryTable::remove(uint64_t id) {
  const auto place = static_cast<uint32_t>(id);
  if (place >= memories_.size() || !memories_[place] || memories_[place]->id != id) return;
  free_.push_back(place);
  memories_[place] = nullptr;
}

MemoryTable::Found MemoryTable::find(const cn_token& token) const {
  const Content content = content_of(token);
  const auto place = static_cast<uint32_t>(content.id);
  const std::shared_ptr<const Memory> found = place < memories_.size() ? memories_[place] : nullptr;
  const bool may_be = found && found->id == content.id && content.rights != 0 && (content.rights & ~found->rights) == 0;
  // All of a token is compared, so that what holders read in it, such as the size, is what the owner has written.
  const bool is_known = may_be && are_same(token.bytes, token_of(*found, content.rights).bytes);
  if (!is_known) fail(CN_DENIED, "the token names no registered memory");
  return {found, content.rights};
}

void check_access(uint32_t rights, uint64_t memory_size, uint32_t right, uint64_t offset, uint64_t size) {
  if ((rights & right) == 0) fail(CN_DENIED, "the token does not allow to %s", right == CN_READ ? "read" : "write");
  if (offset > memory_size || size > memory_size - offset)
    fail(CN_OUT_OF_RANGE, "bytes %llu to %llu are outside of the memory, which has %llu",
         static_cast<unsigned long long>(offset), static_cast<unsigned long long>(offset + size),
         static_cast<unsigned long long>(memory_size));
}

cn_token token_of(const Memory& memory, uint32_t rights) {
  if (rights == 0 || (rights & ~memory.rights) != 0)
    fail(CN_INVALID_ARGUMENT, "the memory does not have the rights %u", rights);
  const Content content{memory.id, memory.size, rights, 0, memory.keys[rights], 0};
  cn_token token;
  std::memcpy(token.bytes, &content, sizeof content);
  return token;
}

uint64_t size_of(const cn_token& token) { return content_of(token).size; }

uint64_t id_of(const cn_token& token) { return content_of(token).id; }

}  // namespace commnet
