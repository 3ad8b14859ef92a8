#include "endpoint.h"

#include <cmath>
#include <cstring>

#include "errors.h"

namespace py = pybind11;

namespace commnet_python {

namespace {

// Sends up to this size are copied, and need no event at their end.
constexpr size_t kCopied = 16 << 10;
// Calls with more bytes release the GIL.
constexpr size_t kLong = 64 << 10;

cn_peer* peer_at(uintptr_t address) { return reinterpret_cast<cn_peer*>(address); }

// Returns a time in units of a second / `scale`, rounded up.
uint32_t units_of(double seconds, double scale, const char* name) {
  const double units = std::ceil(seconds * scale);
  if (!(units >= 0) || units > UINT32_MAX)
    raise(CN_INVALID_ARGUMENT, std::string(name) + " must be at least 0 and at most " +
                                   std::to_string(static_cast<uint64_t>(UINT32_MAX / scale)) + " seconds, got " +
                                   std::to_string(seconds));
  return static_cast<uint32_t>(units);
}

const char* text_of(const std::string& text, const char* name) {
  if (text.find('\0') != std::string::npos)
    raise(CN_INVALID_ARGUMENT, std::string(name) + " must not contain a zero byte");
  return text.c_str();
}

const char* optional_text_of(const std::optional<std::string>& text, const char* name) {
  return text ? text_of(*text, name) : nullptr;
}

cn_token token_of(py::handle object) {
  Buffer bytes;
  bytes.take(object, Buffer::Access::kRead, "token");
  if (bytes.size() != CN_TOKEN_SIZE)
    raise(CN_INVALID_ARGUMENT,
          "token must have " + std::to_string(CN_TOKEN_SIZE) + " bytes, got " + std::to_string(bytes.size()));
  cn_token token;
  std::memcpy(token.bytes, bytes.data(), sizeof token.bytes);
  return token;
}

}  // namespace

// Keeps the endpoint open during a call.
class Endpoint::Use {
 public:
  explicit Use(Endpoint& endpoint) {
    if (endpoint.is_abandoned_) raise(CN_CLOSED, "the endpoint belongs to the parent of this process");
    if (endpoint.is_closed_) raise(CN_CLOSED, "the endpoint is closed");
    lock_ = std::shared_lock(endpoint.calls_);
  }

 private:
  std::shared_lock<std::shared_mutex> lock_;
};

// ------------------------------------------------------------------------------------------------ memory

void Memory::release() {
  cn_memory* const handle = std::exchange(handle_, nullptr);
  if (handle == nullptr) return;
  // The parent's thread may hold a lock forever in this process.
  if (!endpoint_->is_abandoned()) {
    const py::gil_scoped_release released;
    cn_memory_release(handle);
  }
  buffer_.release();
}

py::bytes Memory::token(uint32_t rights) const {
  if (is_released()) raise(CN_CLOSED, "the memory was released");
  cn_token token;
  check(cn_memory_token(handle_, rights, &token));
  return {reinterpret_cast<const char*>(token.bytes), sizeof token.bytes};
}

// ------------------------------------------------------------------------------------------------ life

std::shared_ptr<Endpoint> Endpoint::create(const Options& options) {
  cn_endpoint_options given{};
  given.struct_size = sizeof given;
  given.name = optional_text_of(options.name, "name");
  given.secret = options.secret ? options.secret->data() : nullptr;
  given.secret_size = options.secret ? options.secret->size() : 0;
  given.transports = optional_text_of(options.transports, "transports");
  given.listen = optional_text_of(options.listen, "listen");
  given.busy_poll_us = units_of(options.busy_poll, 1e6, "busy_poll");
  given.peer_timeout_ms = units_of(options.peer_timeout, 1e3, "peer_timeout");
  given.streams = options.streams;
  given.receive_window = options.receive_window;
  given.send_limit = options.send_limit;
  given.message_limit = options.message_limit;
  const auto endpoint = std::make_shared<Endpoint>();
  cn_status status;
  {
    const py::gil_scoped_release released;
    status = cn_endpoint_create(&given, &endpoint->handle_);
    if (status == CN_OK) status = cn_queue_create(endpoint->handle_, &endpoint->wakes_);
  }
  check(status);
  return endpoint;
}

Endpoint::~Endpoint() { close(); }

void Endpoint::wake() {
  cn_call call{};
  call.struct_size = sizeof call;
  call.flags = CN_EVENT;
  cn_queue_mark(wakes_, &call, nullptr);
}

std::vector<py::object> Endpoint::close() {
  if (std::exchange(is_closed_, true) || handle_ == nullptr) return {};
  wake();
  {
    const py::gil_scoped_release released;
    const std::unique_lock lock(calls_);
    cn_queue_release(wakes_);
    cn_endpoint_close(handle_);
  }
  std::vector<py::object> callbacks;
  for (auto& [address, operation] : std::exchange(pending_, {}))
    for (py::object& callback : operation->settle()) callbacks.push_back(std::move(callback));
  return callbacks;
}

std::string Endpoint::name() {
  const Use use(*this);
  return cn_endpoint_name(handle_);
}

std::string Endpoint::address() {
  const Use use(*this);
  return cn_endpoint_address(handle_);
}

// ------------------------------------------------------------------------------------------------ operations

template <class Begin>
std::shared_ptr<Operation> Endpoint::begin(const std::shared_ptr<Operation>& operation, const Call& given,
                                           uint32_t flags, size_t size, Begin&& begin) {
  cn_call call{};
  call.struct_size = sizeof call;
  call.flags = flags;
  call.user = operation.get();
  call.queue = given.queue ? given.queue->handle() : nullptr;
  if (given.timeout) call.timeout_ms = std::max(units_of(*given.timeout, 1e3, "timeout"), 1u);
  const Use use(*this);
  // Its event may be taken before the call returns.
  if (flags & CN_EVENT) pending_.emplace(operation.get(), operation);
  cn_status status;
  if (size > kLong) {
    const py::gil_scoped_release released;
    status = begin(call, operation->handle());
  } else {
    status = begin(call, operation->handle());
  }
  if (status != CN_OK) {
    pending_.erase(operation.get());
    check(status);
  }
  return operation;
}

std::shared_ptr<Operation> Endpoint::connect(const std::string& address, const Call& call) {
  const char* const text = text_of(address, "address");
  return begin(new_operation(true), call, CN_EVENT, 0,
               [&](const cn_call& with, cn_operation** result) { return cn_connect(handle_, text, &with, result); });
}

std::shared_ptr<Operation> Endpoint::send(uintptr_t peer, py::handle data, uint32_t handler, uint32_t channel,
                                          const Call& call) {
  Buffer buffer;
  buffer.take(data, Buffer::Access::kRead, "data");
  const bool is_copied = buffer.size() <= kCopied && !call.queue;
  const auto operation = new_operation(!is_copied);
  if (!is_copied) operation->buffer().take(data, Buffer::Access::kRead, "data");
  return begin(operation, call, is_copied ? CN_COPY : CN_EVENT, buffer.size(),
               [&](const cn_call& with, cn_operation** result) {
                 return cn_send(peer_at(peer), handler, channel, buffer.data(), buffer.size(), &with, result);
               });
}

std::shared_ptr<Operation> Endpoint::read(uintptr_t peer, py::handle token, py::handle into, uint64_t offset,
                                          const Call& call) {
  const cn_token bytes = token_of(token);
  const auto operation = new_operation(true);
  Buffer& buffer = operation->buffer();
  buffer.take(into, Buffer::Access::kWrite, "into");
  return begin(operation, call, CN_EVENT, buffer.size(), [&](const cn_call& with, cn_operation** result) {
    return cn_read(peer_at(peer), &bytes, offset, buffer.data(), buffer.size(), &with, result);
  });
}

std::shared_ptr<Operation> Endpoint::write(uintptr_t peer, py::handle token, py::handle data, uint64_t offset,
                                           const Call& call) {
  const cn_token bytes = token_of(token);
  const auto operation = new_operation(true);
  Buffer& buffer = operation->buffer();
  buffer.take(data, Buffer::Access::kRead, "data");
  return begin(operation, call, CN_EVENT, buffer.size(), [&](const cn_call& with, cn_operation** result) {
    return cn_write(peer_at(peer), &bytes, offset, buffer.data(), buffer.size(), &with, result);
  });
}

std::shared_ptr<Queue> Endpoint::queue() {
  const Use use(*this);
  cn_queue* handle = nullptr;
  check(cn_queue_create(handle_, &handle));
  return std::make_shared<Queue>(handle);
}

std::shared_ptr<Operation> Endpoint::mark(const std::shared_ptr<Queue>& queue, const Call& call) {
  return begin(new_operation(true), call, CN_EVENT, 0, [&](const cn_call& with, cn_operation** result) {
    return cn_queue_mark(queue->handle(), &with, result);
  });
}

std::shared_ptr<Memory> Endpoint::register_memory(py::handle buffer, uint32_t rights) {
  const auto memory = std::make_shared<Memory>();
  memory->endpoint_ = shared_from_this();
  memory->buffer_.take(buffer, rights & CN_WRITE ? Buffer::Access::kWrite : Buffer::Access::kRead, "buffer");
  const Use use(*this);
  check(cn_memory_register(handle_, memory->buffer_.data(), memory->buffer_.size(), rights, &memory->handle_));
  return memory;
}

// ------------------------------------------------------------------------------------------------ peers

uintptr_t Endpoint::find_peer(const std::string& name) {
  const Use use(*this);
  return reinterpret_cast<uintptr_t>(cn_find_peer(handle_, text_of(name, "name")));
}

std::string Endpoint::peer_name(uintptr_t peer) {
  const Use use(*this);
  return cn_peer_name(peer_at(peer));
}

std::string Endpoint::peer_transport(uintptr_t peer) {
  const Use use(*this);
  return cn_peer_transport(peer_at(peer));
}

bool Endpoint::peer_is_connected(uintptr_t peer) {
  if (is_closed_) return false;
  const Use use(*this);
  return cn_peer_is_connected(peer_at(peer));
}

void Endpoint::disconnect(uintptr_t peer) {
  const Use use(*this);
  check(cn_disconnect(peer_at(peer)));
}

// ------------------------------------------------------------------------------------------------ events

void Endpoint::set_handler(uint32_t number, bool is_set) {
  const Use use(*this);
  check(is_set ? cn_set_event_handler(handle_, number, nullptr) : cn_set_handler(handle_, number, nullptr, nullptr));
}

void Endpoint::watch_peers(bool watch) {
  const Use use(*this);
  check(cn_watch_peers(handle_, watch));
}

int Endpoint::descriptor() {
  const Use use(*this);
  return cn_event_descriptor(handle_);
}

py::list Endpoint::next_events(int64_t timeout_ms, size_t limit) {
  py::list events;
  const Use use(*this);
  // The text of an event is valid until the next one is taken.
  if (std::exchange(is_taking_, true)) return events;
  const auto take = [&](cn_event& event, int64_t timeout) {
    if (timeout == 0) return cn_next_event(handle_, &event, 0);
    const py::gil_scoped_release released;
    return cn_next_event(handle_, &event, timeout);
  };
  for (size_t taken = 0; taken < limit; ++taken) {
    cn_event event{};
    event.struct_size = sizeof event;
    const cn_status status = take(event, taken == 0 ? timeout_ms : 0);
    if (status != CN_OK) break;
    const auto peer = reinterpret_cast<uintptr_t>(event.peer);
    switch (event.kind) {
      case CN_EVENT_DONE:
        if (const auto found = pending_.extract(event.user))
          for (py::object& callback : found.mapped()->settle()) events.append(py::make_tuple(1, std::move(callback)));
        break;
      case CN_EVENT_MESSAGE: {
        cn_message* const message = event.message;
        events.append(py::make_tuple(2, std::make_shared<Message>(message),
                                     reinterpret_cast<uintptr_t>(cn_message_peer(message)), cn_message_handler(message),
                                     cn_message_channel(message)));
        break;
      }
      case CN_EVENT_JOINED:
        events.append(py::make_tuple(3, peer));
        break;
      case CN_EVENT_LEFT:
        events.append(py::make_tuple(4, peer, static_cast<int>(event.status), event.error ? event.error : ""));
        break;
    }
  }
  is_taking_ = false;
  return events;
}

}  // namespace commnet_python
