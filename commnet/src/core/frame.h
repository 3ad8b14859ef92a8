// The frames that endpoints exchange.
#ifndef COMMNET_CORE_FRAME_H_
#define COMMNET_CORE_FRAME_H_

#include <commnet/transport.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/secure.h"

namespace commnet {

static_assert(std::endian::native == std::endian::little, "headers are sent as they are in memory");

constexpr uint32_t kProtocolVersion = 3;
// Payloads of reads, writes and messages are cut into pieces of this size, so that none holds up others for long.
constexpr uint64_t kPiece = 1 << 20;
// The longest payload of any other frame, such as the names and texts in it.
constexpr uint64_t kLongestControl = 4096;
// Up to this size, what is written goes along with the request.
constexpr uint64_t kEager = 16 << 10;

enum class FrameType : uint8_t {
  // The handshake, see connection.h.
  kHello = 1,
  kChallenge,
  kProof,
  kWelcome,
  // A piece of a message: `total` bytes for handler `a` in channel `b`, of which it has those from `offset` on.
  kMessage,
  // Gives back `total` bytes of the window; 0 asks for what can be given back.
  kCredit,
  // Asks for memory: the payload is a Request.
  kRead,
  kReadPiece,  // of the operation `id`
  // Asks to write, and a piece of what is to be written.
  kWrite,
  kWritePiece,
  // How the operation or the question `id` has ended; the payload is a text. With kGoOn: a write may send its pieces.
  kResult,
  // Asks, by the number `id`, for what it takes to access the memory of a token, which is the payload, without asking
  // again; and the answer: an Opened.
  kOpen,
  kOpened,
  // The memory `id`, about which the other side has asked, is no longer registered.
  kForgotten,
  // Takes back the operation `id`.
  kCancel,
  // Says that the endpoint lives, and that it wants to hear something every `total` milliseconds.
  kPing,
  kPong,
  kGoodbye,
  // The endpoint is connected with all members of the job `id`.
  kReady,
};

// The payloads of the handshake, which a name or a text follows.
struct Hello {
  uint32_t version;
  uint32_t stream;
  uint64_t window;         // of messages that are received
  uint64_t message_limit;  // the most bytes of one
  Key nonce;
  Key link;
};
struct Challenge {
  Key nonce;
};
struct Welcome {
  uint32_t status;
  uint32_t is_coming;  // whether the connection that this side has begun is kept instead
  uint64_t window;
  uint64_t message_limit;
  Key link;
  Proof proof;  // zero in what it covers, and for those who do not know the secret
};

constexpr uint8_t kGoOn = 1;      // a flag of kResult
constexpr uint8_t kInFrames = 1;  // of kOpened: the memory cannot be accessed from outside

// Little-endian, without padding.
struct Frame {
  FrameType type{};
  uint8_t flags = 0;
  uint16_t status = 0;
  uint32_t a = 0, b = 0, reserved = 0;
  uint64_t id = 0;
  uint64_t offset = 0;
  uint64_t total = 0;
  uint64_t size = 0;  // of the payload
};
static_assert(sizeof(Frame) == CN_FRAME_HEADER);

// The payload of kRead and kWrite: `size` bytes at `offset` of the memory of the token.
struct Request {
  cn_token token;
  uint64_t offset, size;
};
static_assert(sizeof(Request) == 80);

// The payload of kOpened: what the memory of the token is, and the grant, of which only the bytes that the key has are
// sent.
struct Opened {
  uint64_t size;
  uint64_t rights;
  cn_grant grant;
};
constexpr size_t kOpenedHead = offsetof(Opened, grant) + offsetof(cn_grant, key);

}  // namespace commnet

#endif  // COMMNET_CORE_FRAME_H_
