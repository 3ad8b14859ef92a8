#include "launch/guard.h"

#include <limits.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <system_error>

namespace oneflow::launch {

struct Guard::Shared {
  char folder[PATH_MAX];
  int count;
  std::atomic<pid_t> groups[];
};

Guard::Guard(int groups) : bytes_(sizeof(Shared) + static_cast<size_t>(groups) * sizeof(std::atomic<pid_t>)) {
  // Memory of new pages is zero: no folder, and no groups.
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail_with(errno, "cannot map memory");
  shared_ = static_cast<Shared*>(memory);
  shared_->count = groups;
  Pipe pipe;
  process_ = fork();
  if (process_ < 0) fail_with(errno, "cannot fork");
  if (process_ == 0) {
    pipe.writer.close();
    watch(pipe.reader.get());
    _exit(0);
  }
  writer_ = std::move(pipe.writer);
}

Guard::~Guard() {
  writer_.close();
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  munmap(shared_, bytes_);
}

void Guard::watch(int reader) const {
  // What ends this process's group or session must leave the guard alone.
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; standard <= 2; ++standard) dup2(nowhere, standard);
  char byte;
  while (read(reader, &byte, 1) < 0 && errno == EINTR) {
  }
  for (int i = 0; i < shared_->count; ++i)
    if (const pid_t group = shared_->groups[i].load(); group > 0) kill(-group, SIGKILL);
  std::error_code ignored;
  if (shared_->folder[0] != '\0') std::filesystem::remove_all(shared_->folder, ignored);
}

void Guard::set_group(int index, pid_t group) { shared_->groups[index].store(group); }

void Guard::set_folder(const std::string& path) {
  if (path.size() >= sizeof shared_->folder) throw Failure("the path " + path + " is too long");
  // The first byte is written last: the process may read this at any time.
  if (!path.empty()) path.copy(shared_->folder + 1, path.size() - 1, 1);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  shared_->folder[path.size()] = '\0';
  shared_->folder[0] = path.empty() ? '\0' : path.front();
}

}  // namespace oneflow::launch
