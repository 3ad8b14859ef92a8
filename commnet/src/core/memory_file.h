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
    std::swap(is_writable_, other.is_writable_);
    return *this;
  }
  ~MemoryFile();

  // Makes one of zeros. Returns an empty one where the system has none, with errno.
  static MemoryFile make(uint64_t size);
  // Makes sure that all of its memory is there: to use it later does not fail. Returns whether that is so.
  bool reserve() const;
  // Makes memory of this process alone, for where the system has no such files. Returns an empty one like make().
  static MemoryFile make_private(uint64_t size);
  // Maps one that has come from another process, to write to it if that is allowed. Returns an empty one if it has
  // another size, or could be cut short while it is used.
  static MemoryFile take(const Descriptor& file, uint64_t size);

  explicit operator bool() const { return data_ != nullptr; }
  char* data() const { return data_; }
  uint64_t size() const { return size_; }
  bool is_writable() const { return is_writable_; }
  // Returns the descriptor of the file; -1 for private memory, and for that of another process.
  int file() const { return file_.number(); }

 private:
  static MemoryFile map(int file, uint64_t size, bool is_writable);

  Descriptor file_;
  char* data_ = nullptr;
  uint64_t size_ = 0;
  bool is_writable_ = false;
};

}  // namespace commnet

#endif  // COMMNET_CORE_MEMORY_FILE_H_
