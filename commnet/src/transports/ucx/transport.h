// The transport over UCX, for one endpoint: one context and one worker of UCP.
//
// Functions that UCX calls only take notes; the host hears of what they say in progress(), or gets sent() and
// writable() in flush().
#ifndef COMMNET_TRANSPORTS_UCX_TRANSPORT_H_
#define COMMNET_TRANSPORTS_UCX_TRANSPORT_H_

#include <commnet/transport.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/descriptor.h"
#include "transports/ucx/connection.h"
#include "transports/ucx/library.h"
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
  void flush();
  void detach(Connection& connection, const void* begin, uint64_t size);

 private:
  struct Listener {
    Transport& owner;
    ucp_listener_h handle = nullptr;
    std::vector<ucp_conn_request_h> requests;
  };

  // -- transport.cpp
  void open_worker();
  void close_worker();
  void listen(const std::string& url);
  Connection& add(bool has_begun);
  void open_endpoint(Connection& connection, ucp_ep_params_t parameters);
  void note_failure(Connection& connection, ucs_status_t status);
  bool take_requests();
  void take_request(const Listener& listener, ucp_conn_request_h request);
  void report_failure(Connection& connection);
  void close_endpoint(Connection& connection);
  void end_goodbyes();
  // Lets UCX work until a condition holds, but no longer than a limit.
  template <class Condition>
  void work_until(Condition&& holds, Clock::duration limit);
  void rest();
  void keep_awake(bool keep);

  // -- frames.cpp
  void set_handlers();
  Send& take_send(Connection& connection, uint64_t size, uint64_t cookie);
  void begin(Send& send, Message message, const void* header, size_t header_size, uint32_t flags);
  void finish(Send& send, ucs_status_t status);
  void say_hello(Connection& connection);
  void say_goodbye(Connection& connection);
  void take_hello(const void* header, size_t header_size, const ucp_am_recv_param_t& parameters);
  ucs_status_t take(Message message, const void* header, size_t header_size, void* data, size_t size, uint64_t flags);
  bool report_sent();
  void deliver(Connection& connection);
  bool begin_frame(Connection& connection);
  bool end_frame(Connection& connection);
  void drop(Arrival& arrival);
  void drop_arrivals(Connection& connection);

  const Library& ucp_;
  const cn_transport_host& host_;
  cn_host_endpoint* const endpoint_;
  const Worker worker_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::string address_;

  // Readable if the worker's descriptor is, or the signal, which keeps the endpoint from sleeping.
  Descriptor poller_;
  Signal stays_awake_;
  bool is_kept_awake_ = false;
  Clock::time_point last_work_;

  std::unordered_map<uint64_t, Connection*> by_id_;
  std::unordered_map<ucp_ep_h, Connection*> by_endpoint_;
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Send>> sends_;
  std::vector<Send*> free_sends_;

  // What UCX has reported.
  std::vector<std::pair<Connection*, uint64_t>> sent_;
  std::set<Connection*> writable_, opened_, arrived_, failed_, ending_;
  bool needs_wake_ = false;
};

}  // namespace commnet::ucx

#endif  // COMMNET_TRANSPORTS_UCX_TRANSPORT_H_
