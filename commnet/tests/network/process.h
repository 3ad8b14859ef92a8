// A peer that is a process of its own, on one side of a link: it sends messages back, has memory, and says which peers
// join and leave.
#ifndef COMMNET_TESTS_NETWORK_PROCESS_H_
#define COMMNET_TESTS_NETWORK_PROCESS_H_

#include <commnet/commnet.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "network/link.h"

namespace commnet::tests {

class Process {
 public:
  static constexpr uint32_t kEcho = 1;          // the handler that sends back to kEcho
  static constexpr size_t kMemory = 1'000'000;  // bytes of its memory

  // Must be called before this process has endpoints.
  Process(const Link& link, Side side, const std::string& name, uint32_t peer_timeout_ms);
  ~Process() { kill(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  const std::string& address() const { return address_; }
  const cn_token& token() const { return token_; }
  // What its memory has at first.
  static std::vector<uint8_t> content();
  // Waits until it says that a peer has joined or left.
  bool has_seen(cn_event_kind what) const;

  void kill();
  void stop() const;
  void go_on() const;

 private:
  pid_t process_ = -1;
  int news_ = -1;
  std::string address_;
  cn_token token_{};
};

}  // namespace commnet::tests

#endif  // COMMNET_TESTS_NETWORK_PROCESS_H_
