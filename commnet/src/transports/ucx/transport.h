// The transport over UCX, for one endpoint.
//
// One worker does all work of the endpoint, and what it shares with another worker is a link.
//
// What UCX has begun it cannot take back. detach() and disconnect() therefore let it work until it has ended, for a
// limited time; after that they close the link. A peer that is reading a payload at that moment may then see other
// bytes than were sent.
//
// Memory is accessed by gets and puts where a device does them by itself; elsewhere UCX only emulates them, see
// AccessRule.
//
// UCX finds out whether memory is that of a GPU. This has not yet been run on one. UCX does not defend itself against
// peers that send it malformed data, and may open ports on all network devices (UCX_NET_DEVICES chooses them): it is
// for networks that are trusted.
//
// Functions that UCX calls only take notes; the host hears of what they say in progress(), or gets sent() and
// writable() in flush().
#ifndef COMMNET_TRANSPORTS_UCX_TRANSPORT_H_
#define COMMNET_TRANSPORTS_UCX_TRANSPORT_H_

#include <commnet/transport.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/descriptor.h"
#include "core/poller.h"
#include "transports/notes.h"
#include "transports/sockets/listeners.h"
#include "transports/ucx/access.h"
#include "transports/ucx/connection.h"
#include "transports/ucx/library.h"
#include "transports/ucx/links.h"
#include "transports/ucx/worker.h"

namespace commnet::ucx {

class Transport {
 public:
  Transport(const cn_transport_host& host, cn_host_endpoint* endpoint, const cn_transport_settings& settings);
  ~Transport();

  const char* address() const { return address_.c_str(); }
  int descriptor() const { return poller_.number(); }
  bool progress();

  Connection& connect(const std::string& url, cn_host_connection* host_connection);
  void disconnect(Connection& connection);
  bool send(Connection& connection, const void* header, const void* payload, uint64_t size, uint64_t cookie);
  void flush(Connection&) { flush(); }
  void detach(Connection& connection, const void* begin, uint64_t size);
  bool has_unsent(const Connection& connection) const;
  bool rest();

  // -- access.cpp: access to memory
  bool reaches_memory(Connection& connection);
  cn_status expose(Connection& connection, const cn_region& region, cn_grant& grant);
  bool revoke(Connection& connection, uint64_t region);
  void forget(uint64_t region);
  Remote* open_remote(Connection& connection, const cn_grant& grant, uint64_t size);
  void close_remote(Connection& connection, Remote* remote);
  cn_status get(Connection& connection, Remote& remote, uint64_t offset, void* to, uint64_t* size, uint64_t cookie,
                bool* goes_on) noexcept;
  cn_status put(Connection& connection, Remote& remote, uint64_t offset, const void* from, uint64_t* size,
                uint64_t cookie, bool* goes_on) noexcept;

 private:
  // -- transport.cpp
  void flush();
  bool uses(const Connection& connection, const void* begin, uint64_t size) const;
  void leave_link(Connection& connection);
  void end_connections();
  void note_failure(Connection& connection, const char* why) noexcept;
  void report_failure(Connection& connection);
  // Lets UCX work until a condition holds, but no longer than a limit.
  void work_until(const std::function<bool()>& holds, Clock::duration limit);

  // -- joining.cpp: how connections begin
  void listen(const std::string& url);
  Connection& add(Descriptor socket, bool has_begun);
  void remove(Connection& connection);
  bool serve_sockets();
  void accept(Descriptor socket);
  void serve(Connection& connection);
  bool connect_socket(Connection& connection);
  bool read_socket(Connection& connection);
  void greet(Connection& connection, uint32_t link, uint32_t next);
  void take_greeting(Connection& connection);
  void take_choice(Connection& connection);
  void join(Connection& connection);
  void settle(Connection& connection);
  void open(Connection& connection);

  // -- frames.cpp
  void set_handlers();
  Send* take_send(Connection& connection, uint64_t size, uint64_t cookie) noexcept;
  void begin(Send& send, Message message);
  void finish(Send& send, ucs_status_t status) noexcept;
  void release(Send& send) noexcept;
  // Sends a message without a payload. Returns false if there is no memory.
  bool tell(Connection& connection, Message message, uint64_t sequence = 0) noexcept;
  template <Message kMessage>
  static ucs_status_t take_message(void* own, const void* header, size_t header_size, void* data, size_t size,
                                   const ucp_am_recv_param_t* parameters);
  ucs_status_t take(Message message, const void* header, size_t header_size, void* data, size_t size,
                    uint64_t flags) noexcept;
  bool report_sent();
  void deliver(Connection& connection);
  bool begin_frame(Connection& connection);
  bool end_frame(Connection& connection);
  void drop(Arrival& arrival);
  void drop_arrivals(Connection& connection);

  // -- access.cpp
  Region& map(const cn_region& region);
  cn_status move(const Move& wanted, bool* goes_on) noexcept;
  bool emulates() const { return worker_.rule() == AccessRule::kAlways; }
  void begin_moves() noexcept;
  void begin(Move& move) noexcept;
  void end_part(Move& move, ucs_status_t status) noexcept;
  // Ends moves that have not begun, for which a condition holds.
  void take_back(const std::function<bool(const Move&)>& holds) noexcept;
  void release(Move& move) noexcept;
  void free_if_unused(Remote& remote) noexcept;
  bool report_moved();
  // Answers the other sides that have revoked what this one may access, once it does not access it any more.
  void answer_revocations() noexcept;

  const Library& ucp_;
  const cn_transport_host& host_;
  cn_host_endpoint* const endpoint_;
  std::string address_;
  sockets::Listeners listeners_;
  // The sockets, and with them the worker.
  Poller sockets_, poller_;
  bool has_rested_ = false;
  Clock::time_point last_work_;
  unsigned turns_ = 0;

  Worker worker_;
  Links links_;
  std::unordered_map<uint64_t, std::unique_ptr<Connection>> connections_;
  std::map<int, Connection*> by_socket_;
  std::vector<std::unique_ptr<Send>> sends_;
  std::vector<Send*> free_sends_;

  // What is to be reported, or done in progress(). With room for all.
  std::vector<Send*> sent_, reported_;
  Notes<Connection> writable_{&Connection::in_writable}, arrived_{&Connection::in_arrived},
      failed_{&Connection::in_failed}, revoking_{&Connection::in_revoking};
  std::vector<Connection*> ending_;

  std::map<std::pair<uint64_t, uint32_t>, Region> regions_;  // by their ids and rights
  std::vector<std::unique_ptr<Move>> moves_;
  // Those that are not used, that wait for their turn, and that have ended. With room for all.
  std::vector<Move*> free_moves_, queued_, moved_, told_;
  uint64_t moving_ = 0;  // bytes that are being copied
  bool needs_wake_ = false;
};

}  // namespace commnet::ucx

#endif  // COMMNET_TRANSPORTS_UCX_TRANSPORT_H_
