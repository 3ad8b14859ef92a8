// A peer: the operations that this endpoint has begun there, and those that it has begun here.
#ifndef COMMNET_CORE_PEER_H_
#define COMMNET_CORE_PEER_H_

#include <commnet/commnet.h>

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/connection.h"
#include "core/fifo.h"
#include "core/frame.h"
#include "core/memory.h"
#include "core/message.h"
#include "core/notice.h"
#include "core/operation.h"
#include "core/remote.h"
#include "core/secure.h"
#include "core/status.h"

namespace commnet {

class Endpoint;

// Guarded by the endpoint's lock.
class Peer {
 public:
  Peer(Endpoint& endpoint, std::string name);
  ~Peer();

  cn_peer* handle() const { return handle_.get(); }
  const std::string& name() const;
  // Returns the name of the transport that connects it, or has last.
  const char* transport() const { return transport_; }
  bool is_connected() const { return is_connected_; }
  uint64_t session() const { return session_; }
  const Key& link() const { return link_; }
  Endpoint& endpoint() const { return endpoint_; }

  // The events of its joining and leaving, which join() prepares.
  Notices& joined_notice() { return joined_notice_; }
  Notices& left_notice() { return left_notice_; }
  // Returns whether it has work to do that was not noted yet, and notes it.
  bool note_work() { return !std::exchange(has_work_, true); }
  void begin_turn(uint64_t turn) {
    has_work_ = false;
    turn_ = turn;
  }
  uint64_t turn() const { return turn_; }

  // The first connection, of a link with an identity, to a peer that receives messages with a window and up to a size.
  void join(Connection& connection, const Key& link, uint64_t window, uint64_t message_limit);
  // Returns whether it may get a further connection.
  bool has_room() const { return connections_.size() < 16; }
  // A further connection, for pieces of reads and writes.
  void add(Connection& connection);
  // Takes away a connection that has broken. Without the first one, the peer is lost.
  void lose(Connection& connection, cn_status status, const std::string& text) noexcept;
  // Ends the link from this side.
  void leave(cn_status status, const std::string& text);

  // Operations of this endpoint. They throw Error if the operation cannot begin.
  void send(const OperationPointer& operation);
  // Gives a message to the transport if nothing else waits; returns whether it has.
  bool send_now(uint32_t handler, uint32_t channel, const void* data, uint64_t size);
  void request(const OperationPointer& operation);
  // Forgets an operation that is to end early. Its memory is no longer used.
  void drop(const OperationPointer& operation) noexcept;

  // Returns whether there are messages that have not been given to the transport, or that it still uses; and how many
  // have not.
  bool has_unsent() const { return is_connected_ && (!channels_.empty() || !flights_.empty()); }
  size_t count_unsent() const;

  // Says that this endpoint is connected with all members of a job.
  void say_ready(uint64_t job) noexcept;
  // Returns whether the peer has said so, which counts once for each time.
  bool take_ready(uint64_t job);

  // Frames of the peer. The functions with a result return where the payload goes; NULL: it is dropped. All throw Error
  // for frames that a correct endpoint does not send.
  void* begin_message(const Frame& frame);
  void end_message(const Frame& frame);
  void* begin_piece(const Frame& frame);
  void end_piece(const Frame& frame);
  // Fails the operation of a piece whose bytes were dropped, as they went to memory that was released.
  void lose_piece(const Frame& frame);
  void take(const Frame& frame, std::vector<uint8_t>& payload);
  void heard() noexcept;

  // Gives the bytes of a message back to the sender's window.
  void give_back(uint64_t cost) noexcept;
  // A payload is no longer used.
  void sent(uint64_t cookie) noexcept;
  // A copy of memory has ended.
  void moved(uint64_t cookie, cn_status status, const char* text) noexcept;
  // Sends as much as the connections take.
  void pump() noexcept;
  // Sends what the connections have taken, at once or together with what follows.
  void flush_soon() noexcept;
  void fill() noexcept;
  void flush() noexcept;
  // Pings, and ends the link if the peer has been silent. Returns when it is to be called again.
  Clock::time_point check_life(Clock::time_point now) noexcept;
  // Ends the peer's use of a memory that is no longer registered.
  void forget_memory(const Memory& memory) noexcept;

 private:
  // A request of the peer.
  struct Served {
    FrameType type;
    std::shared_ptr<const Memory> memory;
    uint64_t offset, size;  // within the memory
    uint64_t next = 0;      // bytes sent, or arrived
    uint64_t begun = 0;     // bytes of pieces that have begun to arrive
    bool is_alive() const { return memory != nullptr; }
  };
  // A piece that the transport sends without a copy, or a copy of memory that it has begun.
  struct Flight {
    OperationPointer operation;            // of a piece that this endpoint sends by itself
    std::shared_ptr<const Memory> memory;  // of one that the peer has asked for
    uint64_t size = 0;                     // of a copy
  };
  struct Control {
    Frame frame;
    std::string payload;
  };

  Connection& main() { return *connections_[0]; }
  // Runs something without which the link would not be right: if it throws, the link ends.
  template <class Body>
  void guard(Body&& body) noexcept;
  void close_failed() noexcept;
  void fill_connections();
  void control(Frame frame, std::string payload = {});
  // Says that this endpoint lives, and how often it wants to hear the same.
  void ping();
  Clock::duration ping_interval() const;
  void result(uint64_t id, cn_status status, const std::string& text = {});
  void keep_copy(Operation& operation);
  void detach(const Operation& operation);
  // Begins a read or a write.
  void ask(const OperationPointer& operation);
  // Asks the peer to take part in it, for what is not moved yet.
  void ask_for_frames(Operation& operation);
  void ask_more() noexcept;
  bool fits(uint64_t size) const;
  // Stops to receive while the peer does not read what it has asked for, and goes on later.
  void limit_answers();
  void go_on() noexcept;
  bool send_control();
  bool send_message_piece();
  bool send_transfer_piece();
  // Reads and writes without the peer's help.
  void access(const OperationPointer& operation);
  void ask_how(const std::shared_ptr<Remote>& remote);
  void take_opened(const Frame& frame, const std::vector<uint8_t>& payload);
  void take_refusal(Remote& remote, cn_status status, const std::string& text);
  void forget_remote(uint64_t memory);
  void go_on_accessing(Remote& remote);
  bool access_some();
  uint64_t access_piece(const OperationPointer& operation);
  uint64_t move_piece(const OperationPointer& operation, Remote& remote);
  void end_move(const OperationPointer& operation, cn_status status, uint64_t size, const char* text);
  void show_how(const Frame& frame, const std::vector<uint8_t>& payload);
  // Sends a piece of at most kPiece bytes, and returns its size.
  uint64_t send_piece(Connection& connection, Frame frame, const char* from, uint64_t left, Flight flight);
  std::unique_ptr<cn_message> make_message(const Frame& frame);
  void take_control(const Frame& frame, std::vector<uint8_t>& payload);
  void forget_served(const Memory& memory);
  void serve(const Frame& frame, const std::vector<uint8_t>& payload);
  void take_result(const Frame& frame, const std::string& text);
  void finish(const OperationPointer& operation, cn_status status, std::string_view text = {}) noexcept;
  void end_session(cn_status status, const std::string& text) noexcept;

  Endpoint& endpoint_;
  std::unique_ptr<cn_peer> handle_;
  const char* transport_ = "";
  bool is_connected_ = false;
  uint64_t session_ = 0;  // counts how often it has been connected
  Notices joined_notice_, left_notice_;
  bool has_work_ = false;
  uint64_t turn_ = 0;  // in which it has worked last
  Key link_{};
  std::vector<Connection*> connections_;  // the first one has all that must stay in order
  Clock::time_point last_heard_, last_ping_;
  // How often the peer wants to hear something, also while its own frames are held up behind others.
  Clock::duration wanted_interval_ = Clock::duration::max();
  // When the link ends after a further connection has, and why.
  Clock::time_point ends_at_ = Clock::time_point::max();
  std::string ends_why_;

  // What it has said last of a job, and how often.
  uint64_t ready_job_ = 0;
  uint32_t ready_count_ = 0;

  // To be sent.
  Fifo<Control> controls_;
  size_t answers_ = 0;  // those that the peer has caused
  bool is_paused_ = false;
  std::map<uint32_t, Fifo<OperationPointer>> channels_;
  uint32_t next_channel_ = 0;
  uint64_t window_ = 0, message_limit_ = 0, in_window_ = 0, waiting_ = 0;
  bool has_asked_ = false;                       // for what can be given back of the window
  Fifo<uint64_t> served_turns_, writing_turns_;  // reads of the peer and own writes, in turns
  size_t next_stream_ = 0;
  bool prefers_transfers_ = false;
  std::unordered_map<uint64_t, OperationPointer> operations_;
  Fifo<uint64_t> unasked_;  // those for which there are too many already
  size_t asked_ = 0;        // the others
  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, Flight> flights_;
  uint64_t last_cookie_ = 0;

  // What arrives.
  std::map<uint32_t, std::unique_ptr<cn_message>> arriving_;
  std::unique_ptr<cn_message> whole_;  // a message of one piece
  uint64_t held_ = 0, owed_ = 0;       // bytes of messages that are here, and that are to be given back
  bool is_asked_ = false;
  std::unordered_map<uint64_t, Served> served_;

  // Memory that is accessed without the other side's help: that of the peer, questions about it by their numbers, the
  // operations whose turn comes; and which own memory the peer may access.
  RemoteTable remotes_;
  std::unordered_map<uint64_t, std::shared_ptr<Remote>> questions_;
  Fifo<uint64_t> accessing_;
  std::unordered_set<uint64_t> granted_;
};

}  // namespace commnet

// The handle of the C API, which says so if the endpoint is closed.
struct cn_peer {
  const std::weak_ptr<commnet::Endpoint> endpoint;
  commnet::Peer* const peer;  // valid while the endpoint is
  const std::string name;
};

namespace commnet {

inline const std::string& Peer::name() const { return handle_->name; }

template <class Body>
void Peer::guard(Body&& body) noexcept {
  try {
    body();
  } catch (...) {
    if (is_connected_ && !connections_.empty()) main().close(set_error_of_exception(), cn_error());
  }
}

// Throws the error of a peer that does not follow the protocol: it sent "what".
[[noreturn]] void fail_protocol(const char* what);

}  // namespace commnet

#endif  // COMMNET_CORE_PEER_H_
