#include "files/output_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/characters.h"
#include "base/error.h"
#include "files/system_error.h"

namespace oneflow::files {
namespace {

constexpr const char* kCannotWrite = "cannot be written";

// Holds back the signal that ends a process which exceeds its limit of file sizes: write() then fails with EFBIG.
class NoSizeSignal {
 public:
  NoSizeSignal() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  NoSizeSignal(const NoSizeSignal&) = delete;
  NoSizeSignal& operator=(const NoSizeSignal&) = delete;
  ~NoSizeSignal() {
    const int number = errno;
    const timespec now{};
    if (!sigismember(&before_, SIGXFSZ)) sigtimedwait(&signals_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = number;
  }

 private:
  sigset_t signals_, before_;
};

// Returns the path of the file that a path refers to, which need not exist.
std::string without_links(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(realpath(path.c_str(), nullptr), free);
  return resolved ? resolved.get() : path;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

std::string random_name() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) number = static_cast<uint64_t>(getpid());
  return format_text(".oneflow-%016lx.tmp", number);
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : given_path_(path), path_(without_links(path)) {
  struct stat before {};
  const bool exists = stat(path_.c_str(), &before) == 0;
  if (!exists && errno != ENOENT) fail_with_errno(path, kCannotWrite);
  if (exists && !S_ISREG(before.st_mode))
    fail(OF_FILE_ERROR, "'%s' %s: it is %s", printable(path).c_str(), kCannotWrite,
         S_ISDIR(before.st_mode) ? "a directory" : "not a regular file");
  // Renaming needs no permission for the file that is replaced.
  if (exists && access(path_.c_str(), W_OK) != 0) fail_with_errno(path, kCannotWrite);

  const std::string folder = folder_of(path_);
  do {
    temporary_ = (folder == "." ? "" : folder) + random_name();
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail_with_errno(path, kCannotWrite);
  if (exists) (void)fchmod(descriptor_, before.st_mode & 07777);  // some file systems have no permissions
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::write_at(uint64_t offset, const void* data, uint64_t bytes) {
  constexpr uint64_t kMost = uint64_t{1} << 30;  // Linux writes less than 2 GiB at once
  const NoSizeSignal no_signal;
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t count = pwrite(descriptor_, from, std::min(bytes, kMost), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno(given_path_, kCannotWrite);
    from += count;
    offset += static_cast<uint64_t>(count);
    bytes -= static_cast<uint64_t>(count);
  }
}

void OutputFile::write(const void* data, uint64_t bytes) {
  write_at(position_, data, bytes);
  position_ += bytes;
}

void OutputFile::rewrite(uint64_t offset, const std::string& text) { write_at(offset, text.data(), text.size()); }

void OutputFile::commit() {
  if (fsync(descriptor_) != 0) fail_with_errno(given_path_, kCannotWrite);
  const bool closed = close(std::exchange(descriptor_, -1)) == 0;
  if (!closed) fail_with_errno(given_path_, kCannotWrite);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail_with_errno(given_path_, kCannotWrite);
  temporary_.clear();
  // The new name is on the disk once the folder is. Some file systems cannot wait for that.
  const int folder = open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  fsync(folder);
  close(folder);
}

}  // namespace oneflow::files
