// Files that are open for reading.
#ifndef ONEFLOW_FILES_SOURCE_FILE_H_
#define ONEFLOW_FILES_SOURCE_FILE_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "base/ref.h"

namespace oneflow::files {

// The content of a file in the address space of the process, for reading. The pages are those of the system's cache,
// and are read when they are first accessed.
class Mapping final : public RefCounted<Mapping> {
 public:
  Mapping(const char* data, uint64_t bytes) : data_(data), bytes_(bytes) {}
  const char* data() const { return data_; }
  void destroy() noexcept;

 private:
  ~Mapping() = default;
  const char* data_;
  uint64_t bytes_;
};

// A regular file that is open for reading. Its functions are thread-safe.
class SourceFile final : public RefCounted<SourceFile> {
 public:
  // Opens a file. Throws FileError if it cannot be opened or is not a regular file.
  static Ref<const SourceFile> open(const std::string& path);

  const std::string& path() const { return path_; }
  // Returns the size in bytes when the file was opened.
  uint64_t bytes() const { return bytes_; }
  // Copies `bytes` bytes from the position `offset`. Throws FileError if the file has become shorter.
  void read(uint64_t offset, void* destination, uint64_t bytes) const;
  // Returns such bytes as a string.
  std::string read_text(uint64_t offset, uint64_t bytes) const;
  // Returns the mapping of the whole file, which outlives this object. Throws FileError if there is none.
  Ref<const Mapping> map() const;

  // Throws InvalidArgument "'<path>' is malformed: <text>", where the text is printf-formatted.
  [[noreturn]] void refuse(const char* format, ...) const __attribute__((format(printf, 2, 3), cold));

  void destroy() noexcept;

 private:
  SourceFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  ~SourceFile();

  const std::string path_;
  const int descriptor_;
  uint64_t bytes_ = 0;
  mutable std::atomic<const Mapping*> mapping_{nullptr};  // owns a reference
};

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_SOURCE_FILE_H_
