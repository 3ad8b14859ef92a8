// What ranks send each other.
#ifndef ONEFLOW_PARALLEL_PROCESSES_MESSAGE_H_
#define ONEFLOW_PARALLEL_PROCESSES_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace oneflow::processes {

enum class MessageKind : uint32_t {
  kData,     // bytes follow
  kOffer,    // the key of bytes follows, which the receiver fetches
  kDispute,  // the text of what the sender calls follows: another rank calls something else
  kPassed,   // likewise, of a call that the sender has completed
  kAbort,    // the text of a failure of the sender follows
  kOverdue,  // the text of what the sender calls follows, whose deadline is over: does the receiver take part?
  kPresent,  // the sender takes part, or has
  kCredit,   // `size` bytes of messages were taken
  // Of no lane:
  kAsk,     // the name of a device type follows: the sender wants to know the communicator of such devices
  kAnswer,  // the name of the type and the version of the communicator follow; see DevicePeers
  kBroken,  // the text of a failure follows: the communicator of devices whose number is `call` is of no use any more
  kClosed,  // the sender has done all work of this communicator, and leaves it
};

// The beginning of each message.
struct Envelope {
  uint64_t lane;      // see Operation
  uint64_t call;      // the hash of what the sender calls
  uint32_t sequence;  // of the call in the lane
  MessageKind kind;
  int64_t extent;  // a number for the receiver
  uint64_t size;   // of the bytes that are sent or offered
};

// A message that has come.
struct Message {
  uint32_t rank;  // of the sender
  Envelope envelope;
  std::unique_ptr<std::byte[]> bytes;  // what follows the envelope
  size_t count;

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.get()), count}; }
};

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_MESSAGE_H_
