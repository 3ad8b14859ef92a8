#include "transports/shared/letter.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace commnet::shared {

namespace {

struct alignas(cmsghdr) Control {
  char bytes[CMSG_SPACE(kMostFiles * sizeof(int))];
};

}  // namespace

int send_letter(int socket, const Letter& letter, std::initializer_list<int> files) {
  iovec part{const_cast<Letter*>(&letter), sizeof letter};
  Control control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
  std::memcpy(CMSG_DATA(head), files.begin(), files.size() * sizeof(int));
  while (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
    if (errno != EINTR) return errno;
  return 0;
}

int receive_letter(int socket, Letter& letter, Descriptor (&files)[kMostFiles]) {
  iovec part{&letter, sizeof letter};
  Control control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t size = -1;
  while ((size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0)
    if (errno != EINTR) return errno == EWOULDBLOCK ? EAGAIN : errno;
  size_t count = 0;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const size_t sent = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < sent; ++i) {
      int file = -1;
      std::memcpy(&file, CMSG_DATA(head) + i * sizeof(int), sizeof file);
      Descriptor owned(file);
      if (count < kMostFiles) files[count++] = std::move(owned);
    }
  }
  if (size == 0) return ECONNRESET;
  return size == sizeof letter ? 0 : EPROTO;
}

}  // namespace commnet::shared
