#include "onnx/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <oneflow/oneflow.hpp>

namespace oneflow::onnx {

namespace {

[[noreturn]] void fail_to_read(const std::string& path, int code) {
  throw FileError("cannot read '" + path + "': " + std::strerror(code));
}

std::string folder_of(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail_to_read(path, errno);
  struct stat status {};
  int code = fstat(file, &status) ? errno : 0;
  if (!code && S_ISDIR(status.st_mode)) code = EISDIR;
  if (!code && !S_ISREG(status.st_mode)) code = EINVAL;
  if (!code && status.st_size > 0) {
    size_ = static_cast<size_t>(status.st_size);
    void* const memory = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED)
      code = errno;
    else
      memory_ = static_cast<const char*>(memory);
  }
  close(file);
  if (code) fail_to_read(path, code);
}

MappedFile::~MappedFile() {
  if (memory_) munmap(const_cast<char*>(memory_), size_);
}

void MappedFile::release(std::span<const char> range) const {
  if (range.data() < memory_ || range.data() + range.size() > memory_ + size_) return;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto begin = static_cast<size_t>(range.data() - memory_), end = begin + range.size();
  const size_t first = (begin + page - 1) / page * page, last = end / page * page;
  if (first < last) madvise(const_cast<char*>(memory_) + first, last - first, MADV_DONTNEED);
}

ModelFiles::ModelFiles(const std::string& path) : folder_(folder_of(path)), model_(path) {}

std::span<const char> ModelFiles::external(std::string_view location, uint64_t offset, const uint64_t* length) {
  auto found = others_.find(location);
  if (found == others_.end()) {
    const std::filesystem::path relative(location);
    bool leaves = relative.empty() || relative.is_absolute() || location.find('\0') != std::string_view::npos;
    for (const std::filesystem::path& part : relative) leaves |= part == "..";
    if (leaves) throw InvalidArgument("the path of external data must be inside the model's folder");
    const std::string path = (std::filesystem::path(folder_) / relative).string();
    found = others_.emplace(std::string(location), std::make_unique<MappedFile>(path)).first;
  }
  const std::span<const char> bytes = found->second->bytes();
  if (offset > bytes.size() || (length && *length > bytes.size() - offset))
    throw InvalidArgument("external data is outside its file '" + found->first + "'");
  return bytes.subspan(offset, length ? *length : bytes.size() - offset);
}

void ModelFiles::release(std::span<const char> range) const {
  model_.release(range);
  for (const auto& [location, file] : others_) file->release(range);
}

}  // namespace oneflow::onnx
