// An endpoint, and what belongs to it: all that calls the C API.
#ifndef COMMNET_PYTHON_ENDPOINT_H_
#define COMMNET_PYTHON_ENDPOINT_H_

#include <commnet/commnet.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "arguments.h"
#include "buffer.h"
#include "joining.h"
#include "memory.h"
#include "operation.h"

namespace commnet_python {

class Endpoint;

// A message, whose bytes Python sees as a buffer.
class Message {
 public:
  Message(std::shared_ptr<Endpoint> endpoint, cn_message* handle) : endpoint_(std::move(endpoint)), handle_(handle) {}
  Message(const Message&) = delete;
  ~Message();
  const void* data() const { return cn_message_data(handle_); }
  size_t size() const { return cn_message_size(handle_); }

 private:
  const std::shared_ptr<Endpoint> endpoint_;
  cn_message* const handle_;
};

class Queue {
 public:
  explicit Queue(cn_queue* handle) : handle_(handle) {}
  Queue(const Queue&) = delete;
  ~Queue() { cn_queue_release(handle_); }
  cn_queue* handle() const { return handle_; }

 private:
  cn_queue* const handle_;
};

// Settings. Zeros mean the defaults of the library.
struct Options {
  std::optional<std::string> name, secret, transports, listen;
  uint32_t busy_poll_us, peer_timeout_ms, streams;
  uint64_t receive_window, send_limit, message_limit;
  uint32_t linger_ms;
};

// Guarded by the GIL, which calls that may take long release.
class Endpoint : public std::enable_shared_from_this<Endpoint> {
 public:
  static std::shared_ptr<Endpoint> create(const Options& options);
  ~Endpoint();

  bool is_closed() const { return is_closed_; }
  // Whether the endpoint belongs to the parent of this process.
  bool is_abandoned() const { return is_abandoned_; }
  // Returns functions to call, those of the operations that end, and what could not be sent.
  std::pair<std::vector<pybind11::object>, std::string> close();
  // The process is the child of a fork, which has no threads of its parent.
  void abandon();
  std::string name();
  std::string address();

  // Waits until all endpoints of a job are connected, and returns their peers by rank.
  std::vector<uintptr_t> join(uint32_t rank, uint32_t size, const std::string& meeting, uint32_t timeout_ms);
  std::shared_ptr<Operation> connect(const std::string& address, const Call& call);
  std::shared_ptr<Operation> send(uintptr_t peer, pybind11::handle data, uint32_t handler, uint32_t channel,
                                  const Call& call);
  std::shared_ptr<Operation> read(uintptr_t peer, const cn_token& token, pybind11::handle into, uint64_t offset,
                                  const Call& call);
  std::shared_ptr<Operation> write(uintptr_t peer, const cn_token& token, pybind11::handle data, uint64_t offset,
                                   const Call& call);
  std::shared_ptr<Queue> queue();
  std::shared_ptr<Operation> mark(const std::shared_ptr<Queue>& queue, const Call& call);
  // Fill a memory that has nothing yet.
  void register_memory(Memory& memory, pybind11::handle buffer, uint32_t rights);
  void allocate_memory(Memory& memory, uint64_t size, uint32_t rights);

  uintptr_t find_peer(const std::string& name);
  std::string peer_name(uintptr_t peer);
  std::string peer_transport(uintptr_t peer);
  bool peer_is_connected(uintptr_t peer);
  void disconnect(uintptr_t peer);

  void set_handler(uint32_t number, bool is_set);
  void watch_peers(bool watch);
  int descriptor();
  // Waits for events, and returns a list of at most `limit`: functions to call as (1, function), messages as
  // (2, message, peer, handler, channel), peers as (3, peer) and (4, peer, status, text).
  pybind11::list next_events(int64_t timeout_ms, size_t limit);

 private:
  class Use;

  void wake();
  template <class Begin>
  std::shared_ptr<Operation> begin(const std::shared_ptr<Operation>& operation, const Call& call, uint32_t flags,
                                   size_t size, Begin&& begin);
  std::shared_ptr<Operation> new_operation(bool has_event) {
    return std::make_shared<Operation>(shared_from_this(), has_event);
  }

  // Held shared by calls. close() sets is_closed_ before it waits for them, so that nobody waits for the lock with the
  // GIL.
  std::shared_mutex calls_;
  cn_endpoint* handle_ = nullptr;
  cn_queue* wakes_ = nullptr;  // a mark in it wakes who waits for events
  bool is_closed_ = false, is_abandoned_ = false, is_taking_ = false;
  // Operations whose end becomes an event.
  std::unordered_map<void*, std::shared_ptr<Operation>> pending_;
  std::vector<std::shared_ptr<Joining>> joinings_;  // also those that nobody waits for any more
};

}  // namespace commnet_python

#endif  // COMMNET_PYTHON_ENDPOINT_H_
