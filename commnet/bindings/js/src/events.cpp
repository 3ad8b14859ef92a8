// How the events of an endpoint reach JavaScript.
#include "endpoint.h"
#include "environment.h"

namespace commnet::node {

namespace {

// The most events that are handled before timers and other handles of the loop have their turn.
constexpr int kBatch = 256;

}  // namespace

uv_loop_t* Endpoint::loop() const {
  uv_loop_t* loop = nullptr;
  if (napi_get_uv_event_loop(Env(), &loop) != napi_ok)
    throw Environment::of(Env()).make_error(Env(), CN_SYSTEM_ERROR, "this thread has no event loop");
  return loop;
}

void Endpoint::start_poll() {
  auto poll = std::make_unique<Poll>();
  poll->endpoint = this;
  if (const int error = uv_poll_init(loop(), &poll->handle, cn_event_descriptor(endpoint_)); error != 0)
    throw Environment::of(Env()).make_error(Env(), CN_SYSTEM_ERROR, uv_strerror(error));
  poll->handle.data = poll.get();
  poll_ = poll.release();
  uv_unref(reinterpret_cast<uv_handle_t*>(&poll_->handle));
  // An environment that ends waits until the handle is closed.
  napi_add_async_cleanup_hook(
      Env(),
      [](napi_async_cleanup_hook_handle, void* data) {
        if (Endpoint* const endpoint = static_cast<Poll*>(data)->endpoint) endpoint->shut();
      },
      poll_, &poll_->hook);
  uv_poll_start(&poll_->handle, UV_READABLE, [](uv_poll_t* handle, int, int) {
    try {
      if (Endpoint* const endpoint = static_cast<Poll*>(handle->data)->endpoint) endpoint->take_events();
    } catch (const Napi::Error&) {
      // JavaScript has its exceptions already: this one says that the environment ends.
    }
  });
}

void Endpoint::set_ref(Info info) {
  if (!poll_) return;
  auto* const handle = reinterpret_cast<uv_handle_t*>(&poll_->handle);
  info[0].ToBoolean() ? uv_ref(handle) : uv_unref(handle);
}

void Endpoint::take_events() {
  const Napi::HandleScope keeps_this(Env());
  [[maybe_unused]] const Napi::Value self = Value();  // a callback may close the endpoint
  for (int i = 0; i < kBatch && endpoint_; ++i) {
    const Napi::HandleScope scope(Env());
    cn_event event{sizeof event};
    if (cn_next_event(endpoint_, &event, 0) != CN_OK || !handle(event)) return;
  }
}

bool Endpoint::handle(const cn_event& event) {
  switch (event.kind) {
    case CN_EVENT_DONE:
      return handle_end(event);
    case CN_EVENT_MESSAGE:
      return handle_message(event);
    case CN_EVENT_JOINED:
    case CN_EVENT_LEFT:
      return handle_peer(event);
  }
  return true;
}

bool Endpoint::call(const Napi::FunctionReference& function, const std::vector<napi_value>& arguments,
                    napi_value* result) {
  napi_value ignored_result = nullptr;
  const napi_status status = napi_make_callback(Env(), *context_, Value(), function.Value(), arguments.size(),
                                                arguments.data(), result ? result : &ignored_result);
  if (status != napi_pending_exception) return status == napi_ok;
  // As for any callback of Node: 'uncaughtException', and the end of the process if nobody listens.
  bool is_pending = false;
  napi_value error = nullptr;
  if (napi_is_exception_pending(Env(), &is_pending) != napi_ok || !is_pending) return false;
  if (napi_get_and_clear_last_exception(Env(), &error) != napi_ok) return false;
  return napi_fatal_exception(Env(), error) == napi_ok;
}

bool Endpoint::handle_end(const cn_event& event) {
  const auto number = reinterpret_cast<uint64_t>(event.user);
  auto node = pending_.extract(number);
  if (!node) return true;
  Pending& pending = node.mapped();
  const int32_t peer = pending.is_connection ? index_of(cn_operation_peer(pending.handle)) : -1;
  cn_operation_release(pending.handle);
  pending.bytes = {};  // whoever waits may release their memory at once
  const Napi::Env env = Env();
  if (event.status == CN_OK)
    return call(done_, {Napi::Number::New(env, static_cast<double>(number)), env.Undefined(), env.Undefined(),
                        Napi::Number::New(env, peer)});
  return call(
      done_, {Napi::Number::New(env, static_cast<double>(number)), Napi::String::New(env, cn_status_name(event.status)),
              Napi::String::New(env, event.error ? event.error : ""), Napi::Number::New(env, peer)});
}

bool Endpoint::handle_message(const cn_event& event) {
  // The bytes are copied, and the message is released as soon as it is handled: its window must not wait for a garbage
  // collection.
  MessagePointer message(event.message);
  const Napi::Env env = Env();
  napi_value data = nullptr;
  const size_t size = cn_message_size(message.get());
  const napi_status status =
      napi_create_buffer_copy(env, size, size ? cn_message_data(message.get()) : "", nullptr, &data);
  if (status != napi_ok) {
    bool is_pending = false;
    napi_value ignored = nullptr;
    if (napi_is_exception_pending(env, &is_pending) != napi_ok || !is_pending) return false;  // the environment ends
    napi_get_and_clear_last_exception(env, &ignored);
    const std::string text = "there is no memory for a message of " + std::to_string(size) + " bytes";
    const Napi::Error error = Environment::of(env).make_error(env, CN_OUT_OF_MEMORY, text.c_str());
    return napi_fatal_exception(env, error.Value()) == napi_ok;
  }
  const uint32_t handler = cn_message_handler(message.get()), channel = cn_message_channel(message.get());
  const int32_t peer = index_of(cn_message_peer(message.get()));
  // The promise of a handler may be settled before the call returns.
  const uint64_t number = ++last_number_;
  messages_.emplace(number, std::move(message));
  napi_value goes_on = nullptr;
  const bool is_possible =
      call(message_,
           {Napi::Number::New(env, handler), Napi::Number::New(env, channel), Napi::Number::New(env, peer), data,
            Napi::Number::New(env, static_cast<double>(number))},
           &goes_on);
  if (!is_possible || !goes_on || !Napi::Value(env, goes_on).ToBoolean()) messages_.erase(number);
  return is_possible;
}

bool Endpoint::handle_peer(const cn_event& event) {
  const Napi::Env env = Env();
  const bool has_left = event.kind == CN_EVENT_LEFT;
  const napi_value status =
      has_left ? Napi::Value(Napi::String::New(env, cn_status_name(event.status))) : env.Undefined();
  const napi_value text =
      has_left ? Napi::Value(Napi::String::New(env, event.error ? event.error : "")) : env.Undefined();
  return call(peer_, {Napi::Number::New(env, index_of(event.peer)), status, text});
}

void Endpoint::handle_joined(uint64_t number, const Joining::Result& result) {
  const Napi::HandleScope scope(Env());
  [[maybe_unused]] const Napi::Value self = Value();
  joinings_.erase(number);
  try {
    const Napi::Env env = Env();
    const napi_value name = Napi::Number::New(env, static_cast<double>(number));
    if (result.status != CN_OK) {
      call(done_, {name, Napi::String::New(env, cn_status_name(result.status)), Napi::String::New(env, result.text),
                   Napi::Number::New(env, -1)});
      return;
    }
    const auto peers = Napi::Array::New(env, result.peers.size());
    for (size_t rank = 0; rank < result.peers.size(); ++rank)
      peers.Set(static_cast<uint32_t>(rank), Napi::Number::New(env, index_of(result.peers[rank])));
    call(done_, {name, env.Undefined(), env.Undefined(), peers});
  } catch (const Napi::Error&) {
    // As in start_poll(): the environment ends.
  }
}

}  // namespace commnet::node
