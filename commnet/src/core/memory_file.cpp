#include "core/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include <cerrno>

namespace commnet {

namespace {

// A file that shrinks ends the processes that have mapped it.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

MemoryFile::~MemoryFile() {
  if (data_) munmap(data_, size_);
}

MemoryFile MemoryFile::map(int file, uint64_t size, bool is_writable) {
  MemoryFile mapped;
  const int kind = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* const place = mmap(nullptr, size, is_writable ? PROT_READ | PROT_WRITE : PROT_READ, kind, file, 0);
  if (place == MAP_FAILED) return mapped;
  mapped.data_ = static_cast<char*>(place);
  mapped.size_ = size;
  mapped.is_writable_ = is_writable;
  return mapped;
}

MemoryFile MemoryFile::make(uint64_t size) {
  // As for other memory, the system gives what is used; more than there is of all it would only refuse much later.
  struct sysinfo machine {};
  sysinfo(&machine);
  if (size > (machine.totalram + machine.totalswap) * machine.mem_unit) {
    errno = ENOMEM;
    return {};
  }
  Descriptor file(memfd_create("commnet", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const auto length = static_cast<off_t>(size);
  if (!file || ftruncate(file.number(), length) != 0 || fcntl(file.number(), F_ADD_SEALS, kSeals) != 0) return {};
  MemoryFile made = map(file.number(), size, true);
  made.file_ = std::move(file);
  return made;
}

bool MemoryFile::reserve() const { return fallocate(file(), 0, 0, static_cast<off_t>(size_)) == 0; }

MemoryFile MemoryFile::make_private(uint64_t size) { return map(-1, size, true); }

MemoryFile MemoryFile::take(const Descriptor& file, uint64_t size) {
  struct stat found {};
  if (size == 0 || !file || fstat(file.number(), &found) != 0 || static_cast<uint64_t>(found.st_size) != size)
    return {};
  if ((fcntl(file.number(), F_GET_SEALS) & kSeals) != kSeals) return {};
  return map(file.number(), size, (fcntl(file.number(), F_GETFL) & O_ACCMODE) == O_RDWR);
}

}  // namespace commnet
