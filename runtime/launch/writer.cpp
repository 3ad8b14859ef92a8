#include "launch/writer.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace oneflow::launch {

namespace {

// Returns how many bytes a descriptor takes without blocking once poll() says that it is ready. One that was inherited
// cannot be made non-blocking, because other programs share that setting.
size_t most_at_once(int descriptor) {
  constexpr size_t kMany = 1 << 18;
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) return kMany;
  return fcntl(descriptor, F_GETFL) & O_NONBLOCK ? kMany : PIPE_BUF;
}

bool is_ready(int descriptor) {
  pollfd waited{descriptor, POLLOUT, 0};
  return poll(&waited, 1, 0) > 0;
}

}  // namespace

Writer::Writer(Loop& loop, int descriptor) : loop_(loop), descriptor_(descriptor), most_(most_at_once(descriptor)) {
  loop_.add(
      descriptor_, [this]() -> short { return is_empty() ? 0 : POLLOUT; }, [this] { flush(); });
}

Writer::Writer(Loop& loop, Descriptor descriptor) : Writer(loop, descriptor.get()) { owned_ = std::move(descriptor); }

void Writer::write(std::string_view bytes) {
  if (error_ == 0 && descriptor_ >= 0) bytes_ += bytes;
}

void Writer::end() {
  is_ending_ = true;
  if (is_empty()) stop();
}

void Writer::stop() {
  if (descriptor_ >= 0) loop_.remove(std::exchange(descriptor_, -1));
  owned_.close();
}

void Writer::flush() {
  // Other descriptors are looked at after some writes.
  for (int i = 0; i < 16 && !is_empty() && (i == 0 || is_ready(descriptor_)); ++i) {
    const ssize_t count = ::write(descriptor_, bytes_.data() + written_, std::min(pending(), most_));
    if (count >= 0) {
      written_ += static_cast<size_t>(count);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      error_ = errno;
      written_ = bytes_.size();
    }
  }
  // Moves the rest to the front when that costs less than what was written.
  if (written_ > bytes_.size() / 2) {
    bytes_.erase(0, written_);
    written_ = 0;
  }
  if (is_ending_ && is_empty()) stop();
}

}  // namespace oneflow::launch
