// The life of endpoints, and what programs ask of them.
#include "core/endpoint.h"

#include <pthread.h>

#include <algorithm>

#include "core/status.h"
#include "core/transports.h"

namespace commnet {

namespace {

// Counts the forks between the first process and this one.
std::atomic<unsigned> forks{0};
[[maybe_unused]] const int has_fork_handler = pthread_atfork(nullptr, nullptr, [] { ++forks; });

}  // namespace

std::shared_ptr<Endpoint> Endpoint::create(const cn_endpoint_options* options) {
  start_security();
  return open(settings_of(options));
}

std::shared_ptr<Endpoint> Endpoint::create_like(const Endpoint& other, std::string name, std::string listen) {
  Settings settings = other.settings_;
  settings.name = std::move(name);
  settings.listen = std::move(listen);
  settings.is_manual = false;
  return open(std::move(settings));
}

std::shared_ptr<Endpoint> Endpoint::open(Settings settings) {
  const std::shared_ptr<Endpoint> endpoint(new Endpoint(std::move(settings), forks));
  endpoint->open_transports();
  if (endpoint->settings_.is_manual) return endpoint;
  endpoint->thread_ = start_without_signals([raw = endpoint.get()] { raw->run_thread(); });
  return endpoint;
}

Endpoint::~Endpoint() {
  for (const Transport& transport : transports_) transport.table->close(transport.handle);
}

void Endpoint::open_transports() {
  poller_.add(wake_signal_.number(), EPOLLIN);
  work_or_event_.add(poller_.number(), EPOLLIN);
  work_or_event_.add(event_signal_.number(), EPOLLIN);
  work_or_event_.add(stays_awake_.number(), EPOLLIN);
  const std::vector<const cn_transport_table*> tables = chosen_transports(settings_.transports);
  const std::string listen = numbered_listen(tables);
  const cn_transport_settings settings{sizeof settings, settings_.name.c_str(), listen.c_str(),
                                       !settings_.transports.empty()};
  transports_.reserve(tables.size());  // so that one that is open is kept, and closed at the end
  std::string urls;
  for (const cn_transport_table* const table : tables) {
    cn_transport* handle = nullptr;
    const cn_status status =
        table->open(&transport_host(), reinterpret_cast<cn_host_endpoint*>(this), &settings, &handle);
    // Without a list, what this machine lacks is left out.
    if (status == CN_UNSUPPORTED && settings_.transports.empty()) continue;
    if (status != CN_OK) throw Error(status, std::string(table->name) + ": " + cn_error());
    transports_.push_back({table, handle, table->descriptor(handle)});
    if (const int descriptor = transports_.back().descriptor; descriptor >= 0) poller_.add(descriptor, EPOLLIN);
    const std::string own = table->address(handle);
    if (!own.empty()) urls += (urls.empty() ? "" : ",") + own;
  }
  if (transports_.empty()) fail(CN_UNSUPPORTED, "no transport is available");
  for (const std::string& url : split_list(settings_.listen))
    if (url != "none" && std::ranges::none_of(transports_, [&](auto& each) { return understands(*each.table, url); }))
      fail(CN_INVALID_ARGUMENT, "options: no transport of this endpoint understands '%s' of listen", url.c_str());
  address_ = settings_.name + "@" + urls;
}

bool Endpoint::is_inherited() const { return fork_ != forks; }

Endpoint::Lock Endpoint::take_lock() const {
  if (is_inherited()) fail(CN_CLOSED, "the endpoint belongs to the parent of this process");
  ++callers_;
  Lock lock(mutex_);
  --callers_;
  return lock;
}

void Endpoint::require_open() const {
  if (is_closing_) fail(CN_CLOSED, "the endpoint is closed");
}

bool Endpoint::is_closing() {
  const Lock lock = take_lock();
  return is_closing_;
}

bool Endpoint::has_unsent() const {
  return std::ranges::any_of(peers_, [](const auto& each) { return each.second->has_unsent(); }) ||
         std::ranges::any_of(connections_, [](const auto& each) { return each->is_open() && each->has_unsent(); });
}

std::string Endpoint::describe_unsent() const {
  size_t count = 0, others = 0;
  const Peer* first = nullptr;
  for (const auto& [name, peer] : peers_) {
    const size_t unsent = peer->count_unsent();
    if (unsent == 0) continue;
    count += unsent;
    if (first)
      ++others;
    else
      first = peer.get();
  }
  if (!first) return {};
  return std::to_string(count) + (count == 1 ? " message" : " messages") + " to '" + first->name() + "'" +
         (others > 0 ? " and " + std::to_string(others) + " others" : "") + " could not be sent before the end";
}

bool Endpoint::close(std::string* unsent) {
  if (is_inherited()) {
    // The child of a fork has neither the thread nor the peers: the endpoint cannot be destroyed.
    static auto& inherited = *new std::vector<std::shared_ptr<Endpoint>>;
    inherited.push_back(shared_from_this());
    return true;
  }
  {
    Lock lock = take_lock();
    if (worker_ == std::this_thread::get_id()) fail(CN_INVALID_ARGUMENT, "a callback must not close its endpoint");
    if (begins_to_close_) {
      while (!is_closed_) changed_.wait(lock);
      return false;
    }
    begins_to_close_ = true;
    // What was sent already is to leave this process first.
    const Clock::time_point linger = Clock::now() + settings_.linger;
    while (has_unsent() && Clock::now() < linger) {
      if (settings_.is_manual)
        work(lock, Clock::now() + std::chrono::milliseconds(10));
      else
        changed_.wait_for(lock, std::chrono::milliseconds(1));
    }
    *unsent = describe_unsent();
    is_closing_ = true;
    for (auto& [name, peer] : peers_) peer->leave(CN_CANCELLED, "the endpoint was closed");
    while (!connecting_.empty())
      finish(OperationPointer(*connecting_.begin()), CN_CANCELLED, "the endpoint was closed");
    // Those that are closed leave the list.
    while (!connections_.empty()) connections_.front()->close(CN_CANCELLED, "the endpoint was closed");
    wake();
    while (settings_.is_manual && is_working_) changed_.wait_for(lock, std::chrono::milliseconds(1));
  }
  if (thread_.joinable()) thread_.join();
  end_relief();
  Lock lock = take_lock();
  worker_ = std::this_thread::get_id();
  run_ready(lock);
  worker_ = {};
  clear_graves();
  for (const Transport& transport : std::exchange(transports_, {})) transport.table->close(transport.handle);
  for (Notices* const notices : {&unclaimed_, &ready_, &events_}) {
    for (const Notice& each : *notices) delete each.message;
    notices->clear();
  }
  last_event_.clear();
  is_closed_ = true;
  changed_.notify_all();
  return true;
}

void Endpoint::begin(const OperationPointer& operation) {
  if (operation->is_observed()) operation->notice = spare_notices_.take();
  if (operation->deadline != Clock::time_point::max()) {
    deadlines_.emplace(operation->deadline, operation);
    if (operation->deadline < timers_at_) wake();
    check_timers_at(operation->deadline);
  }
  if (operation->queue) operation->queue->add(operation);
}

void Endpoint::send(Peer& peer, const OperationPointer& operation) {
  start(operation, [&] { peer.send(operation); });
}

bool Endpoint::send_now(Peer& peer, uint32_t handler, uint32_t channel, const void* data, uint64_t size) {
  Lock lock = take_lock();
  require_open();
  if (!peer.send_now(handler, channel, data, size)) return false;
  peer.flush_soon();
  after_call(lock);
  return true;
}

void Endpoint::request(Peer& peer, const OperationPointer& operation) {
  start(operation, [&] { peer.request(operation); });
}

void Endpoint::mark(const OperationPointer& operation) {
  start(operation, [&] {
    operation->queue->mark();  // if nothing is before it
    operation->queue->advance([&](const OperationPointer& each) { end(each); });
  });
}

void Endpoint::disconnect(Peer& peer) {
  Lock lock = take_lock();
  require_open();
  peer.leave(CN_CANCELLED, "it was disconnected");
  after_call(lock);
}

void Endpoint::cancel(const OperationPointer& operation) {
  Lock lock = take_lock();
  if (operation->has_result) return;
  end_early(operation, CN_CANCELLED, "the operation was cancelled");
  after_call(lock);
}

void Endpoint::end_early(const OperationPointer& operation, cn_status status, const char* text) noexcept {
  if (operation->kind == Operation::Kind::kConnect) {
    operation->addresses.clear();
    for (auto& each : connections_)
      if (each->operation() == operation) return each->close(status, text);
  } else if (operation->peer) {
    operation->peer->drop(operation);
  }
  finish(operation, status, text);
}

Peer* Endpoint::find_peer(const std::string& name) {
  const Lock lock = take_lock();
  const auto found = peers_.find(name);
  return found != peers_.end() && found->second->is_connected() ? found->second.get() : nullptr;
}

Peer& Endpoint::peer_of(const std::string& name) {
  if (const auto found = peers_.find(name); found != peers_.end()) return *found->second;
  auto peer = std::make_unique<Peer>(*this, name);
  working_.reserve(peers_.size() + 1);
  turn_.reserve(peers_.size() + 1);
  return *peers_.emplace(name, std::move(peer)).first->second;
}

std::shared_ptr<const Memory> Endpoint::register_memory(void* data, uint64_t size, uint32_t rights) {
  const Lock lock = take_lock();
  require_open();
  return memories_.add(data, size, rights);
}

std::shared_ptr<const Memory> Endpoint::allocate_memory(uint64_t size, uint32_t rights) {
  if (size == 0) fail(CN_INVALID_ARGUMENT, "size is 0");
  MemoryFile allocated = MemoryFile::make(size);
  // Without files in memory, others read and write it like any other memory.
  if (!allocated && errno != ENOMEM && errno != ENOSPC) allocated = MemoryFile::make_private(size);
  if (!allocated)
    fail(CN_OUT_OF_MEMORY, "the system has no memory of %llu bytes", static_cast<unsigned long long>(size));
  const Lock lock = take_lock();
  require_open();
  char* const data = allocated.data();
  return memories_.add(data, size, rights, std::move(allocated));
}

void Endpoint::release_memory(const std::shared_ptr<const Memory>& memory) {
  Lock lock = take_lock();
  memories_.remove(memory->id);
  for (auto& [name, peer] : peers_)
    if (peer->is_connected()) peer->forget_memory(*memory);
  for (const Transport& transport : transports_)
    if (transport.table->forget) transport.table->forget(transport.handle, memory->id);
  after_call(lock);
}

void Endpoint::after_call(Lock& lock) {
  if (!ready_.empty() || !working_.empty()) wake();
  if (!is_working_) clear_graves();
  lock.unlock();
}

}  // namespace commnet
