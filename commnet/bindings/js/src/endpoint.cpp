#include "endpoint.h"

#include <cstring>
#include <string>
#include <utility>

#include "environment.h"

namespace commnet::node {

namespace {

uint64_t number_of(const Napi::Value& value) { return static_cast<uint64_t>(value.As<Napi::Number>().Int64Value()); }

uint32_t uint32_of(const Napi::Value& value) { return value.As<Napi::Number>().Uint32Value(); }

cn_token token_of(const Napi::Value& value) {
  const Bytes bytes(value);
  cn_token token{};
  std::memcpy(token.bytes, bytes.data(), std::min(bytes.size(), sizeof token.bytes));
  return token;
}

}  // namespace

Napi::Function Endpoint::define(Napi::Env env) {
  return DefineClass(env, "Endpoint",
                     {
                         InstanceMethod<&Endpoint::name>("name"),
                         InstanceMethod<&Endpoint::address>("address"),
                         InstanceMethod<&Endpoint::connect>("connect"),
                         InstanceMethod<&Endpoint::join>("join"),
                         InstanceMethod<&Endpoint::send>("send"),
                         InstanceMethod<&Endpoint::read>("read"),
                         InstanceMethod<&Endpoint::write>("write"),
                         InstanceMethod<&Endpoint::mark>("mark"),
                         InstanceMethod<&Endpoint::cancel>("cancel"),
                         InstanceMethod<&Endpoint::find_peer>("findPeer"),
                         InstanceMethod<&Endpoint::peer_name>("peerName"),
                         InstanceMethod<&Endpoint::transport>("transport"),
                         InstanceMethod<&Endpoint::is_connected>("isConnected"),
                         InstanceMethod<&Endpoint::disconnect>("disconnect"),
                         InstanceMethod<&Endpoint::set_handler>("setHandler"),
                         InstanceMethod<&Endpoint::register_memory>("register"),
                         InstanceMethod<&Endpoint::allocate_memory>("allocate"),
                         InstanceMethod<&Endpoint::token>("token"),
                         InstanceMethod<&Endpoint::release_memory>("releaseMemory"),
                         InstanceMethod<&Endpoint::create_queue>("createQueue"),
                         InstanceMethod<&Endpoint::release_queue>("releaseQueue"),
                         InstanceMethod<&Endpoint::release_message>("releaseMessage"),
                         InstanceMethod<&Endpoint::set_ref>("setRef"),
                         InstanceMethod<&Endpoint::close>("close"),
                     });
}

Endpoint::Endpoint(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Endpoint>(info) {
  const auto given = info[0].As<Napi::Object>();
  const auto text = [&](const char* key) { return given.Get(key).As<Napi::String>().Utf8Value(); };
  const auto integer = [&](const char* key) { return number_of(given.Get(key)); };
  const std::string name = text("name"), transports = text("transports"), listen = text("listen");
  const Bytes secret(given.Get("secret"));
  cn_endpoint_options options{sizeof options};
  options.name = name.empty() ? nullptr : name.c_str();
  options.secret = secret.data();
  options.secret_size = secret.size();
  options.transports = transports.c_str();
  options.listen = listen.c_str();
  options.busy_poll_us = static_cast<uint32_t>(integer("busyPoll"));
  options.peer_timeout_ms = static_cast<uint32_t>(integer("peerTimeout"));
  options.streams = static_cast<uint32_t>(integer("streams"));
  options.receive_window = integer("receiveWindow");
  options.send_limit = integer("sendLimit");
  options.message_limit = integer("messageLimit");
  options.linger_ms = static_cast<uint32_t>(integer("linger"));

  const auto functions = info[1].As<Napi::Object>();
  done_ = Napi::Persistent(functions.Get("done").As<Napi::Function>());
  message_ = Napi::Persistent(functions.Get("message").As<Napi::Function>());
  peer_ = Napi::Persistent(functions.Get("peer").As<Napi::Function>());
  context_ = std::make_unique<Napi::AsyncContext>(Env(), "commnet");

  check(Env(), cn_endpoint_create(&options, &endpoint_));
  name_ = cn_endpoint_name(endpoint_);
  address_ = cn_endpoint_address(endpoint_);
  try {
    check(Env(), cn_watch_peers(endpoint_, true));
    start_poll();
  } catch (...) {
    cn_endpoint_close(std::exchange(endpoint_, nullptr));
    throw;
  }
  Ref();  // until it is closed
}

Endpoint::~Endpoint() {
  shut();
  for (auto& [number, pending] : pending_) cn_operation_release(pending.handle);
}

// ------------------------------------------------------------------------------------------------ arguments

cn_endpoint* Endpoint::open() const {
  if (!endpoint_) throw Environment::of(Env()).make_error(Env(), CN_CLOSED, "the endpoint is closed");
  return endpoint_;
}

cn_peer* Endpoint::peer_at(const Napi::Value& index) const {
  open();
  const uint64_t at = number_of(index);
  return at < peers_.size() ? peers_[at] : nullptr;
}

cn_queue* Endpoint::queue_at(const Napi::Value& number) const {
  open();
  if (number.IsUndefined()) return nullptr;
  const auto found = queues_.find(number_of(number));
  if (found == queues_.end()) throw Environment::of(Env()).make_error(Env(), CN_CLOSED, "the queue was released");
  return found->second;
}

const Endpoint::Registered& Endpoint::memory_at(const Napi::Value& number) const {
  open();
  const auto found = memories_.find(number_of(number));
  if (found == memories_.end()) throw Environment::of(Env()).make_error(Env(), CN_CLOSED, "the memory was released");
  return found->second;
}

int32_t Endpoint::index_of(cn_peer* peer) {
  if (!peer) return -1;
  const auto [found, is_new] = indices_.try_emplace(peer, static_cast<int32_t>(peers_.size()));
  if (is_new) peers_.push_back(peer);
  return found->second;
}

// ------------------------------------------------------------------------------------------------ operations

template <class Start>
Napi::Value Endpoint::begin(const Napi::Value& timeout, cn_queue* queue, uint32_t flags, Bytes bytes, Start&& start) {
  const uint64_t number = ++last_number_;
  cn_call call{sizeof call};
  call.flags = CN_EVENT | flags;
  call.user = reinterpret_cast<void*>(number);
  call.queue = queue;
  call.timeout_ms = uint32_of(timeout);
  cn_operation* handle = nullptr;
  // All that may fail comes first: what has begun has its entry.
  if ((flags & CN_COPY) == 0 && bytes.size() > 0) bytes.pin();
  const auto entry = pending_.emplace(number, Pending{nullptr, std::move(bytes), false}).first;
  if (const cn_status status = start(&call, &handle); status != CN_OK) {
    pending_.erase(entry);
    check(Env(), status);
  }
  entry->second.handle = handle;
  return Napi::Number::New(Env(), static_cast<double>(number));
}

Napi::Value Endpoint::connect(Info info) {
  cn_endpoint* const endpoint = open();
  const std::string address = info[0].As<Napi::String>().Utf8Value();
  const Napi::Value number = begin(info[1], nullptr, 0, {}, [&](const cn_call* call, cn_operation** handle) {
    return cn_connect(endpoint, address.c_str(), call, handle);
  });
  pending_.at(last_number_).is_connection = true;
  return number;
}

Napi::Value Endpoint::join(Info info) {
  cn_endpoint* const endpoint = open();
  cn_job_options options{sizeof options};
  options.rank = uint32_of(info[0]);
  options.size = uint32_of(info[1]);
  options.timeout_ms = uint32_of(info[3]);
  const uint64_t number = ++last_number_;
  try {
    joinings_[number] =
        std::make_unique<Joining>(loop(), endpoint, options, info[2].As<Napi::String>().Utf8Value(),
                                  [this, number](const Joining::Result& result) { handle_joined(number, result); });
  } catch (const std::exception& error) {
    joinings_.erase(number);
    throw Environment::of(Env()).make_error(Env(), CN_SYSTEM_ERROR, error.what());
  }
  return Napi::Number::New(Env(), static_cast<double>(number));
}

Napi::Value Endpoint::send(Info info) {
  cn_peer* const peer = peer_at(info[0]);
  cn_queue* const queue = queue_at(info[2]);
  Bytes bytes(info[3]);
  void* const data = bytes.data();
  const size_t size = bytes.size();
  const uint32_t handler = uint32_of(info[4]), channel = uint32_of(info[5]);
  const uint32_t flags = info[6].ToBoolean() ? CN_COPY : 0;
  return begin(info[1], queue, flags, std::move(bytes), [&](const cn_call* call, cn_operation** handle) {
    return cn_send(peer, handler, channel, data, size, call, handle);
  });
}

template <class Function>
Napi::Value Endpoint::begin_access(Info info, Function function) {
  cn_peer* const peer = peer_at(info[0]);
  cn_queue* const queue = queue_at(info[2]);
  Bytes bytes(info[3]);
  void* const data = bytes.data();
  const size_t size = bytes.size();
  const cn_token token = token_of(info[4]);
  const uint64_t offset = number_of(info[5]);
  return begin(info[1], queue, 0, std::move(bytes), [&](const cn_call* call, cn_operation** handle) {
    return function(peer, &token, offset, data, size, call, handle);
  });
}

Napi::Value Endpoint::read(Info info) { return begin_access(info, cn_read); }

Napi::Value Endpoint::write(Info info) { return begin_access(info, cn_write); }

Napi::Value Endpoint::mark(Info info) {
  cn_queue* const queue = queue_at(info[0]);
  return begin(info[1], queue, 0, {},
               [&](const cn_call* call, cn_operation** handle) { return cn_queue_mark(queue, call, handle); });
}

void Endpoint::cancel(Info info) {
  const auto found = pending_.find(number_of(info[0]));
  if (found != pending_.end()) cn_cancel(found->second.handle);
}

Napi::Value Endpoint::create_queue(Info info) {
  cn_queue* queue = nullptr;
  check(Env(), cn_queue_create(open(), &queue));
  queues_.emplace(++last_number_, queue);
  return Napi::Number::New(info.Env(), static_cast<double>(last_number_));
}

void Endpoint::release_queue(Info info) {
  if (const auto node = queues_.extract(number_of(info[0]))) cn_queue_release(node.mapped());
}

void Endpoint::release_message(Info info) { messages_.erase(number_of(info[0])); }

// ------------------------------------------------------------------------------------------------ peers

Napi::Value Endpoint::name(Info info) { return Napi::String::New(info.Env(), name_); }

Napi::Value Endpoint::address(Info info) { return Napi::String::New(info.Env(), address_); }

Napi::Value Endpoint::find_peer(Info info) {
  return Napi::Number::New(info.Env(), index_of(cn_find_peer(open(), info[0].As<Napi::String>().Utf8Value().c_str())));
}

Napi::Value Endpoint::peer_name(Info info) { return Napi::String::New(info.Env(), cn_peer_name(peer_at(info[0]))); }

Napi::Value Endpoint::transport(Info info) {
  return Napi::String::New(info.Env(), cn_peer_transport(peer_at(info[0])));
}

Napi::Value Endpoint::is_connected(Info info) {
  return Napi::Boolean::New(info.Env(), endpoint_ && cn_peer_is_connected(peer_at(info[0])));
}

void Endpoint::disconnect(Info info) { check(Env(), cn_disconnect(peer_at(info[0]))); }

void Endpoint::set_handler(Info info) {
  const uint32_t number = uint32_of(info[0]);
  const bool is_set = info[1].ToBoolean();
  check(Env(),
        is_set ? cn_set_event_handler(open(), number, nullptr) : cn_set_handler(open(), number, nullptr, nullptr));
}

// ------------------------------------------------------------------------------------------------ memory

Napi::Value Endpoint::register_memory(Info info) {
  Bytes bytes(info[0]);
  bytes.pin();
  cn_memory* memory = nullptr;
  check(Env(), cn_memory_register(open(), bytes.data(), bytes.size(), uint32_of(info[1]), &memory));
  memories_.emplace(++last_number_, Registered{memory, std::move(bytes), nullptr, {}});
  return Napi::Number::New(info.Env(), static_cast<double>(last_number_));
}

Napi::Value Endpoint::allocate_memory(Info info) {
  const size_t size = number_of(info[0]);
  cn_memory* memory = nullptr;
  void* data = nullptr;
  check(Env(), cn_memory_alloc(open(), size, uint32_of(info[1]), &data, &memory));
  const auto allocation = std::make_shared<Allocation>(memory, data, size);
  const Napi::ArrayBuffer buffer = allocation->array_buffer(Env());
  memories_.emplace(++last_number_, Registered{nullptr, {}, allocation, Napi::Persistent(buffer)});
  const auto result = Napi::Array::New(Env(), 2);
  result.Set(0u, Napi::Number::New(Env(), static_cast<double>(last_number_)));
  result.Set(1u, buffer);
  return result;
}

Napi::Value Endpoint::token(Info info) {
  cn_token token{};
  const Registered& memory = memory_at(info[0]);
  cn_memory* const handle = memory.allocation ? memory.allocation->handle() : memory.handle;
  check(Env(), cn_memory_token(handle, uint32_of(info[1]), &token));
  return Napi::Buffer<uint8_t>::Copy(info.Env(), token.bytes, sizeof token.bytes);
}

void Endpoint::release_memory(Info info) {
  const auto found = memories_.find(number_of(info[0]));
  if (found == memories_.end()) return;
  // The bytes are free once the function has returned.
  if (found->second.allocation) take_back(found->second, info[1].As<Napi::Function>());
  cn_memory_release(found->second.handle);
  memories_.erase(found);
}

void Endpoint::take_back(const Registered& memory, const Napi::Function& detach) const {
  const Napi::ArrayBuffer buffer = memory.buffer.Value();
  // The program may have transferred the bytes to another ArrayBuffer, which then is their owner.
  const bool has_bytes = !buffer.IsDetached();
  if (memory.allocation.use_count() > (has_bytes ? 2 : 1)) {
    const char* const user = has_bytes ? "an operation or a registration" : "another ArrayBuffer";
    const std::string text = std::string("the memory is in use by ") + user;
    throw Environment::of(Env()).make_error(Env(), CN_INVALID_ARGUMENT, text.c_str());
  }
  if (has_bytes) detach.Call({buffer});
  memory.allocation->release();
}

// ------------------------------------------------------------------------------------------------ the end

std::string Endpoint::shut() {
  if (!endpoint_) return {};
  uv_poll_stop(&poll_->handle);
  poll_->endpoint = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&std::exchange(poll_, nullptr)->handle), [](uv_handle_t* handle) {
    Poll* const poll = static_cast<Poll*>(handle->data);
    napi_remove_async_cleanup_hook(poll->hook);
    delete poll;
  });
  for (auto& [number, memory] : memories_) cn_memory_release(memory.handle);
  for (auto& [number, queue] : queues_) cn_queue_release(queue);
  queues_.clear();
  for (auto& [number, joining] : joinings_) joining->await_begin();
  const bool is_sent = cn_endpoint_close(std::exchange(endpoint_, nullptr)) == CN_OK;
  const std::string unsent = is_sent ? "" : cn_error();
  joinings_.clear();
  memories_.clear();
  messages_.clear();
  peers_.clear();
  indices_.clear();
  return unsent;
}

Napi::Value Endpoint::close(Info info) {
  const Napi::Env env = info.Env();
  const auto ends = Napi::Array::New(env);
  if (!endpoint_) return ends;
  const auto add = [&](uint64_t number, cn_status status, const char* text) {
    const auto end = Napi::Array::New(env, 3);
    end.Set(0u, Napi::Number::New(env, static_cast<double>(number)));
    if (status != CN_OK) {
      end.Set(1u, cn_status_name(status));
      end.Set(2u, text);
    }
    ends.Set(ends.Length(), end);
  };
  constexpr const char* kClosed = "the endpoint was closed";
  for (auto& [number, joining] : joinings_) add(number, CN_CANCELLED, kClosed);
  ends.Set("unsent", shut());
  for (auto& [number, pending] : std::exchange(pending_, {})) {
    const cn_status status = cn_wait(pending.handle, 0);
    // Whoever waits for a connection would get a peer of a closed endpoint.
    if (status == CN_OK && pending.is_connection)
      add(number, CN_CANCELLED, kClosed);
    else
      add(number, status, cn_error());
    cn_operation_release(pending.handle);
  }
  // They refer to the object that has this one.
  for (Napi::FunctionReference* const each : {&done_, &message_, &peer_}) each->Reset();
  Unref();
  return ends;
}

}  // namespace commnet::node
