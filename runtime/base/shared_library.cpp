#include "base/shared_library.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstring>
#include <memory>

namespace oneflow {

namespace {

// Returns whether a shared library ends before the last of its segments, as after a copy that was interrupted. The
// loader would map them, and the process would be ended where it reads beyond the end of the file.
bool is_truncated(const std::string& path, uint64_t size) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  ElfW(Ehdr) header;
  if (!file || std::fread(&header, sizeof header, 1, file.get()) != 1) return false;
  const bool is_ours = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_phentsize == sizeof(ElfW(Phdr)) &&
                       header.e_ident[EI_CLASS] == (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32);
  if (!is_ours) return false;  // the loader says what it is
  if (std::fseek(file.get(), static_cast<long>(header.e_phoff), SEEK_SET) != 0) return true;
  for (int i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    if (std::fread(&segment, sizeof segment, 1, file.get()) != 1) return true;
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
