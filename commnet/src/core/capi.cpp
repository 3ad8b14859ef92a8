// The C API.
#include <cstdint>
#include <deque>
#include <mutex>
#include <new>

#include "core/endpoint.h"
#include "core/status.h"

namespace {

using commnet::Endpoint;
using commnet::fail;
using commnet::guarded;
using commnet::Operation;
using commnet::OperationPointer;
using commnet::Peer;

template <class Handle>
Handle& checked(Handle* handle, const char* name) {
  if (handle == nullptr) fail(CN_INVALID_ARGUMENT, "%s is NULL", name);
  return *handle;
}

// Returns the endpoint of a handle. Throws Error if it was closed.
std::shared_ptr<Endpoint> endpoint_of(cn_endpoint* handle) {
  std::shared_ptr<Endpoint> endpoint = checked(handle, "endpoint").endpoint.lock();
  if (!endpoint) fail(CN_CLOSED, "the endpoint is closed");
  return endpoint;
}

// Handles of closed endpoints, so that who uses one a little later hears of it.
constexpr size_t kMostClosed = 4096;

void retire(cn_endpoint* handle) {
  static auto& mutex = *new std::mutex;
  static auto& closed = *new std::deque<std::unique_ptr<cn_endpoint>>;
  handle->owner.reset();
  const std::lock_guard lock(mutex);
  closed.emplace_back(handle);
  if (closed.size() > kMostClosed) closed.pop_front();
}

// Returns the endpoint of a peer. Throws Error if it was closed.
std::shared_ptr<Endpoint> endpoint_of(const cn_peer* handle) {
  std::shared_ptr<Endpoint> endpoint = checked(handle, "peer").endpoint.lock();
  if (!endpoint) fail(CN_CLOSED, "the endpoint of the peer '%s' is closed", handle->name.c_str());
  return endpoint;
}

cn_peer* handle_of(const Peer* peer) { return peer ? peer->handle() : nullptr; }

// Begins an operation by start(operation), and gives the caller its handle.
template <class Start>
void begin(const std::shared_ptr<Endpoint>& endpoint, Operation::Kind kind, const cn_call* call, cn_operation** result,
           Start&& start) {
  const auto operation = std::make_shared<Operation>(endpoint, kind, call);
  std::unique_ptr<cn_operation> handle(result ? new cn_operation{operation} : nullptr);
  start(operation);
  if (result) *result = handle.release();
}

// Begins a send, a read or a write of `size` bytes at `data`.
template <class Fill>
void begin_move(cn_peer* to, Operation::Kind kind, const void* data, size_t size, const cn_call* call,
                cn_operation** result, Fill&& fill) {
  const std::shared_ptr<Endpoint> owner = endpoint_of(to);
  Endpoint& endpoint = *owner;
  Peer& peer = *to->peer;
  if (data == nullptr && size > 0) fail(CN_INVALID_ARGUMENT, "the address of the bytes is NULL");
  if (size > PTRDIFF_MAX || reinterpret_cast<uintptr_t>(data) + size < size)
    fail(CN_INVALID_ARGUMENT, "size is larger than any memory");
  begin(owner, kind, call, result, [&](const OperationPointer& operation) {
    operation->peer = &peer;
    operation->data = static_cast<char*>(const_cast<void*>(data));
    operation->size = size;
    fill(*operation);
    kind == Operation::Kind::kSend ? endpoint.send(peer, operation) : endpoint.request(peer, operation);
  });
}

// Returns whether nobody hears of the end of a call.
bool is_plain(const cn_call* call) {
  return call == nullptr ||
         (call->struct_size == sizeof *call && call->flags == CN_COPY && !call->done && !call->queue);
}

}  // namespace

extern "C" {

cn_status cn_endpoint_create(const cn_endpoint_options* options, cn_endpoint** result) {
  return guarded([&] { checked(result, "result") = new cn_endpoint{Endpoint::create(options)}; });
}

cn_status cn_endpoint_close(cn_endpoint* endpoint) {
  if (endpoint == nullptr) return CN_OK;
  return guarded([&] {
    const std::shared_ptr<Endpoint> closing = endpoint_of(endpoint);
    std::string unsent;
    if (closing->close(&unsent)) retire(endpoint);
    if (!unsent.empty()) fail(CN_TIMED_OUT, "%s", unsent.c_str());
  });
}

const char* cn_endpoint_name(const cn_endpoint* endpoint) {
  const auto named = endpoint ? endpoint->endpoint.lock() : nullptr;
  return named ? named->settings().name.c_str() : "";
}

const char* cn_endpoint_address(const cn_endpoint* endpoint) {
  const auto named = endpoint ? endpoint->endpoint.lock() : nullptr;
  return named ? named->address().c_str() : "";
}

bool cn_test(const cn_operation* operation, cn_status* status) {
  if (operation == nullptr || !operation->operation->has_ended()) return false;
  if (status) *status = operation->operation->status;
  return true;
}

cn_status cn_wait(cn_operation* operation, int64_t timeout_ms) {
  cn_status status = CN_OK;
  const cn_status failure = guarded([&] {
    Operation& waited = *checked(operation, "operation").operation;
    status = waited.endpoint->wait(waited, timeout_ms);
  });
  return failure == CN_OK ? status : failure;
}

void cn_cancel(cn_operation* operation) {
  if (operation) guarded([&] { operation->operation->endpoint->cancel(operation->operation); });
}

void cn_operation_release(cn_operation* operation) { delete operation; }

cn_status cn_queue_create(cn_endpoint* endpoint, cn_queue** result) {
  return guarded(
      [&] { checked(result, "result") = new cn_queue{std::make_shared<commnet::Queue>(endpoint_of(endpoint))}; });
}

cn_status cn_queue_mark(cn_queue* queue, const cn_call* call, cn_operation** operation) {
  return guarded([&] {
    const auto& marked = checked(queue, "queue").queue;
    begin(marked->endpoint(), Operation::Kind::kMark, call, operation, [&](const OperationPointer& mark) {
      mark->queue = marked;
      marked->endpoint()->mark(mark);
    });
  });
}

void cn_queue_release(cn_queue* queue) { delete queue; }

cn_status cn_connect(cn_endpoint* endpoint, const char* address, const cn_call* call, cn_operation** operation) {
  return guarded([&] {
    const auto from = endpoint_of(endpoint);
    checked(address, "address");
    begin(from, Operation::Kind::kConnect, call, operation,
          [&](const OperationPointer& connecting) { from->connect(address, connecting); });
  });
}

cn_peer* cn_operation_peer(const cn_operation* operation) {
  cn_status status = CN_CANCELLED;
  if (!cn_test(operation, &status) || status != CN_OK) return nullptr;
  return handle_of(operation->operation->peer);
}

cn_peer* cn_find_peer(cn_endpoint* endpoint, const char* name) {
  Peer* found = nullptr;
  guarded([&] { found = endpoint_of(endpoint)->find_peer(&checked(name, "name")); });
  return handle_of(found);
}

const char* cn_peer_name(const cn_peer* peer) { return peer ? peer->name.c_str() : ""; }
const char* cn_peer_transport(const cn_peer* peer) {
  const auto endpoint = peer ? peer->endpoint.lock() : nullptr;
  return endpoint ? endpoint->transport_of(*peer->peer) : "";
}
bool cn_peer_is_connected(const cn_peer* peer) {
  const auto endpoint = peer ? peer->endpoint.lock() : nullptr;
  return endpoint && endpoint->is_connected(*peer->peer);
}

cn_status cn_disconnect(cn_peer* peer) {
  return guarded([&] { endpoint_of(peer)->disconnect(*peer->peer); });
}

cn_status cn_send(cn_peer* peer, uint32_t handler, uint32_t channel, const void* data, size_t size, const cn_call* call,
                  cn_operation** operation) {
  return guarded([&] {
    if (operation == nullptr && is_plain(call) && data != nullptr && size <= PTRDIFF_MAX &&
        endpoint_of(peer)->send_now(*peer->peer, handler, channel, data, size))
      return;
    begin_move(peer, Operation::Kind::kSend, data, size, call, operation, [&](Operation& send) {
      send.handler = handler;
      send.channel = channel;
    });
  });
}

cn_status cn_set_handler(cn_endpoint* endpoint, uint32_t number, cn_handler handler, void* user) {
  return guarded([&] { endpoint_of(endpoint)->set_handler(number, handler, user, false); });
}

cn_status cn_set_event_handler(cn_endpoint* endpoint, uint32_t number, void* user) {
  return guarded([&] { endpoint_of(endpoint)->set_handler(number, nullptr, user, true); });
}

const void* cn_message_data(const cn_message* message) { return message ? message->data() : nullptr; }
size_t cn_message_size(const cn_message* message) { return message ? message->size : 0; }
cn_peer* cn_message_peer(const cn_message* message) { return message ? handle_of(message->peer) : nullptr; }
uint32_t cn_message_handler(const cn_message* message) { return message ? message->handler : 0; }
uint32_t cn_message_channel(const cn_message* message) { return message ? message->channel : 0; }
void cn_message_keep(cn_message* message) {
  if (message && !message->is_kept.exchange(true)) ++message->owners;
}
void cn_message_release(cn_message* message) {
  if (message) guarded([&] { message->endpoint->release(message); });
}

cn_status cn_memory_register(cn_endpoint* endpoint, void* data, size_t size, uint32_t rights, cn_memory** result) {
  return guarded([&] {
    const auto owner = endpoint_of(endpoint);
    cn_memory*& handle = checked(result, "result");
    handle = new cn_memory{owner, owner->register_memory(data, size, rights)};
  });
}

cn_status cn_memory_alloc(cn_endpoint* endpoint, size_t size, uint32_t rights, void** data, cn_memory** result) {
  return guarded([&] {
    const auto owner = endpoint_of(endpoint);
    cn_memory*& handle = checked(result, "result");
    void*& place = checked(data, "data");
    handle = new cn_memory{owner, owner->allocate_memory(size, rights)};
    place = handle->memory->data;
  });
}

cn_status cn_memory_token(const cn_memory* memory, uint32_t rights, cn_token* token) {
  return guarded([&] { checked(token, "token") = commnet::token_of(*checked(memory, "memory").memory, rights); });
}

void cn_memory_release(cn_memory* memory) {
  if (memory == nullptr) return;
  guarded([&] { memory->endpoint->release_memory(memory->memory); });
  delete memory;
}

uint64_t cn_token_size(const cn_token* token) { return token ? commnet::size_of(*token) : 0; }

cn_status cn_read(cn_peer* peer, const cn_token* token, uint64_t offset, void* destination, size_t size,
                  const cn_call* call, cn_operation** operation) {
  return guarded([&] {
    checked(token, "token");
    begin_move(peer, Operation::Kind::kRead, destination, size, call, operation, [&](Operation& read) {
      read.token = *token;
      read.offset = offset;
    });
  });
}

cn_status cn_write(cn_peer* peer, const cn_token* token, uint64_t offset, const void* source, size_t size,
                   const cn_call* call, cn_operation** operation) {
  return guarded([&] {
    checked(token, "token");
    begin_move(peer, Operation::Kind::kWrite, source, size, call, operation, [&](Operation& write) {
      write.token = *token;
      write.offset = offset;
    });
  });
}

cn_status cn_watch_peers(cn_endpoint* endpoint, bool watch) {
  return guarded([&] { endpoint_of(endpoint)->watch_peers(watch); });
}

cn_status cn_next_event(cn_endpoint* endpoint, cn_event* event, int64_t timeout_ms) {
  cn_status status = CN_OK;
  const cn_status failure = guarded([&] {
    const auto keeps = endpoint_of(endpoint);  // if it is closed meanwhile
    status = keeps->next_event(checked(event, "event"), timeout_ms);
  });
  return failure == CN_OK ? status : failure;
}

int cn_event_descriptor(cn_endpoint* endpoint) {
  int descriptor = -1;
  guarded([&] { descriptor = endpoint_of(endpoint)->event_descriptor(); });
  return descriptor;
}

cn_status cn_progress(cn_endpoint* endpoint, int64_t timeout_ms) {
  return guarded([&] {
    const auto keeps = endpoint_of(endpoint);  // if it is closed meanwhile
    keeps->progress(timeout_ms);
  });
}

}  // extern "C"
