#include "core/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace commnet {

namespace {

// A file that shrinks ends the processes that have mapped it.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

MemoryFile::~MemoryFile() {
  if (data_) munmap(data_, size_);
}

MemoryFile MemoryFile::map(Descriptor file, uint64_t size) {
  MemoryFile mapped;
  void* const place = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (place == MAP_FAILED) return mapped;
  mapped.file_ = std::move(file);
  mapped.data_ = static_cast<char*>(place);
  mapped.size_ = size;
  return mapped;
}

MemoryFile MemoryFile::make(uint64_t size) {
  Descriptor file(memfd_create("commnet", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const auto length = static_cast<off_t>(size);
  if (!file || fallocate(file.number(), 0, 0, length) != 0 || fcntl(file.number(), F_ADD_SEALS, kSeals) != 0) return {};
  return map(std::move(file), size);
}

MemoryFile MemoryFile::take(Descriptor file, uint64_t size) {
  struct stat found {};
  if (size == 0 || !file || fstat(file.number(), &found) != 0 || static_cast<uint64_t>(found.st_size) != size)
    return {};
  if ((fcntl(file.number(), F_GET_SEALS) & kSeals) != kSeals) return {};
  return map(std::move(file), size);
}

}  // namespace commnet
