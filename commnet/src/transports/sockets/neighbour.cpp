#include "transports/sockets/neighbour.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "core/secure.h"

namespace commnet::sockets {

namespace {

using Clock = std::chrono::steady_clock;

// How long the end of a copy is waited for. What is copied at a time takes some microseconds; a process that does not
// run may keep others waiting.
constexpr Clock::duration kPatience = std::chrono::seconds(1);
// After this, the processor is left to others meanwhile.
constexpr Clock::duration kSpin = std::chrono::microseconds(100);

bool is_closed(int socket) {
  pollfd look{socket, POLLRDHUP, 0};
  return poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

// Room for the message of one descriptor.
struct alignas(cmsghdr) Control {
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

Neighbour::Neighbour(pid_t process)
    : process_(process),
      bytes_(std::make_unique<std::array<uint8_t, 32>>()),
      own_page_(process > 0 ? Page::make(&own_file_) : Page()) {
  fill_randomly(*bytes_);
}

int Neighbour::send_greeting(int socket) {
  Greeting greeting{reinterpret_cast<uintptr_t>(bytes_.get()), *bytes_};
  iovec part{&greeting, sizeof greeting};
  Control control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (own_file_) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    const int file = own_file_.number();
    std::memcpy(CMSG_DATA(head), &file, sizeof file);
  }
  // The buffer of a new socket has room for all of it.
  while (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
    if (errno != EINTR) return errno;
  has_sent_greeting_ = true;
  own_file_ = {};
  return 0;
}

ssize_t Neighbour::receive(int socket, iovec* parts, size_t count) {
  Control control{};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (size <= 0) return size;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(sizeof(int)))
      continue;
    int file = -1;
    std::memcpy(&file, CMSG_DATA(head), sizeof file);
    other_file_ = Descriptor(file);
  }
  return size;
}

void Neighbour::greet(const Greeting& other) {
  other_page_ = Page::take(other_file_);
  other_file_ = {};
  std::array<uint8_t, 32> found{};
  reaches_memory_ = process_ > 0 && other_page_ && read_memory(found.data(), other.address, found.size()) == 0 &&
                    are_same(found, other.bytes);
}

bool Neighbour::revoke(int socket) {
  if (!own_page_) return true;
  own_page_->revocations.fetch_add(1);
  if (own_page_->is_copying.load() == 0) return true;
  const Clock::time_point begin = Clock::now();
  while (own_page_->is_copying.load() != 0) {
    const Clock::duration waited = Clock::now() - begin;
    if (waited < kSpin) {
      sched_yield();
      continue;
    }
    // The sockets of a process that has ended are closed after it has stopped to copy.
    if (is_closed(socket)) return true;
    if (waited > kPatience) return false;
    usleep(50);
  }
  return true;
}

int Neighbour::pull(void* destination, uint64_t remote, uint64_t size, uint64_t grant) {
  other_page_->is_copying.store(1);
  const int code = other_page_->revocations.load() == grant ? read_memory(destination, remote, size) : ESTALE;
  other_page_->is_copying.store(0);
  // The system has stopped to permit it.
  if (code == EPERM || code == ENOSYS) reaches_memory_ = false;
  return code;
}

int Neighbour::read_memory(void* destination, uint64_t remote, uint64_t size) const {
  auto* to = static_cast<char*>(destination);
  while (size > 0) {
    const iovec local{to, size}, other{reinterpret_cast<void*>(remote), size};
    const ssize_t copied = process_vm_readv(process_, &local, 1, &other, 1, 0);
    if (copied <= 0) return copied < 0 ? errno : EFAULT;
    to += copied;
    remote += static_cast<uint64_t>(copied);
    size -= static_cast<uint64_t>(copied);
  }
  return 0;
}

}  // namespace commnet::sockets
