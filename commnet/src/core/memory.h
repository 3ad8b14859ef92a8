// The memory that peers may access, by tokens.
#ifndef COMMNET_CORE_MEMORY_H_
#define COMMNET_CORE_MEMORY_H_

#include <commnet/commnet.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/memory_file.h"

namespace commnet {

struct Memory {
  uint64_t id;
  char* data;
  uint64_t size;
  uint32_t rights;
  // What tokens for each combination of rights have, which nobody can guess.
  std::array<std::array<uint8_t, 32>, 4> keys;
  MemoryFile allocated;  // what it is in, see cn_memory_alloc(); empty if it is the program's
};

// Guarded by the endpoint's lock.
class MemoryTable {
 public:
  std::shared_ptr<const Memory> add(void* data, uint64_t size, uint32_t rights, MemoryFile allocated = {});
  void remove(uint64_t id);
  // Returns the memory of a token, and what the token allows. Throws Error: CN_DENIED.
  struct Found {
    std::shared_ptr<const Memory> memory;
    uint32_t rights = 0;
  };
  Found find(const cn_token& token) const;

 private:
  // The low 32 bits of an id are its place here, the others count registrations: to find one of many memories costs few
  // cache misses.
  std::vector<std::shared_ptr<const Memory>> memories_;
  std::vector<uint32_t> free_;  // places
  uint64_t count_ = 0;
};

// Throws Error unless `rights` of a memory of `memory_size` bytes allow `right` for a range: CN_DENIED or
// CN_OUT_OF_RANGE.
void check_access(uint32_t rights, uint64_t memory_size, uint32_t right, uint64_t offset, uint64_t size);
// Throws Error if the memory does not have the rights.
cn_token token_of(const Memory& memory, uint32_t rights);
// Return the size and the identity of the memory that a token states.
uint64_t size_of(const cn_token& token);
uint64_t id_of(const cn_token& token);

}  // namespace commnet

#endif  // COMMNET_CORE_MEMORY_H_
