// Memory that processes share: a file without a name, of which nothing is left once its last user has ended.
#ifndef COMMNET_CORE_MEMORY_FILE_H_
#define COMMNET_CORE_MEMORY_FILE_H_

#include <cstdint>
#include <utility>

#include "core/descriptor.h"

namespace commnet {

class MemoryFile {
 public:
  MemoryFile() = default;
  MemoryFile(MemoryFile&& other) noexcept { *this = std::move(other); }
  MemoryFile& operator=(MemoryFile&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~MemoryFile();

  // Makes one of zeros, of which all memory is there: to use it later does not fail. Returns an empty one where the
  // system has none, with errno.
  static MemoryFile make(uint64_t size);
  // Maps one that has come from another process. Returns an empty one if it has another size, or could be cut short
  // while it is used.
  static MemoryFile take(Descriptor file, uint64_t size);

  explicit operator bool() const { return data_ != nullptr; }
  char* data() const { return data_; }
  uint64_t size() const { return size_; }
  int file() const { return file_.number(); }

 private:
  static MemoryFile map(Descriptor file, uint64_t size);

  Descriptor file_;
  char* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace commnet

#endif  // COMMNET_CORE_MEMORY_FILE_H_
