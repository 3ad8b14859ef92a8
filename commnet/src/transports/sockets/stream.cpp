#include "transports/sockets/stream.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace commnet::sockets {

namespace {

constexpr uint64_t kBuffer = 32 << 10;
// Payloads of which more than this is missing are received in their place.
constexpr uint64_t kInPlace = 16 << 10;
// No more frames are taken while this many bytes are to be sent.
constexpr uint64_t kMostUnsent = 1 << 20;
// How many bytes and frames are received before others have their turn: other connections, and the handlers of what has
// arrived, which is still in the processor's cache then.
constexpr uint64_t kTurn = 1 << 20;
constexpr uint64_t kFrames = 256;

// Returns how many bytes the socket has taken, or the negative number of an error.
ssize_t send_parts(int socket, iovec* parts, size_t count) {
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  for (;;) {
    const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return sent;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno != EINTR) return -errno;
  }
}

}  // namespace

Stream::Stream(const cn_transport_host& host, Descriptor socket, bool is_connected, bool is_unix)
    : host_(host),
      socket_(std::move(socket)),
      is_unix_(is_unix),
      is_connected_(is_connected),
      buffer_(new char[kBuffer]),
      incoming_(host) {}

bool Stream::send(const void* header, const void* payload, uint64_t size, uint64_t cookie) {
  try {
    outgoing_.copy(header, CN_FRAME_HEADER);
    if (cookie == 0)
      outgoing_.copy(payload, size);
    else
      outgoing_.borrow(payload, size, cookie);
  } catch (...) {
    // Half a frame may be there, behind which nothing may be sent. The library closes the connection.
    outgoing_.clear();
    failure_ = ENOMEM;
    throw;
  }
  is_full_ = outgoing_.size() >= kMostUnsent;
  return !is_full_;
}

bool Stream::has_unsent() const {
  if (outgoing_.size() > 0) return true;
  int under_way = 0;
  return !is_unix_ && is_connected_ && !is_broken_ && ioctl(socket(), SIOCOUTQ, &under_way) == 0 && under_way > 0;
}

bool Stream::flush() {
  if (!is_connected_ || is_broken_ || failure_ != 0) return true;
  try {
    failure_ = outgoing_.send([&](iovec* parts, size_t count) { return send_parts(socket(), parts, count); }, sent_);
  } catch (const std::bad_alloc&) {
    failure_ = ENOMEM;
  }
  for (const uint64_t cookie : sent_) host_.sent(connection_, cookie);
  sent_.clear();
  if (failure_ != 0) return false;
  if (is_full_ && outgoing_.size() < kMostUnsent) {
    is_full_ = false;
    host_.writable(connection_);
  }
  return true;
}

void Stream::report_failure() {
  if (failure_ == 0) return;
  // What the other side has sent before it closed the connection is still to be read.
  is_paused_ = false;
  for (bool is_dry = false; !is_dry && !is_broken_;) receive(&is_dry);
  fail(failure_);
}

bool Stream::detach(const void* begin, uint64_t size) {
  bool is_good = true;
  try {
    outgoing_.detach(begin, size);
  } catch (const std::bad_alloc&) {
    // The bytes may not be used any more: what follows them is not sent either.
    outgoing_.clear();
    failure_ = ENOMEM;
    is_good = false;
  }
  incoming_.detach(begin, size);
  return is_good;
}

void Stream::fail(int code) {
  if (is_broken_) return;
  is_broken_ = true;
  host_.broken(connection_, is_connected_ ? CN_PEER_LOST : CN_UNREACHABLE, std::strerror(code));
}

void Stream::on_writable() {
  if (is_broken_) return;
  if (!is_connected_) {
    int code = 0;
    socklen_t size = sizeof code;
    if (getsockopt(socket(), SOL_SOCKET, SO_ERROR, &code, &size) != 0) code = errno;
    if (code != 0) return fail(code);
    is_connected_ = true;
    host_.connected(connection_);
  }
  if (!flush()) report_failure();
}

bool Stream::receive(bool* is_dry) {
  bool did = false;
  *is_dry = false;
  const uint64_t enough = incoming_.frames() + kFrames;
  // What was received before a pause comes first.
  if (begin_ < end_ && !is_paused_ && !parse()) return true;
  for (uint64_t received = 0; received < kTurn && incoming_.frames() < enough && !is_broken_;) {
    if (is_paused_) {
      *is_dry = true;
      return did;
    }
    iovec parts[2];
    const uint64_t missing = begin_ == end_ && incoming_.missing() > kInPlace ? incoming_.missing() : 0;
    if (begin_ == end_) begin_ = end_ = 0;
    size_t count = 0;
    if (missing > 0) parts[count++] = {incoming_.place(), missing};
    parts[count++] = {buffer_.get() + end_, kBuffer - end_};
    const uint64_t room = kBuffer - end_ + missing;
    const ssize_t size = readv(socket(), parts, static_cast<int>(count));
    if (size < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK)
        *is_dry = true;
      else
        fail(errno);
      return did;
    }
    if (size == 0) {
      is_broken_ = true;
      host_.broken(connection_, CN_PEER_LOST, "the connection was closed by the other side");
      return true;
    }
    did = true;
    received += static_cast<uint64_t>(size);
    auto rest = static_cast<uint64_t>(size);
    if (missing > 0) {
      const uint64_t taken = std::min(rest, missing);
      rest -= taken;
      incoming_.fill(connection_, taken, &is_broken_);
      if (is_broken_) return true;
    }
    end_ += rest;
    if (!parse()) return true;
    if (incoming_.is_within_frame()) host_.heard(connection_);
    // A socket that had less than there was room for is empty: what comes later is another event. But there is none
    // for the end of the connection if that has come already.
    if (static_cast<uint64_t>(size) < room && !is_ending_) {
      *is_dry = true;
      return true;
    }
  }
  return did;
}

bool Stream::parse() {
  while (begin_ < end_ && !is_paused_ && !is_broken_)
    begin_ += incoming_.take(connection_, buffer_.get() + begin_, end_ - begin_, &is_broken_);
  if (begin_ == end_) begin_ = end_ = 0;
  return !is_broken_;
}

}  // namespace commnet::sockets
