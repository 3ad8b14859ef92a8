#include "transports/shared/channel.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "core/status.h"

namespace commnet::shared {

namespace {

// No more frames are taken while this many bytes wait for room.
constexpr uint64_t kMostUnsent = 1 << 20;
// How many bytes are received before other connections have their turn.
constexpr uint64_t kTurn = 1 << 20;
// Files of regions that wait to be used.
constexpr size_t kMostWaiting = 4096;

// The key of a grant.
struct Place {
  uint64_t region;
  uint64_t address;   // in the process
  uint64_t has_file;  // whether a letter has brought its file
};

pid_t process_at(int socket) {
  ucred other{};
  socklen_t size = sizeof other;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 ? other.pid : 0;
}

}  // namespace

Channel::Channel(const cn_transport_host& host, Descriptor socket, bool has_begun)
    : host_(host), socket_(std::move(socket)), has_begun_(has_begun), incoming_(host) {}

// ------------------------------------------------------------------------------------------------ beginning

void Channel::make_segment() {
  memory_ = MemoryFile::make(sizeof(Segment));
  if (!memory_ || !memory_.reserve()) fail(CN_UNREACHABLE, "there is no memory to share: %s", std::strerror(errno));
  use_segment();
}

void Channel::use_segment() {
  Segment& segment = *reinterpret_cast<Segment*>(memory_.data());
  const int out = has_begun_ ? 0 : 1;
  writer_ = Writer(segment.rings[out], segment.bytes[out]);
  reader_ = Reader(segment.rings[1 - out], segment.bytes[1 - out]);
  neighbour_.set_states(segment.copies[out], segment.copies[1 - out]);
}

int Channel::send_hello(int signal) {
  const Letter letter{LetterKind::kHello, kRing, neighbour_.greeting(), 0, 0};
  return has_begun_ ? send_letter(socket(), letter, {signal, memory_.file()}) : send_letter(socket(), letter, {signal});
}

int Channel::receive_letters(bool* has_hello) {
  for (;;) {
    Letter letter;
    Descriptor files[kMostFiles];
    const int code = receive_letter(socket(), letter, files);
    if (code != 0) return code == EAGAIN ? 0 : code;
    if (!is_open_) {
      if (!take_hello(letter, files)) return EPROTO;
      *has_hello = is_open_ = true;
    } else {
      if (letter.kind != LetterKind::kRegion || files_.size() >= kMostWaiting) return EPROTO;
      files_.insert_or_assign(letter.region, std::move(files[0]));
    }
  }
}

bool Channel::take_hello(const Letter& letter, Descriptor (&files)[kMostFiles]) {
  if (letter.kind != LetterKind::kHello || letter.ring != kRing || !files[0]) return false;
  bell_ = std::move(files[0]);
  fcntl(bell_.number(), F_SETFL, O_NONBLOCK);
  if (!has_begun_) {
    memory_ = MemoryFile::take(files[1], sizeof(Segment));
    if (!memory_ || !memory_.is_writable()) return false;
    use_segment();
  }
  neighbour_.greet(process_at(socket()), letter.greeting);
  return true;
}

void Channel::ring_bell() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(bell_.number(), &one, sizeof one);  // fails if it rings already
}

// ------------------------------------------------------------------------------------------------ sending

bool Channel::send(const void* header, const void* payload, uint64_t size, uint64_t cookie) {
  if (is_broken_) return true;
  uint64_t written = 0;
  if (outgoing_.size() == 0) {
    const iovec parts[] = {{const_cast<void*>(header), CN_FRAME_HEADER}, {const_cast<void*>(payload), size}};
    written = writer_.write(parts, size > 0 ? 2 : 1);
    if (written == CN_FRAME_HEADER + size) {
      if (cookie != 0) host_.sent(connection_, cookie);
      return true;
    }
  }
  // What there is no room for waits.
  const uint64_t of_header = std::min<uint64_t>(written, CN_FRAME_HEADER), of_payload = written - of_header;
  const auto* const rest = static_cast<const char*>(payload) + of_payload;
  try {
    outgoing_.copy(static_cast<const char*>(header) + of_header, CN_FRAME_HEADER - of_header);
    if (cookie == 0)
      outgoing_.copy(rest, size - of_payload);
    else
      outgoing_.borrow(rest, size - of_payload, cookie);
  } catch (...) {
    // Nothing may follow half a frame. The library closes the connection.
    outgoing_.clear();
    throw;
  }
  is_full_ = outgoing_.size() >= kMostUnsent;
  return !is_full_;
}

bool Channel::flush() {
  if (is_broken_ || !is_open_) return false;
  const uint64_t before = outgoing_.size();
  while (outgoing_.size() > 0) {
    outgoing_.send([&](const iovec* parts, size_t count) { return static_cast<ssize_t>(writer_.write(parts, count)); },
                   sent_);
    if (outgoing_.size() == 0 || writer_.await_room()) break;
  }
  if (writer_.wakes_reader()) ring_bell();
  for (const uint64_t cookie : sent_) host_.sent(connection_, cookie);
  sent_.clear();
  if (is_full_ && outgoing_.size() < kMostUnsent) {
    is_full_ = false;
    host_.writable(connection_);
  }
  return outgoing_.size() < before;
}

void Channel::detach(const void* begin, uint64_t size) {
  incoming_.detach(begin, size);
  try {
    outgoing_.detach(begin, size);
  } catch (...) {
    // The bytes may not be used any more, and nothing may follow without them. The library closes the connection.
    outgoing_.clear();
    throw;
  }
}

// ------------------------------------------------------------------------------------------------ receiving

void Channel::break_off(cn_status status, const char* text) {
  is_broken_ = true;
  host_.broken(connection_, status, text);
}

const char* Channel::text_of_end() const {
  return end_ == ECONNRESET ? "the connection was closed by the other side" : std::strerror(end_);
}

void Channel::end(int code) {
  end_ = code;
  if (!is_open_) break_off(CN_UNREACHABLE, text_of_end());
}

bool Channel::receive() {
  bool did = false;
  for (uint64_t received = 0; received < kTurn && !is_paused_;) {
    uint64_t size = 0;
    bool is_nonsense = false;
    const char* const bytes = reader_.next(&size, &is_nonsense);
    if (is_nonsense) {
      break_off(CN_DENIED, "the peer wrote nonsense into the shared memory");
      return true;
    }
    if (size == 0) break;
    did = true;
    received += size;
    for (uint64_t taken = 0; taken < size && !is_broken_;)
      taken += incoming_.take(connection_, bytes + taken, size - taken, &is_broken_);
    if (is_broken_) return true;
    if (reader_.skip(size)) ring_bell();
  }
  if (did) {
    if (incoming_.is_within_frame()) host_.heard(connection_);
  } else if (end_ != 0 && !is_paused_) {
    break_off(CN_PEER_LOST, text_of_end());
    return true;
  }
  return did;
}

bool Channel::rest() {
  if (!is_open_ || is_broken_) return true;
  if (outgoing_.size() > 0 && !writer_.await_room()) return false;
  return reader_.sleep() || is_paused_;
}

// ------------------------------------------------------------------------------------------------ memory

cn_status Channel::expose(const cn_region& region, cn_grant& grant) {
  const bool has_file = region.file >= 0 && send_file(region);
  if (!has_file) addressed_.insert(region.id);
  const Place place{region.id, reinterpret_cast<uintptr_t>(region.data), has_file};
  grant.number = neighbour_.grant(region.id);
  grant.size = sizeof place;
  std::memcpy(grant.key, &place, sizeof place);
  return CN_OK;
}

// Sends the file of a region. Returns whether that could be done.
bool Channel::send_file(const cn_region& region) {
  const Letter letter{LetterKind::kRegion, 0, {}, region.id, region.size};
  if ((region.rights & CN_WRITE) != 0) return send_letter(socket(), letter, {region.file}) == 0;
  char path[40];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", region.file);
  const Descriptor to_read(::open(path, O_RDONLY | O_CLOEXEC));
  return to_read && send_letter(socket(), letter, {to_read.number()}) == 0;
}

bool Channel::revoke(uint64_t region) {
  neighbour_.revoke(region);
  // Memory that both have mapped may still be looked at: it belongs to nobody any more.
  const bool waits = region == 0 ? !addressed_.empty() : addressed_.erase(region) != 0;
  return !waits || neighbour_.await_copies(socket(), region);
}

Remote* Channel::open_remote(const cn_grant& grant, uint64_t size) {
  Place place;
  if (grant.size != sizeof place) fail(CN_DENIED, "the peer sent a key that is none");
  std::memcpy(&place, grant.key, sizeof place);
  auto remote = std::make_unique<Remote>(Remote{place.region, grant.number, {}, place.address});
  if (place.has_file != 0) {
    bool has_hello = false;
    if (const int code = receive_letters(&has_hello)) end_ = code;
    if (const auto file = files_.extract(place.region)) remote->file = MemoryFile::take(file.mapped(), size);
  }
  if (!remote->file && !neighbour_.reaches_process())
    fail(CN_UNSUPPORTED, "the memory of the other process cannot be reached");
  return remote.release();
}

cn_status Channel::status_of(int code) {
  switch (code) {
    case 0:
      return CN_OK;
    case ESTALE:
      return set_error(CN_CANCELLED, "the grant was revoked");
    case EPERM:
    case ENOSYS:
      return set_error(CN_UNSUPPORTED, std::strerror(code));
    case ESRCH:
      return set_error(CN_PEER_LOST, "its process has ended");
    default:
      return set_error(CN_SYSTEM_ERROR, std::strerror(code));
  }
}

cn_status Channel::get(Remote& remote, uint64_t offset, void* to, uint64_t* size) {
  return status_of(neighbour_.with_grant(remote.region, remote.grant, [&] {
    if (!remote.file) return neighbour_.read(to, remote.address + offset, *size);
    std::memcpy(to, remote.file.data() + offset, *size);
    return 0;
  }));
}

cn_status Channel::put(Remote& remote, uint64_t offset, const void* from, uint64_t* size) {
  return status_of(neighbour_.with_grant(remote.region, remote.grant, [&] {
    if (!remote.file) return neighbour_.write(socket(), from, remote.address + offset, *size);
    if (!remote.file.is_writable()) return EACCES;
    std::memcpy(remote.file.data() + offset, from, *size);
    return 0;
  }));
}

}  // namespace commnet::shared
