// One connection of a transport: its handshake, and the frames that arrive.
#ifndef COMMNET_CORE_CONNECTION_H_
#define COMMNET_CORE_CONNECTION_H_

#include <commnet/transport.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/frame.h"
#include "core/operation.h"
#include "core/secure.h"

namespace commnet {

class Endpoint;
class Peer;

// The proofs of a handshake:
//   the one who connects sends kHello with a random number,
//   the other one kChallenge with another number,
//   the first one kProof, the proof that it knows the secret, and
//   the other one kWelcome with the result and, if the proof is right, its own.
// Each proof covers all messages before it, so that no recorded one is good again. Guarded by the endpoint's lock.
class Connection {
 public:
  // Connects: `operation` ends with the connection, which is number `stream` of the link with the identity `link`.
  Connection(Endpoint& endpoint, const cn_transport_table& table, OperationPointer operation, uint32_t stream,
             const Key& link);
  // Takes a connection that the other side has begun.
  Connection(Endpoint& endpoint, const cn_transport_table& table, cn_connection* handle);

  void set_handle(cn_connection* handle) { handle_ = handle; }
  // The transport and the URL by which it connects.
  void set_url(const void* transport, std::string url) {
    transport_ = transport;
    url_ = std::move(url);
  }
  const void* transport() const { return transport_; }
  const std::string& url() const { return url_; }
  // Returns the name of the endpoint at the other side, or of the one that is expected there; "" if it is unknown.
  const std::string& target() const {
    return other_name_.empty() && operation_ ? operation_->expected_name : other_name_;
  }
  // Returns whether it is on its way to an endpoint, as the first connection.
  bool is_beginning_to(const std::string& name) const {
    return has_begun_ && operation_ && !is_open() && !is_closed() && target() == name;
  }
  cn_connection* handle() const { return handle_; }
  const cn_transport_table& table() const { return table_; }
  Peer* peer() const { return peer_; }
  uint32_t stream() const { return stream_; }
  const Key& link() const { return link_; }
  // Returns whether it has had frames since it is open.
  bool is_used() const { return is_used_; }
  bool has_begun() const { return has_begun_; }
  bool is_open() const { return state_ == State::kOpen; }
  bool is_closed() const { return state_ == State::kClosed; }
  bool is_writable() const { return is_writable_ && !has_failed_ && !is_closed(); }
  // Returns whether the transport has failed to take a frame: what follows would not be understood.
  bool has_failed() const { return has_failed_ && !is_closed(); }
  void close_failed() noexcept { close(failure_, failure_text_.c_str()); }
  const OperationPointer& operation() const { return operation_; }
  Clock::time_point handshake_end() const { return handshake_end_; }

  // What the transport reports.
  void connected() noexcept;
  bool begin_frame(const void* header, uint64_t size, void** payload) noexcept;
  bool end_frame() noexcept;
  void heard();
  void writable();
  void sent(uint64_t cookie) noexcept;
  void moved(uint64_t cookie, cn_status status, const char* text) noexcept;
  void broken(cn_status status, const char* text) noexcept;

  // Sends a frame of which the payload is copied, or used until sent(cookie).
  void send(Frame frame, const void* payload = nullptr, uint64_t size = 0, uint64_t cookie = 0) noexcept;
  void send(Frame frame, std::string_view payload) noexcept { send(frame, payload.data(), payload.size()); }
  void flush() noexcept;
  bool can_pause() const { return table_.pause != nullptr; }
  // Stops or goes on to receive frames.
  void pause(bool pauses) noexcept;
  // Access to each other's memory, see the table.
  bool reaches_memory() const { return table_.reaches_memory && table_.reaches_memory(handle_); }
  cn_status expose(const cn_region& region, cn_grant* grant) {
    has_granted_ = true;
    return table_.expose(handle_, &region, grant);
  }
  // Ends what was exposed of a region; 0: of all.
  void revoke(uint64_t region) noexcept;
  cn_status open_remote(const cn_grant& grant, uint64_t size, cn_remote** remote) const {
    return table_.open_remote(handle_, &grant, size, remote);
  }
  void close_remote(cn_remote* remote) const { table_.close_remote(handle_, remote); }
  cn_status get(cn_remote* remote, uint64_t offset, void* to, uint64_t* size, uint64_t cookie, bool* goes_on) const {
    return table_.get(handle_, remote, offset, to, size, cookie, goes_on);
  }
  cn_status put(cn_remote* remote, uint64_t offset, const void* from, uint64_t* size, uint64_t cookie,
                bool* goes_on) const {
    return table_.put(handle_, remote, offset, from, size, cookie, goes_on);
  }
  bool has_unsent() const { return !is_closed() && !has_failed_ && handle_ && table_.has_unsent(handle_); }
  // Stops the use of a range of memory. A payload that arrives there is lost.
  void detach(const void* begin, uint64_t size) noexcept;
  // Whether the other side waits for the answer to its proof, until it is known where own connections lead.
  bool is_waiting() const { return state_ == State::kWaiting; }
  // Returns whether the other side has begun, and has not proved yet that it knows the secret.
  bool is_of_stranger() const { return !has_begun_ && !knows_secret_ && !is_closed(); }
  void decide();
  void decide_or_close() noexcept;
  // Ends the connection from this side.
  void close(cn_status status, const char* text) noexcept;

 private:
  enum class State : uint8_t { kConnecting, kHello, kChallenged, kProven, kWaiting, kOpen, kClosed };

  void* control_buffer(uint64_t size);
  void note_failure() noexcept;
  void take_handshake();
  void take_hello();
  void take_challenge();
  void take_proof();
  void take_welcome();
  void welcome(cn_status status, const std::string& text, bool is_coming = false);
  void open(Peer& peer);

  Endpoint& endpoint_;
  const cn_transport_table& table_;
  cn_connection* handle_ = nullptr;
  const void* transport_ = nullptr;
  std::string url_;
  Peer* peer_ = nullptr;
  State state_ = State::kConnecting;
  const bool has_begun_;
  bool is_writable_ = true;
  bool is_used_ = false;
  bool is_dirty_ = false;  // frames were sent since the last flush()
  bool has_failed_ = false;
  bool has_granted_ = false;
  cn_status failure_ = CN_OK;
  std::string failure_text_;
  OperationPointer operation_;
  uint32_t stream_ = 0;
  Key link_{};
  Clock::time_point handshake_end_;
  std::vector<uint8_t> hello_, challenge_;
  std::string other_name_;
  uint64_t other_window_ = 0, other_limit_ = 0;
  bool knows_secret_ = false;  // the other side
  // The frame that arrives.
  Frame frame_;
  void* payload_ = nullptr;  // where it goes, in the memory of a program
  bool is_lost_ = false;     // the payload, as its memory was detached
  std::vector<uint8_t> control_;
};

}  // namespace commnet

#endif  // COMMNET_CORE_CONNECTION_H_
