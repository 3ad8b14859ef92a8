// The endpoint as lib/endpoint.js uses it. JavaScript never sees a native pointer: it refers to peers, memories, queues
// and operations by numbers, which stay invalid once they are.
//
// The ends of operations, messages and peers that come and go are events of the library. A uv_poll handle watches their
// descriptor, so that all of JavaScript is called on the thread of its environment, by three functions:
//   done(operation, status, text, peer)       an operation has ended; `peer` is that of a connection, an array for a
//                                             job, else -1
//   message(handler, channel, peer, data)     a message has arrived
//   peer(peer, name, status, text)            a peer has joined, with an `undefined` status, or left
#pragma once

#include <commnet/commnet.h>
#include <napi.h>
#include <uv.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "allocation.h"
#include "bytes.h"
#include "joining.h"

namespace commnet::node {

class Endpoint final : public Napi::ObjectWrap<Endpoint> {
 public:
  static Napi::Function define(Napi::Env env);
  // Takes an object with all options, then one with the functions `done`, `message` and `peer`.
  explicit Endpoint(const Napi::CallbackInfo& info);
  ~Endpoint() override;

 private:
  struct Pending {
    cn_operation* handle;
    Bytes bytes;
    bool is_connection;
  };
  // Memory of JavaScript with its handle, or memory of the library with its ArrayBuffer.
  struct Registered {
    cn_memory* handle;
    Bytes bytes;
    std::shared_ptr<Allocation> allocation;
    Napi::Reference<Napi::ArrayBuffer> buffer;
  };
  struct MessageRelease {
    void operator()(cn_message* message) const { cn_message_release(message); }
  };
  using MessagePointer = std::unique_ptr<cn_message, MessageRelease>;
  // The handle of libuv, which is freed by its loop, possibly after the endpoint.
  struct Poll {
    uv_poll_t handle;
    Endpoint* endpoint;
    napi_async_cleanup_hook_handle hook;
  };
  using Info = const Napi::CallbackInfo&;

  // -- functions for JavaScript
  Napi::Value name(Info info);
  Napi::Value address(Info info);
  Napi::Value connect(Info info);          // (address, timeout) -> operation
  Napi::Value join(Info info);             // (rank, size, meeting, timeout) -> operation
  Napi::Value send(Info info);             // (peer, timeout, queue, bytes, handler, channel, copy) -> operation
  Napi::Value read(Info info);             // (peer, timeout, queue, bytes, token, offset) -> operation
  Napi::Value write(Info info);            // (peer, timeout, queue, bytes, token, offset) -> operation
  Napi::Value mark(Info info);             // (queue, timeout) -> operation
  void cancel(Info info);                  // (operation)
  Napi::Value find_peer(Info info);        // (name) -> peer, or -1
  Napi::Value peer_name(Info info);        // (peer)
  Napi::Value transport(Info info);        // (peer)
  Napi::Value is_connected(Info info);     // (peer)
  void disconnect(Info info);              // (peer)
  void set_handler(Info info);             // (number, whether there is one)
  Napi::Value register_memory(Info info);  // (bytes, rights) -> memory
  Napi::Value allocate_memory(Info info);  // (size, rights) -> [memory, ArrayBuffer]
  Napi::Value token(Info info);            // (memory, rights) -> Buffer
  void release_memory(Info info);          // (memory, detach)
  Napi::Value create_queue(Info info);     // () -> queue
  void release_queue(Info info);           // (queue)
  void release_message(Info info);         // (message)
  void set_ref(Info info);                 // (whether the endpoint keeps the process alive)
  Napi::Value close(Info info);            // () -> [[operation, status, text], ...], those that had not ended

  // -- arguments
  cn_endpoint* open() const;
  cn_peer* peer_at(const Napi::Value& index) const;
  cn_queue* queue_at(const Napi::Value& number) const;
  const Registered& memory_at(const Napi::Value& number) const;
  int32_t index_of(cn_peer* peer);
  // Takes the bytes of memory of the library from its ArrayBuffer by detach(ArrayBuffer), and frees them.
  void take_back(const Registered& memory, const Napi::Function& detach) const;

  // Begins an operation by start(call, &handle), and returns its number.
  template <class Start>
  Napi::Value begin(const Napi::Value& timeout, cn_queue* queue, uint32_t flags, Bytes bytes, Start&& start);
  template <class Function>
  Napi::Value begin_access(Info info, Function function);

  // -- events
  uv_loop_t* loop() const;
  void start_poll();
  void take_events();
  // Calls JavaScript; returns whether that is still possible. Sets *result to what the function returns.
  bool call(const Napi::FunctionReference& function, const std::vector<napi_value>& arguments,
            napi_value* result = nullptr);
  bool handle(const cn_event& event);
  bool handle_end(const cn_event& event);
  bool handle_message(const cn_event& event);
  bool handle_peer(const cn_event& event);
  void handle_joined(uint64_t number, const Joining::Result& result);

  // Closes the endpoint of the library, and stops the events. Calls nothing of JavaScript. Returns what could not be
  // sent, or an empty text.
  std::string shut();

  cn_endpoint* endpoint_ = nullptr;
  std::string name_, address_;
  std::unique_ptr<Napi::AsyncContext> context_;
  Napi::FunctionReference done_, message_, peer_;
  Poll* poll_ = nullptr;

  uint64_t last_number_ = 0;  // of operations, memories, queues and messages
  std::unordered_map<uint64_t, Pending> pending_;
  std::unordered_map<uint64_t, std::unique_ptr<Joining>> joinings_;
  std::unordered_map<uint64_t, Registered> memories_;
  std::unordered_map<uint64_t, cn_queue*> queues_;
  std::unordered_map<uint64_t, MessagePointer> messages_;  // whose handlers have returned promises
  std::vector<cn_peer*> peers_;
  std::unordered_map<cn_peer*, int32_t> indices_;
};

}  // namespace commnet::node
