/// The C++ interface of commnet: handles that can be moved and close themselves, exceptions, futures and functions.
/// commnet.h says what the functions do, which thread calls back, and what must live how long.
#ifndef COMMNET_COMMNET_HPP_
#define COMMNET_COMMNET_HPP_

#include <commnet/commnet.h>

#include <chrono>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

// The inline namespace keeps these classes apart from those of the library, where both are linked into one program.
namespace commnet {
inline namespace api {

/// What functions throw: a status with its text.
class Failure : public std::runtime_error {
 public:
  Failure(cn_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  cn_status status() const noexcept { return status_; }

 private:
  cn_status status_;
};

/// Throws Failure unless a call has succeeded.
inline void check(cn_status status) {
  if (status != CN_OK) throw Failure(status, cn_error());
}

using Token = cn_token;
/// How an operation has ended: a status, and a text unless it is CN_OK.
using Done = std::function<void(cn_status status, const char* error)>;

/// Calls begin(call) with a call that reports to `done`.
template <class Begin>
void begin_with(Done done, cn_call call, Begin&& begin) {
  auto owned = std::make_unique<Done>(std::move(done));
  call.struct_size = sizeof call;
  call.user = owned.get();
  call.done = [](void* user, cn_status status, const char* error) {
    const std::unique_ptr<Done> function(static_cast<Done*>(user));
    (*function)(status, error);
  };
  check(begin(&call));
  owned.release();  // the library calls it once
}

/// Returns a future of an operation. Its get() must not be called from a callback.
template <class Begin>
std::future<void> begin_future(cn_call call, Begin&& begin) {
  auto promise = std::make_shared<std::promise<void>>();
  std::future<void> future = promise->get_future();
  begin_with(
      [promise](cn_status status, const char* error) {
        if (status == CN_OK)
          promise->set_value();
        else
          promise->set_exception(std::make_exception_ptr(Failure(status, error)));
      },
      call, begin);
  return future;
}

/// Operations that complete in the order in which they began.
class Queue {
 public:
  explicit Queue(cn_endpoint* endpoint) {
    cn_queue* queue = nullptr;
    check(cn_queue_create(endpoint, &queue));
    handle_.reset(queue);
  }

  cn_queue* get() const { return handle_.get(); }
  /// Returns a future that is ready once all operations that are in the queue now have completed.
  std::future<void> mark() {
    return begin_future({}, [&](const cn_call* call) { return cn_queue_mark(get(), call, nullptr); });
  }

 private:
  struct Release {
    void operator()(cn_queue* queue) const { cn_queue_release(queue); }
  };
  std::unique_ptr<cn_queue, Release> handle_;
};

/// A message; it can be moved out of its handler, and is released with the object.
class Message {
 public:
  explicit Message(cn_message* message) : handle_(message) {}

  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(cn_message_data(handle_.get())), cn_message_size(handle_.get())};
  }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes().data()), bytes().size()}; }
  cn_peer* peer() const { return cn_message_peer(handle_.get()); }
  uint32_t handler() const { return cn_message_handler(handle_.get()); }
  uint32_t channel() const { return cn_message_channel(handle_.get()); }

 private:
  struct Release {
    void operator()(cn_message* message) const { cn_message_release(message); }
  };
  std::unique_ptr<cn_message, Release> handle_;
};

/// Memory that peers may access for as long as the object lives.
class Memory {
 public:
  Memory(cn_endpoint* endpoint, void* data, size_t size, uint32_t rights) {
    cn_memory* memory = nullptr;
    check(cn_memory_register(endpoint, data, size, rights, &memory));
    handle_.reset(memory);
    bytes_ = {static_cast<std::byte*>(data), size};
  }
  /// Allocates the memory, which the object then owns.
  Memory(cn_endpoint* endpoint, size_t size, uint32_t rights) {
    cn_memory* memory = nullptr;
    void* data = nullptr;
    check(cn_memory_alloc(endpoint, size, rights, &data, &memory));
    handle_.reset(memory);
    bytes_ = {static_cast<std::byte*>(data), size};
  }

  std::span<std::byte> bytes() const { return bytes_; }

  /// Returns a token that allows `rights`, a part of those of the memory.
  Token token(uint32_t rights) const {
    Token token;
    check(cn_memory_token(handle_.get(), rights, &token));
    return token;
  }

 private:
  struct Release {
    void operator()(cn_memory* memory) const { cn_memory_release(memory); }
  };
  std::unique_ptr<cn_memory, Release> handle_;
  std::span<std::byte> bytes_;
};

/// A peer. It belongs to its endpoint, and may be copied.
class Peer {
 public:
  Peer() = default;
  explicit Peer(cn_peer* peer) : peer_(peer) {}

  cn_peer* get() const { return peer_; }
  std::string name() const { return cn_peer_name(peer_); }
  std::string transport() const { return cn_peer_transport(peer_); }
  bool is_connected() const { return cn_peer_is_connected(peer_); }
  void disconnect() const { check(cn_disconnect(peer_)); }

  /// Sends bytes, which must live until the future is ready; call.flags may have CN_COPY.
  std::future<void> send(uint32_t handler, std::span<const std::byte> bytes, uint32_t channel = 0,
                         cn_call call = {}) const {
    return begin_future(call, [&](const cn_call* given) {
      return cn_send(peer_, handler, channel, bytes.data(), bytes.size(), given, nullptr);
    });
  }
  /// Sends a copy of a text, and forgets it.
  void send_copy(uint32_t handler, std::string_view text, uint32_t channel = 0) const {
    cn_call call{};
    call.struct_size = sizeof call;
    call.flags = CN_COPY;
    check(cn_send(peer_, handler, channel, text.data(), text.size(), &call, nullptr));
  }
  /// Reads into `to`, which must live until the future is ready.
  std::future<void> read(const Token& token, uint64_t offset, std::span<std::byte> to, cn_call call = {}) const {
    return begin_future(call, [&](const cn_call* given) {
      return cn_read(peer_, &token, offset, to.data(), to.size(), given, nullptr);
    });
  }
  std::future<void> write(const Token& token, uint64_t offset, std::span<const std::byte> from,
                          cn_call call = {}) const {
    return begin_future(call, [&](const cn_call* given) {
      return cn_write(peer_, &token, offset, from.data(), from.size(), given, nullptr);
    });
  }
  /// Does so, and calls `done` on the progress thread at the end.
  void read(const Token& token, uint64_t offset, std::span<std::byte> to, Done done, cn_call call = {}) const {
    begin_with(std::move(done), call, [&](const cn_call* given) {
      return cn_read(peer_, &token, offset, to.data(), to.size(), given, nullptr);
    });
  }

 private:
  cn_peer* peer_ = nullptr;
};

/// What an endpoint is made of; empty and zero mean the defaults of cn_endpoint_options.
struct EndpointOptions {
  std::string name{}, secret{}, transports{}, listen{};
  bool is_manual = false;  // CN_MANUAL_PROGRESS
  std::chrono::microseconds busy_poll{0};
  std::chrono::milliseconds peer_timeout{0};
  uint32_t streams = 0;
  uint64_t receive_window = 0, send_limit = 0, message_limit = 0;
  std::chrono::milliseconds linger{0};
};

/// This process, as its peers see it. It is closed with the object.
class Endpoint {
 public:
  using Handler = std::function<void(Message message)>;

  explicit Endpoint(const EndpointOptions& given = {}) {
    const auto text = [](const std::string& value) { return value.empty() ? nullptr : value.c_str(); };
    cn_endpoint_options options{};
    options.struct_size = sizeof options;
    options.name = text(given.name);
    options.secret = given.secret.data();
    options.secret_size = given.secret.size();
    options.transports = text(given.transports);
    options.listen = text(given.listen);
    options.flags = given.is_manual ? uint32_t{CN_MANUAL_PROGRESS} : 0;
    options.busy_poll_us = static_cast<uint32_t>(given.busy_poll.count());
    options.peer_timeout_ms = static_cast<uint32_t>(given.peer_timeout.count());
    options.streams = given.streams;
    options.receive_window = given.receive_window;
    options.send_limit = given.send_limit;
    options.message_limit = given.message_limit;
    options.linger_ms = static_cast<uint32_t>(given.linger.count());
    cn_endpoint* endpoint = nullptr;
    check(cn_endpoint_create(&options, &endpoint));
    handle_.reset(endpoint);
  }

  cn_endpoint* get() const { return handle_.get(); }
  /// Closes it before the object is destroyed. Throws Failure if messages could not be sent.
  void close() {
    if (handle_) check(cn_endpoint_close(handle_.release()));
  }
  std::string name() const { return cn_endpoint_name(get()); }
  std::string address() const { return cn_endpoint_address(get()); }

  /// Connects, and waits for it.
  Peer connect(const std::string& address, std::chrono::milliseconds timeout = std::chrono::seconds(10)) {
    cn_call call{};
    call.struct_size = sizeof call;
    call.timeout_ms = static_cast<uint32_t>(timeout.count());
    cn_operation* operation = nullptr;
    check(cn_connect(get(), address.c_str(), &call, &operation));
    const std::unique_ptr<cn_operation, void (*)(cn_operation*)> owned(operation, cn_operation_release);
    check(cn_wait(operation, -1));
    return Peer(cn_operation_peer(operation));
  }
  /// Returns the connected peer of a name.
  std::optional<Peer> find(const std::string& name) const {
    cn_peer* const peer = cn_find_peer(get(), name.c_str());
    return peer ? std::optional(Peer(peer)) : std::nullopt;
  }
  /// Sets the handler of a number. If it throws, the peer of the message is disconnected.
  void on_message(uint32_t number, Handler handler) {
    Handler& kept = handlers_.emplace_back(std::move(handler));
    check(cn_set_handler(
        get(), number,
        [](void* user, cn_message* message) {
          cn_message_keep(message);
          (*static_cast<Handler*>(user))(Message(message));
        },
        &kept));
  }
  Memory share(std::span<std::byte> bytes, uint32_t rights) {
    return Memory(get(), bytes.data(), bytes.size(), rights);
  }
  /// Allocates memory that peers may access, see cn_memory_alloc().
  Memory allocate(size_t size, uint32_t rights) { return Memory(get(), size, rights); }
  Queue queue() { return Queue(get()); }
  /// Works, for endpoints with is_manual; see cn_progress().
  void progress(std::chrono::milliseconds timeout = {}) { check(cn_progress(get(), timeout.count())); }

 private:
  struct Close {
    void operator()(cn_endpoint* endpoint) const { cn_endpoint_close(endpoint); }
  };
  // Handlers outlive the endpoint, which may still be calling one that was replaced.
  std::list<Handler> handlers_;
  std::unique_ptr<cn_endpoint, Close> handle_;
};

}  // namespace api
}  // namespace commnet

#endif  // COMMNET_COMMNET_HPP_
