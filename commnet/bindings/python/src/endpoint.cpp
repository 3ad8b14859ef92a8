#include "endpoint.h"

#include <utility>

#include "errors.h"

namespace py = pybind11;

namespace commnet_python {

namespace {

// Sends up to this size are copied, and need no event at their end.
constexpr size_t kCopied = 16 << 10;
// Calls with more bytes release the GIL.
constexpr size_t kLong = 64 << 10;

cn_peer* peer_at(uintptr_t address) { return reinterpret_cast<cn_peer*>(address); }

// For how long a wait does not look for signals, such as that of Ctrl+C.
constexpr std::chrono::milliseconds kPatience{100};

struct Taking {
  explicit Taking(bool& flag) : flag(flag) { flag = true; }
  ~Taking() { flag = false; }
  bool& flag;
};

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

// ------------------------------------------------------------------------------------------------ messages

Message::~Message() {
  // A thread of the parent may hold a lock forever in this process.
  if (!endpoint_->is_abandoned()) cn_message_release(handle_);
}

// ------------------------------------------------------------------------------------------------ life

std::shared_ptr<Endpoint> Endpoint::create(const Options& options) {
  cn_endpoint_options given{};
  given.struct_size = sizeof given;
  const auto text_or_null = [](const std::optional<std::string>& text) { return text ? text->c_str() : nullptr; };
  given.name = text_or_null(options.name);
  given.secret = text_or_null(options.secret);
  given.secret_size = options.secret ? options.secret->size() : 0;
  given.transports = text_or_null(options.transports);
  given.listen = text_or_null(options.listen);
  given.busy_poll_us = options.busy_poll_us;
  given.peer_timeout_ms = options.peer_timeout_ms;
  given.streams = options.streams;
  given.receive_window = options.receive_window;
  given.send_limit = options.send_limit;
  given.message_limit = options.message_limit;
  given.linger_ms = options.linger_ms;
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

std::pair<std::vector<py::object>, std::string> Endpoint::close() {
  if (std::exchange(is_closed_, true) || handle_ == nullptr) return {};
  std::string unsent;
  wake();
  auto joinings = std::exchange(joinings_, {});
  {
    const py::gil_scoped_release released;
    const std::unique_lock lock(calls_);
    cn_queue_release(wakes_);
    for (const auto& each : joinings) each->has_begun();
    if (cn_endpoint_close(handle_) != CN_OK) unsent = cn_error();
    while (!joinings.empty()) joinings.pop_back();  // which waits for its thread
  }
  std::vector<py::object> callbacks;
  for (auto& [address, operation] : std::exchange(pending_, {}))
    for (py::object& callback : operation->settle()) callbacks.push_back(std::move(callback));
  return {std::move(callbacks), std::move(unsent)};
}

void Endpoint::abandon() {
  is_closed_ = is_abandoned_ = true;
  // This process does not have their threads, for which their ends would wait.
  new auto(std::exchange(joinings_, {}));
}

std::string Endpoint::name() {
  const Use use(*this);
  return cn_endpoint_name(handle_);
}

std::string Endpoint::address() {
  const Use use(*this);
  return cn_endpoint_address(handle_);
}

std::vector<uintptr_t> Endpoint::join(uint32_t rank, uint32_t size, const std::string& meeting, uint32_t timeout_ms) {
  cn_job_options options{};
  options.struct_size = sizeof options;
  options.rank = rank;
  options.size = size;
  options.timeout_ms = timeout_ms;
  std::shared_ptr<Joining> joining;
  {
    const Use use(*this);
    joining = std::make_shared<Joining>(handle_, options, meeting);
    joinings_.push_back(joining);
  }
  const auto wait = [&] {
    const py::gil_scoped_release released;
    return joining->wait(kPatience);
  };
  while (!wait()) {
    if (is_abandoned_) raise(CN_CLOSED, "the endpoint belongs to the parent of this process");
    // The meeting then goes on until the endpoint is closed.
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  std::erase(joinings_, joining);
  if (joining->status() != CN_OK) raise(joining->status(), joining->text());
  std::vector<uintptr_t> peers;
  for (cn_peer* const peer : joining->peers()) peers.push_back(reinterpret_cast<uintptr_t>(peer));
  return peers;
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
  call.timeout_ms = given.timeout_ms;
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
  return begin(new_operation(true), call, CN_EVENT, 0, [&](const cn_call& with, cn_operation** result) {
    return cn_connect(handle_, address.c_str(), &with, result);
  });
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

std::shared_ptr<Operation> Endpoint::read(uintptr_t peer, const cn_token& token, py::handle into, uint64_t offset,
                                          const Call& call) {
  const auto operation = new_operation(true);
  Buffer& buffer = operation->buffer();
  buffer.take(into, Buffer::Access::kWrite, "into");
  return begin(operation, call, CN_EVENT, buffer.size(), [&](const cn_call& with, cn_operation** result) {
    return cn_read(peer_at(peer), &token, offset, buffer.data(), buffer.size(), &with, result);
  });
}

std::shared_ptr<Operation> Endpoint::write(uintptr_t peer, const cn_token& token, py::handle data, uint64_t offset,
                                           const Call& call) {
  const auto operation = new_operation(true);
  Buffer& buffer = operation->buffer();
  buffer.take(data, Buffer::Access::kRead, "data");
  return begin(operation, call, CN_EVENT, buffer.size(), [&](const cn_call& with, cn_operation** result) {
    return cn_write(peer_at(peer), &token, offset, buffer.data(), buffer.size(), &with, result);
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

void Endpoint::register_memory(Memory& memory, py::handle object, uint32_t rights) {
  Buffer& buffer = memory.buffer();
  buffer.take(object, rights & CN_WRITE ? Buffer::Access::kWrite : Buffer::Access::kRead, "buffer");
  try {
    const Use use(*this);
    cn_memory* handle = nullptr;
    check(cn_memory_register(handle_, buffer.data(), buffer.size(), rights, &handle));
    memory.fill(shared_from_this(), handle, buffer.data(), buffer.size(), buffer.is_writable());
  } catch (...) {
    buffer.release();  // the traceback of the error keeps the memory
    throw;
  }
}

void Endpoint::allocate_memory(Memory& memory, uint64_t size, uint32_t rights) {
  const Use use(*this);
  cn_memory* handle = nullptr;
  void* data = nullptr;
  cn_status status;
  {
    // The system makes all its pages.
    const py::gil_scoped_release released;
    status = cn_memory_alloc(handle_, size, rights, &data, &handle);
  }
  check(status);
  memory.fill(shared_from_this(), handle, data, size, true);
}

// ------------------------------------------------------------------------------------------------ peers

uintptr_t Endpoint::find_peer(const std::string& name) {
  const Use use(*this);
  return reinterpret_cast<uintptr_t>(cn_find_peer(handle_, name.c_str()));
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
  if (is_taking_) return events;
  const Taking taking(is_taking_);
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
        events.append(py::make_tuple(2, std::make_shared<Message>(shared_from_this(), message),
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
  return events;
}

}  // namespace commnet_python
