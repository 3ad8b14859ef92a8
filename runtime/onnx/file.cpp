#include "onnx/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <oneflow/oneflow.hpp>

#include "side/printable.h"

namespace oneflow::onnx {

namespace {

[[noreturn]] void fail_to_read(const std::string& path, const char* why) {
  throw FileError("cannot read " + in_quotes(path) + ": " + why);
}

}  // namespace

ReadFile::ReadFile(const std::string& path) : path_(path) {
  // O_NONBLOCK: opening a pipe would wait for a writer. It has no effect on regular files.
  file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0) fail_to_read(path, std::strerror(errno));
  struct stat status {};
  const int code = fstat(file_, &status) ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
  if (!code && S_ISREG(status.st_mode)) {
    size_ = static_cast<uint64_t>(status.st_size);
    return;
  }
  close(file_);
  fail_to_read(path, code ? std::strerror(code) : "it is not a regular file");
}

ReadFile::~ReadFile() { close(file_); }

void ReadFile::read(uint64_t offset, std::span<char> destination) const {
  constexpr size_t kMost = size_t{1} << 30;  // Linux reads less than 2 GiB at once
  while (!destination.empty()) {
    const ssize_t count =
        pread(file_, destination.data(), std::min(destination.size(), kMost), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to_read(path_, std::strerror(errno));
    if (count == 0) fail_to_read(path_, "it has become shorter");
    destination = destination.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
}

Pages::Pages(size_t size) : size_(size) {
  if (size == 0) return;
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<char*>(memory);
}

Pages::~Pages() {
  if (memory_) munmap(memory_, size_);
}

void Pages::release(std::span<const char> range) const {
  if (range.empty() || range.data() < memory_ || range.data() + range.size() > memory_ + size_) return;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto begin = static_cast<size_t>(range.data() - memory_), end = begin + range.size();
  const size_t first = (begin + page - 1) / page * page, last = end / page * page;
  if (first < last) madvise(memory_ + first, last - first, MADV_DONTNEED);
}

ModelFiles::ModelFiles(const std::string& path)
    : path_(path), model_([&] {
        const ReadFile file(path);
        auto pages = std::make_unique<Pages>(file.size());
        file.read(0, pages->bytes());
        return pages;
      }()) {}

const ReadFile& ModelFiles::external_file(std::string_view location) {
  if (const auto found = others_.find(location); found != others_.end()) return *found->second;
  namespace fs = std::filesystem;
  const fs::path relative(location), model(path_);
  bool leaves = relative.empty() || relative.is_absolute() || location.find('\0') != std::string_view::npos;
  for (const fs::path& part : relative) leaves |= part == "..";
  if (leaves) throw InvalidArgument("the path of external data must be inside the model's folder");
  const fs::path given = model.parent_path() / relative;
  std::error_code error;
  const fs::path real = fs::canonical(given, error);
  if (error) fail_to_read(given.string(), std::strerror(error.value()));
  // Where the model itself is a link, the files beside what it leads to are its own, too.
  const auto is_inside = [&](const fs::path& folder) {
    const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), real.begin(), real.end());
    return end == folder.end();
  };
  if (!is_inside(fs::canonical(model.parent_path().empty() ? "." : model.parent_path())) &&
      !is_inside(fs::canonical(model).parent_path()))
    throw InvalidArgument("external data must be inside the model's folder, but " + in_quotes(location) +
                          " is a link that leads out of it");
  return *others_.emplace(std::string(location), std::make_unique<ReadFile>(real.string())).first->second;
}

ExternalRange ModelFiles::external(std::string_view location, uint64_t offset, const uint64_t* length) {
  const ReadFile& file = external_file(location);
  if (offset > file.size() || (length && *length > file.size() - offset))
    throw InvalidArgument("external data is outside its file " + in_quotes(location));
  return {file, offset, length ? *length : file.size() - offset};
}

uint64_t ModelFiles::bytes() const {
  uint64_t bytes = model_->size();
  for (const auto& [location, file] : others_) bytes += file->size();
  return bytes;
}

}  // namespace oneflow::onnx
