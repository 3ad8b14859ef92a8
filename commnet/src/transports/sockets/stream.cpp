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

constexpr uint64_t kBuffer = 64 << 10;
// Payloads of which more than this is missing are received in their place.
constexpr uint64_t kInPlace = 16 << 10;
// No more frames are taken while this many bytes are to be sent.
constexpr uint64_t kMostUnsent = 1 << 20;
// How many bytes are received before other connections have their turn.
constexpr uint64_t kTurn = 1 << 20;

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
      buffer_(new char[kBuffer]) {}

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
  const auto first = reinterpret_cast<uintptr_t>(begin), place = reinterpret_cast<uintptr_t>(payload_);
  if (payload_ && place < first + size && place + left_ > first) payload_ = nullptr;
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
  // What was received before a pause comes first.
  if (begin_ < end_ && !is_paused_ && !parse()) return true;
  for (uint64_t received = 0; received < kTurn && !is_broken_;) {
    if (is_paused_) {
      *is_dry = true;
      return did;
    }
    iovec parts[2];
    const bool in_place = is_in_payload_ && payload_ && left_ > kInPlace && begin_ == end_;
    if (begin_ == end_) begin_ = end_ = 0;
    size_t count = 0;
    if (in_place) parts[count++] = {payload_, left_};
    parts[count++] = {buffer_.get() + end_, kBuffer - end_};
    const uint64_t room = kBuffer - end_ + (in_place ? left_ : 0);
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
    if (in_place) {
      const uint64_t taken = std::min(rest, left_);
      payload_ += taken;
      left_ -= taken;
      rest -= taken;
      if (left_ == 0 && !end()) return true;
    }
    end_ += rest;
    if (!parse()) return true;
    if (is_in_payload_ || header_size_ > 0) host_.heard(connection_);
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
  while (begin_ < end_ && !is_paused_) {
    const uint64_t here = end_ - begin_;
    if (!is_in_payload_) {
      const uint64_t taken = std::min<uint64_t>(here, CN_FRAME_HEADER - header_size_);
      std::memcpy(header_ + header_size_, buffer_.get() + begin_, taken);
      header_size_ += taken;
      begin_ += taken;
      if (header_size_ == CN_FRAME_HEADER && !begin()) return false;
      continue;
    }
    const uint64_t taken = std::min(here, left_);
    if (payload_) {
      std::memcpy(payload_, buffer_.get() + begin_, taken);
      payload_ += taken;
    }
    left_ -= taken;
    begin_ += taken;
    if (left_ == 0 && !end()) return false;
  }
  if (begin_ == end_) begin_ = end_ = 0;
  return true;
}

bool Stream::begin() {
  header_size_ = 0;
  is_in_payload_ = true;
  // The last field of a header is the size of the payload.
  std::memcpy(&left_, header_ + CN_FRAME_HEADER - sizeof left_, sizeof left_);
  void* payload = nullptr;
  if (!host_.begin_frame(connection_, header_, left_, &payload)) {
    is_broken_ = true;
    return false;
  }
  payload_ = static_cast<char*>(payload);
  return left_ > 0 || end();
}

bool Stream::end() {
  is_in_payload_ = false;
  payload_ = nullptr;
  if (host_.end_frame(connection_)) return true;
  is_broken_ = true;
  return false;
}

}  // namespace commnet::sockets
