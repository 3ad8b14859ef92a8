// What the programs that measure CommNet have in common.
#ifndef COMMNET_BENCHMARKS_ENDPOINTS_H_
#define COMMNET_BENCHMARKS_ENDPOINTS_H_

#include <commnet/commnet.h>

#include <cstring>
#include <string>
#include <utility>

#include "processes.h"

inline void check(cn_status status, const char* what) { require(status == CN_OK, what, cn_error()); }

// How the endpoints of a measurement are made and driven:
//   transport=   shared, sockets, tcp, ucx; default: all
//   wait=spin    both look for work all the time
//   wait=sleep   both sleep in between, without a thread for progress
//   wait=thread  the default options
class Kind {
 public:
  explicit Kind(const Arguments& given) : transport_(given.text("transport")), wait_(given.text("wait", "thread")) {}

  bool has_thread() const { return wait_ == "thread"; }
  cn_endpoint* endpoint(const std::string& name) const {
    const bool is_tcp = transport_ == "tcp";
    const std::string transports = is_tcp ? "sockets" : transport_;
    cn_endpoint_options options{};
    options.struct_size = sizeof options;
    options.name = name.c_str();
    options.transports = transports.c_str();
    options.listen = is_tcp ? "tcp://127.0.0.1:0" : "";
    options.flags = has_thread() ? 0 : CN_MANUAL_PROGRESS;
    options.busy_poll_us = wait_ == "spin" ? 1'000'000 : 0;
    cn_endpoint* result = nullptr;
    check(cn_endpoint_create(&options, &result), "cn_endpoint_create");
    return result;
  }
  // Does the work of an endpoint until a flag is set.
  void run(cn_endpoint* own, const std::atomic<bool>& ends) const {
    if (has_thread()) ends.wait(false);
    while (!ends) cn_progress(own, 1000);
  }
  void serve(cn_endpoint* own) const { run(own, std::atomic<bool>{false}); }

 private:
  const std::string transport_, wait_;
};

// Counts messages that arrive, from the first one on, until the measurement is over.
struct Receiver {
  Meter meter;
  bool has_begun = false;
  std::atomic<bool> ends{false};

  void take() {
    if (!std::exchange(has_begun, true)) return meter.begin();
    if (ends || meter.tick()) return;
    ends = true;
    ends.notify_all();
  }
};

inline void publish(Shared::Server& server, const cn_endpoint* own, const cn_memory* memory = nullptr) {
  std::strcpy(server.address, cn_endpoint_address(own));
  cn_token token{};
  if (memory) check(cn_memory_token(memory, CN_READ | CN_WRITE, &token), "cn_memory_token");
  std::memcpy(server.token, &token, sizeof token);
  server.is_ready = true;
}

inline cn_token token_of(const Shared::Server& server) {
  cn_token token;
  std::memcpy(&token, server.token, sizeof token);
  return token;
}

inline cn_peer* connect(cn_endpoint* own, Shared& shared, size_t server) {
  await(shared.servers[server].is_ready);
  cn_operation* operation = nullptr;
  check(cn_connect(own, shared.servers[server].address, nullptr, &operation), "cn_connect");
  check(cn_wait(operation, 10'000), "cn_connect");
  cn_peer* const peer = cn_operation_peer(operation);
  cn_operation_release(operation);
  std::strcpy(shared.transport, cn_peer_transport(peer));
  return peer;
}

#endif  // COMMNET_BENCHMARKS_ENDPOINTS_H_
