#include "files/source_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <new>

#include "base/characters.h"
#include "base/error.h"
#include "files/system_error.h"

namespace oneflow::files {

void Mapping::destroy() noexcept {
  munmap(const_cast<char*>(data_), bytes_);
  delete this;
}

Ref<const SourceFile> SourceFile::open(const std::string& path) {
  // O_NONBLOCK: opening a pipe would wait for a writer. It has no effect on regular files.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail_with_errno(path, "cannot be opened");
  SourceFile* file = nullptr;
  try {
    file = new SourceFile(path, descriptor);
  } catch (...) {
    close(descriptor);
    throw;
  }
  const auto owned = Ref<const SourceFile>::adopt(file);
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail_with_errno(path, "cannot be opened");
  if (!S_ISREG(status.st_mode))
    fail(OF_FILE_ERROR, "'%s' cannot be opened: it is %s", printable(path).c_str(),
         S_ISDIR(status.st_mode) ? "a directory" : "not a regular file");
  file->bytes_ = static_cast<uint64_t>(status.st_size);
  return owned;
}

SourceFile::~SourceFile() {
  if (const Mapping* mapping = mapping_.load(std::memory_order_acquire)) mapping->release();
  close(descriptor_);
}

void SourceFile::destroy() noexcept { delete this; }

void SourceFile::read(uint64_t offset, void* destination, uint64_t bytes) const {
  constexpr uint64_t kMost = uint64_t{1} << 30;  // Linux reads less than 2 GiB at once
  auto* to = static_cast<char*>(destination);
  while (bytes > 0) {
    const ssize_t count = pread(descriptor_, to, std::min(bytes, kMost), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno(path_, "cannot be read");
    if (count == 0) fail(OF_FILE_ERROR, "'%s' has become shorter while it was read", printable(path_).c_str());
    to += count;
    offset += static_cast<uint64_t>(count);
    bytes -= static_cast<uint64_t>(count);
  }
}

std::string SourceFile::read_text(uint64_t offset, uint64_t bytes) const {
  std::string text(bytes, '\0');
  read(offset, text.data(), bytes);
  return text;
}

Ref<const Mapping> SourceFile::map() const {
  const Mapping* known = mapping_.load(std::memory_order_acquire);
  if (!known) {
    void* data = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, descriptor_, 0);
    if (data == MAP_FAILED) fail_with_errno(path_, "cannot be mapped into memory");
    const Mapping* created = new (std::nothrow) Mapping(static_cast<const char*>(data), bytes_);
    if (!created) {
      munmap(data, bytes_);
      throw std::bad_alloc();
    }
    if (mapping_.compare_exchange_strong(known, created, std::memory_order_acq_rel))
      known = created;
    else
      created->release();  // another thread was first
  }
  return Ref<const Mapping>::share(known);
}

void SourceFile::refuse(const char* format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  char text[512];
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  fail(OF_INVALID_ARGUMENT, "'%s' is malformed: %s", printable(path_).c_str(), text);
}

}  // namespace oneflow::files
