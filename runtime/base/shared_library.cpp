#include "base/shared_library.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>

namespace oneflow {

namespace {

// Returns whether a shared library ends before the last of its segments, as after a copy that was interrupted. The
// loader would map them, and the process would be ended where it reads beyond the end of the file.
bool is_truncated(const std::string& path, uint64_t size) {
  std::ifstream file(path, std::ios::binary);
  ElfW(Ehdr) header;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  const bool is_ours = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_phentsize == sizeof(ElfW(Phdr)) &&
                       header.e_ident[EI_CLASS] == (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32);
  if (!is_ours) return false;  // the loader says what it is
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return true;
    if (segment.p_type == PT_LOAD && (segment.p_filesz > size || segment.p_offset > size - segment.p_filesz))
      return true;
  }
  return false;
}

}  // namespace

void* load_shared_library(const std::string& path, std::string* reason) {
  struct stat status {};
  // The loader would wait for a writer of a pipe.
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    *reason = "it is not a regular file";
    return nullptr;
  }
  if (S_ISREG(status.st_mode) && is_truncated(path, static_cast<uint64_t>(status.st_size))) {
    *reason = "the file is truncated";
    return nullptr;
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) *reason = dlerror();
  return library;
}

}  // namespace oneflow
