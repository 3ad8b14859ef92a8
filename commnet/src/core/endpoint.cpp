#include "core/endpoint.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstring>

#include "core/status.h"
#include "core/transports.h"

namespace commnet {

namespace {

constexpr uint32_t kMostStreams = 16;
// The most connections of others whose handshake is not complete.
constexpr std::ptrdiff_t kMostStrangers = 256;
// When a connection is tried again that another one was in the way of.
constexpr Clock::duration kAgain = std::chrono::milliseconds(50);
// When work goes on for which there was no memory.
constexpr Clock::duration kRest = std::chrono::milliseconds(1);
// For how long the thread that works makes room for others that want the lock.
constexpr Clock::duration kRoom = std::chrono::microseconds(100);

// Frames of calls that follow each other faster than this are sent together.
constexpr Clock::duration kBurst = std::chrono::microseconds(5);

// Counts the forks between the first process and this one.
std::atomic<unsigned> forks{0};
[[maybe_unused]] const int has_fork_handler = pthread_atfork(nullptr, nullptr, [] { ++forks; });

template <class T>
T or_default(T value, T otherwise) {
  return value == 0 ? otherwise : value;
}

// Whether a program can have been compiled with a struct of this size, which may lack the last fields. Others would cut
// a pointer in two.
template <class Struct>
bool is_struct_size(uint32_t size, const Struct&) {
  return size > 0 && size <= sizeof(Struct) && size % alignof(Struct) == 0;
}

std::string default_name() {
  static std::atomic<int> count{0};
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof host - 1);
  return std::string(host) + "-" + std::to_string(getpid()) + "-" + std::to_string(count++);
}

}  // namespace

Settings settings_of(const cn_endpoint_options* given) {
  cn_endpoint_options options{};
  if (given) {
    if (!is_struct_size(given->struct_size, options))
      fail(CN_INVALID_ARGUMENT, "options: struct_size is %u, expected %zu", given->struct_size, sizeof options);
    std::memcpy(&options, given, given->struct_size);
  }
  const auto text = [](const char* value) { return std::string(value ? value : ""); };
  Settings settings;
  settings.name = options.name ? options.name : default_name();
  if (settings.name.empty() || settings.name.size() > 255 || settings.name.find_first_of("@,\n") != std::string::npos)
    fail(CN_INVALID_ARGUMENT, "options: name must have 1 to 255 bytes, and none of '@', ',' and line ends");
  if (options.secret_size > 0 && options.secret == nullptr) fail(CN_INVALID_ARGUMENT, "options: secret is NULL");
  if ((options.flags & ~uint32_t{CN_MANUAL_PROGRESS}) != 0)
    fail(CN_INVALID_ARGUMENT, "options: unknown flags %u", options.flags);
  if (options.streams > kMostStreams)
    fail(CN_INVALID_ARGUMENT, "options: streams must be at most %u, got %u", kMostStreams, options.streams);
  settings.transports = text(options.transports);
  settings.listen = text(options.listen);
  settings.key = key_of({static_cast<const uint8_t*>(options.secret), options.secret_size});
  settings.is_manual = (options.flags & CN_MANUAL_PROGRESS) != 0;
  settings.busy_poll = std::chrono::microseconds(options.busy_poll_us);
  settings.peer_timeout = std::chrono::milliseconds(or_default(options.peer_timeout_ms, 10'000u));
  settings.streams = or_default(options.streams, 2u);
  settings.receive_window = or_default(options.receive_window, uint64_t{8} << 20);
  settings.send_limit = or_default(options.send_limit, uint64_t{64} << 20);
  settings.message_limit = or_default(options.message_limit, uint64_t{1} << 30);
  return settings;
}

thread_local const Operation* Operation::running = nullptr;

Operation::Operation(std::shared_ptr<Endpoint> owner, Kind what, const cn_call* given)
    : endpoint(std::move(owner)), kind(what) {
  if (!given) return;
  cn_call call{};
  if (!is_struct_size(given->struct_size, call))
    fail(CN_INVALID_ARGUMENT, "call: struct_size is %u, expected %zu", given->struct_size, sizeof call);
  std::memcpy(&call, given, given->struct_size);
  if ((call.flags & ~uint32_t{CN_EVENT | CN_COPY}) != 0)
    fail(CN_INVALID_ARGUMENT, "call: unknown flags %u", call.flags);
  if (call.done && call.flags & CN_EVENT)
    fail(CN_INVALID_ARGUMENT, "call: an operation has either a function or an event at its end");
  if (call.queue && call.queue->queue->endpoint() != endpoint)
    fail(CN_INVALID_ARGUMENT, "call: the queue belongs to another endpoint");
  done = call.done;
  user = call.user;
  flags = call.flags;
  if (call.queue) queue = call.queue->queue;
  if (call.timeout_ms > 0) deadline = Clock::now() + std::chrono::milliseconds(call.timeout_ms);
}

// ------------------------------------------------------------------------------------------------ life

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
  // Signals are the business of the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    endpoint->thread_ = std::thread([raw = endpoint.get()] { raw->run_thread(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return endpoint;
}

Endpoint::~Endpoint() {
  for (const Transport& transport : transports_) transport.table->close(transport.handle);
}

// Returns the URLs at which to listen, with numbers in place of the names of hosts.
std::string Endpoint::numbered_listen(const std::vector<const cn_transport_table*>& tables) const {
  std::string urls;
  for (const std::string& url : split_list(settings_.listen)) {
    const bool has_host =
        std::ranges::any_of(tables, [&](const auto* table) { return table->has_hosts && understands(*table, url); });
    if (!urls.empty()) urls += ',';
    if (!has_host || !Lookup::is_needed(url)) {
      urls += url;
      continue;
    }
    const auto lookup = Lookup::begin(url, [] {});
    if (!lookup) fail(CN_SYSTEM_ERROR, "options: listen: too many hosts are being looked up");
    if (!lookup->wait_until(Clock::now() + settings_.peer_timeout))
      fail(CN_TIMED_OUT, "options: listen: '%s': the host was not found in time", url.c_str());
    try {
      urls += lookup->urls().front();
    } catch (const Error& error) {
      fail(CN_INVALID_ARGUMENT, "options: listen: %s", error.what());
    }
  }
  return urls;
}

void Endpoint::open_transports() {
  poller_ = Descriptor::checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
  const auto watch = [](const Descriptor& poller, int descriptor) {
    epoll_event event{EPOLLIN, {.fd = descriptor}};
    if (epoll_ctl(poller.number(), EPOLL_CTL_ADD, descriptor, &event) != 0) fail_with_errno("epoll_ctl");
  };
  watch(poller_, wake_signal_.number());
  if (settings_.is_manual) {
    work_or_event_ = Descriptor::checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    watch(work_or_event_, poller_.number());
    watch(work_or_event_, event_signal_.number());
  }
  const std::vector<const cn_transport_table*> tables = chosen_transports(settings_.transports);
  const std::string listen = numbered_listen(tables);
  const cn_transport_settings settings{sizeof settings, settings_.name.c_str(), listen.c_str(),
                                       !settings_.transports.empty()};
  std::string urls;
  for (const cn_transport_table* const table : tables) {
    cn_transport* handle = nullptr;
    const cn_status status =
        table->open(&transport_host(), reinterpret_cast<cn_host_endpoint*>(this), &settings, &handle);
    // Without a list, what this machine lacks is left out.
    if (status == CN_UNSUPPORTED && settings_.transports.empty()) continue;
    if (status != CN_OK) throw Error(status, std::string(table->name) + ": " + cn_error());
    transports_.push_back({table, handle});
    if (const int descriptor = table->descriptor(handle); descriptor >= 0) watch(poller_, descriptor);
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

bool Endpoint::close() {
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
    const Clock::time_point linger = Clock::now() + std::chrono::seconds(1);
    const auto has_unsent = [&] {
      return std::ranges::any_of(connections_, [](const auto& each) { return each->is_open() && each->has_unsent(); });
    };
    while (has_unsent() && Clock::now() < linger) {
      if (settings_.is_manual)
        work(lock, Clock::now() + std::chrono::milliseconds(10));
      else
        changed_.wait_for(lock, std::chrono::milliseconds(1));
    }
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

// ------------------------------------------------------------------------------------------------ calls

void Endpoint::begin(const OperationPointer& operation) {
  if (operation->is_observed()) operation->notice = spare_notices_.take();
  if (operation->deadline != Clock::time_point::max()) {
    deadlines_.emplace(operation->deadline, operation);
    if (operation->deadline < timers_at_) wake();
  }
  if (operation->queue) operation->queue->add(operation);
}

template <class Start>
void Endpoint::start(const OperationPointer& operation, Start&& start) {
  Lock lock = take_lock();
  require_open();
  try {
    begin(operation);
    start();
  } catch (...) {
    // The caller hears of it by the status alone.
    operation->done = nullptr;
    operation->flags = 0;
    if (operation->queue) operation->queue->take_back(operation);
    finish(operation, CN_CANCELLED, {});
    after_call(lock);
    throw;
  }
  after_call(lock);
}

void Endpoint::send(Peer& peer, const OperationPointer& operation) {
  start(operation, [&] { peer.send(operation); });
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

void Endpoint::connect(const char* address, const OperationPointer& operation) {
  // "name@url,url", of which the name may be missing. URLs of Unix sockets without a file have an '@', too:
  // "unix:@job".
  const std::string text = address;
  size_t at = text.find('@');
  if (at != std::string::npos && text.substr(0, at).ends_with("unix:")) at = std::string::npos;
  if (at != std::string::npos) operation->expected_name = text.substr(0, at);
  std::vector<std::pair<const cn_transport_table*, std::string>> found;
  std::vector<std::string> urls = split_list(text.substr(at == std::string::npos ? 0 : at + 1));
  start(operation, [&] {
    if (operation->expected_name == settings_.name)
      fail(CN_INVALID_ARGUMENT, "an endpoint cannot connect to itself, '%s'", text.c_str());
    const auto known = peers_.find(operation->expected_name);
    if (known != peers_.end() && known->second->is_connected()) {
      operation->peer = known->second.get();
      return finish(operation, CN_OK, {});
    }
    // The order is that of the own transports, best first.
    for (const Transport& transport : transports_)
      for (const std::string& url : urls)
        if (understands(*transport.table, url)) operation->addresses.emplace_back(&transport, url);
    if (operation->addresses.empty())
      fail(CN_UNSUPPORTED, "no transport of this endpoint understands the address '%s'", text.c_str());
    operation->why = "nobody answers";
    connecting_.insert(operation);
    try_address(operation);
  });
}

void Endpoint::try_address(const OperationPointer& operation) {
  while (!operation->addresses.empty() && !operation->has_result) {
    const auto [transport, url] = operation->addresses.front();
    operation->addresses.pop_front();
    const auto* const opened = static_cast<const Transport*>(transport);
    if (opened->table->has_hosts && Lookup::is_needed(url)) {
      lookups_.push_back({operation, opened, url, nullptr, Clock::now() + settings_.peer_timeout});
      return look_up(lookups_.back());
    }
    if (begin_connection(*opened, url, operation, 0, {})) return;
    operation->why = cn_error();
  }
  if (!operation->has_result) finish(operation, CN_UNREACHABLE, operation->why);
}

void Endpoint::look_up(LookingUp& looking_up) {
  const auto wake = [endpoint = weak_from_this()] {
    if (const auto there = endpoint.lock()) there->wake_from_outside();
  };
  looking_up.lookup = Lookup::begin(looking_up.url, wake);
  // Otherwise, when others have ended.
  const Clock::time_point next = looking_up.lookup ? looking_up.gives_up : Clock::now() + kAgain;
  timers_at_ = std::min(timers_at_, next);
  this->wake();
}

void Endpoint::take_lookups(Clock::time_point now) noexcept {
  for (auto next = lookups_.begin(); next != lookups_.end();) {
    const auto each = next++;
    const OperationPointer operation = each->operation;
    try {
      if (!each->lookup && now < each->gives_up) {
        look_up(*each);
        continue;
      }
      if (each->lookup && each->lookup->is_done()) {
        const std::vector<std::string>& urls = each->lookup->urls();
        for (auto url = urls.rbegin(); url != urls.rend(); ++url)
          operation->addresses.emplace_front(each->transport, *url);
      } else if (now >= each->gives_up) {
        fail(CN_UNREACHABLE, "'%s': the host was not found in time", each->url.c_str());
      } else {
        continue;
      }
    } catch (...) {
      set_error_of_exception();
      keep_text(operation->why, cn_error());
    }
    lookups_.erase(each);
    try_address_or_end(operation);
  }
}

bool Endpoint::begin_connection(const Transport& transport, const std::string& url, const OperationPointer& operation,
                                uint32_t stream, const Key& link) {
  auto created = std::make_unique<Connection>(*this, *transport.table, operation, stream, link);
  created->set_url(&transport, url);
  connections_.push_back(std::move(created));
  Connection& connection = *connections_.back();
  cn_connection* handle = nullptr;
  const cn_status status = transport.table->connect(transport.handle, url.c_str(),
                                                    reinterpret_cast<cn_host_connection*>(&connection), &handle);
  if (status != CN_OK) {
    connections_.pop_back();
    return false;
  }
  connection.set_handle(handle);
  return true;
}

void Endpoint::add_streams(Peer& peer, const Connection& first) {
  if (!first.table().has_streams || first.reaches_memory()) return;
  for (uint32_t stream = 1; stream < settings_.streams; ++stream)
    begin_connection(*static_cast<const Transport*>(first.transport()), first.url(), nullptr, stream, peer.link());
}

bool Endpoint::connects_to(const std::string& name) const {
  return std::ranges::any_of(connections_, [&](const auto& each) { return each->is_beginning_to(name); });
}

bool Endpoint::connects_to_unknown() const {
  return std::ranges::any_of(connections_, [&](const auto& each) { return each->is_beginning_to({}); });
}

// Whether a connection is a further one to a peer that is there: its handshake may be held up behind other bytes.
bool Endpoint::is_awaited_stream(const Connection& connection) const {
  return connection.has_begun() && connection.stream() > 0 && std::ranges::any_of(peers_, [&](const auto& each) {
           return each.second->is_connected() && are_same(each.second->link(), connection.link());
         });
}

void Endpoint::decide_waiting() noexcept {
  for (auto next = connections_.begin(); next != connections_.end();) {
    Connection& each = **next++;  // which may leave the list
    if (each.is_waiting()) each.decide_or_close();
  }
}

void Endpoint::connect_failed(const OperationPointer& operation, cn_status status, const std::string& text) noexcept {
  keep_text(operation->why, text);
  if (status == CN_UNREACHABLE || status == CN_PEER_LOST || status == CN_SYSTEM_ERROR) {
    if (!operation->addresses.empty()) return try_address_or_end(operation);
    status = CN_UNREACHABLE;
  }
  finish(operation, status, text);
}

void Endpoint::try_address_or_end(const OperationPointer& operation) noexcept {
  try {
    try_address(operation);
  } catch (...) {
    finish(operation, set_error_of_exception(), cn_error());
  }
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

void Endpoint::release_memory(const std::shared_ptr<const Memory>& memory) {
  Lock lock = take_lock();
  memories_.remove(memory->id);
  for (auto& [name, peer] : peers_)
    if (peer->is_connected()) peer->forget_memory(*memory);
  after_call(lock);
}

bool Endpoint::leaves_flushes() {
  const Clock::time_point now = Clock::now();
  return now - std::exchange(last_flush_, now) < kBurst;
}

void Endpoint::after_call(Lock& lock) {
  if (!ready_.empty() || !working_.empty()) wake();
  if (!is_working_) clear_graves();
  lock.unlock();
}

// ------------------------------------------------------------------------------------------------ ends

void Endpoint::finish(const OperationPointer& operation, cn_status status, std::string_view text) noexcept {
  if (operation->has_result) return;
  operation->has_result = true;
  operation->status = status;
  keep_text(operation->text, text);
  if (operation->deadline != Clock::time_point::max()) {
    const auto [first, last] = deadlines_.equal_range(operation->deadline);
    const auto found = std::find_if(first, last, [&](const auto& each) { return each.second.lock() == operation; });
    if (found != last) deadlines_.erase(found);
  }
  if (operation->kind == Operation::Kind::kConnect) {
    connecting_.erase(operation);
    awaiting_.remove_if([&](const Awaiting& each) { return each.operation == operation; });
    lookups_.remove_if([&](const LookingUp& each) { return each.operation == operation; });
  }
  if (operation->queue)
    operation->queue->advance([&](const OperationPointer& each) { end(each); });
  else
    end(operation);
}

void Endpoint::end(const OperationPointer& operation) noexcept {
  if (operation->is_observed()) {
    Notice& notice = operation->notice.front();
    notice.operation = operation;
    notice.kind = CN_EVENT_DONE;
    notice.user = operation->user;
    notice.status = operation->status;
    notice.peer = operation->peer;
    if (operation->done) return ready_.splice(ready_.end(), operation->notice);
    push(operation->notice);
  }
  operation->ended.store(true, std::memory_order_release);
  operation->is_over.store(true, std::memory_order_release);
  changed_.notify_all();
}

void Endpoint::push(Notices& notice) noexcept {
  if (events_.empty()) event_signal_.raise();
  events_.splice(events_.end(), notice);
  changed_.notify_all();
}

void Endpoint::await(Peer& peer, const OperationPointer& operation) {
  const Clock::time_point now = Clock::now();
  if (operation->gives_up == Clock::time_point::max()) operation->gives_up = now + settings_.peer_timeout;
  if (now >= operation->gives_up) return finish(operation, CN_UNREACHABLE, operation->why);
  awaiting_.push_back({&peer, operation, now + kAgain});
}

void Endpoint::joined(Peer& peer) noexcept {
  for (auto next = awaiting_.begin(); next != awaiting_.end();) {
    const Awaiting& each = *next++;  // which leaves the list
    if (each.peer == &peer) finish(OperationPointer(each.operation), CN_OK, {});
  }
  if (!watches_peers_) return;
  Notice& notice = peer.joined_notice().front();
  notice.kind = CN_EVENT_JOINED;
  notice.peer = &peer;
  push(peer.joined_notice());
}

void Endpoint::left(Peer& peer, cn_status status, std::string_view text) noexcept {
  notify();
  if (is_closing_) return;
  const size_t freed = trim_unclaimed(&peer);
  if (!watches_peers_) return;
  Notice& notice = peer.left_notice().front();
  notice.kind = CN_EVENT_LEFT;
  notice.status = status;
  notice.peer = &peer;
  keep_text(notice.text, text);
  if (freed > 0) {
    char more[100];
    std::snprintf(more, sizeof more, "; %zu of its messages, for which there is no handler, were freed", freed);
    try {
      notice.text += more;
    } catch (...) {
      keep_text(notice.text, more);
    }
  }
  push(peer.left_notice());
}

void Endpoint::bury(Connection& connection) noexcept {
  const auto found = std::ranges::find_if(connections_, [&](const auto& each) { return each.get() == &connection; });
  if (found != connections_.end()) graves_.splice(graves_.end(), connections_, found);
  wake();
}

void Endpoint::drop_oldest_stranger() noexcept {
  const auto is_stranger = [](const auto& each) { return !each->is_open() && !each->has_begun(); };
  if (std::ranges::count_if(connections_, is_stranger) < kMostStrangers) return;
  (*std::ranges::find_if(connections_, is_stranger))->close(CN_DENIED, "too many do not complete the handshake");
}

void Endpoint::clear_graves() noexcept {
  for (const auto& each : graves_)
    if (each->handle()) each->table().disconnect(each->handle());
  graves_.clear();
}

Connection* Endpoint::accepted(cn_transport* transport, cn_connection* handle) noexcept {
  const auto found = std::ranges::find(transports_, transport, &Transport::handle);
  if (is_closing_ || found == transports_.end()) return nullptr;
  drop_oldest_stranger();
  try {
    connections_.push_back(std::make_unique<Connection>(*this, *found->table, handle));
  } catch (...) {
    return nullptr;  // there is no memory for it
  }
  return connections_.back().get();
}

// ------------------------------------------------------------------------------------------------ messages

void Endpoint::set_handler(uint32_t number, cn_handler function, void* user, bool as_event) {
  Lock lock = take_lock();
  require_open();
  if (!function && !as_event) {
    handlers_.erase(number);
  } else {
    handlers_[number] = {function, user, as_event};
    // They are older than all that are ready.
    for (auto next = unclaimed_.end(); next != unclaimed_.begin();) {
      const auto each = std::prev(next);
      if (each->message->handler == number)
        ready_.splice(ready_.begin(), unclaimed_, each);
      else
        next = each;
    }
  }
  ++handlers_version_;
  wait_for_handler(lock, number);
  after_call(lock);
}

void Endpoint::wait_for_handler(Lock& lock, uint32_t number) {
  const uint64_t running = running_;
  if (running == 0 || static_cast<uint32_t>(running) != number || worker_ == std::this_thread::get_id()) return;
  while (running_ == running) changed_.wait_for(lock, std::chrono::milliseconds(1));
}

void Endpoint::deliver(std::unique_ptr<cn_message> message) noexcept {
  Notices notice = std::move(message->notice);
  notice.front().message = message.release();
  ready_.splice(ready_.end(), notice);
}

Notices Endpoint::claim() noexcept {
  Notices claimed;
  while (!ready_.empty()) {
    const auto each = ready_.begin();
    if (each->operation) {
      claimed.splice(claimed.end(), ready_, each);
      continue;
    }
    cn_message& message = *each->message;
    const auto found = handlers_.find(message.handler);
    if (found == handlers_.end()) {
      unclaimed_.splice(unclaimed_.end(), ready_, each);
    } else if (found->second.as_event) {
      message.is_kept = true;
      each->kind = CN_EVENT_MESSAGE;
      each->user = found->second.user;
      each->peer = message.peer;
      Notices event;
      event.splice(event.end(), ready_, each);
      push(event);
    } else {
      each->handler = found->second;
      claimed.splice(claimed.end(), ready_, each);
    }
  }
  return claimed;
}

size_t Endpoint::trim_unclaimed(const Peer* leaving) noexcept {
  // Those that are ready may belong there, too.
  Notices claimed = claim();
  ready_.splice(ready_.begin(), claimed);
  const auto is_left = [](const cn_message& message) {
    return !message.peer->is_connected() || message.peer->session() != message.session;
  };
  uint64_t held = 0;
  for (const Notice& each : unclaimed_)
    if (is_left(*each.message)) held += each.message->cost();
  size_t freed = 0;
  for (auto next = unclaimed_.end(); held > settings_.receive_window && next != unclaimed_.begin();) {
    const auto each = std::prev(next);
    if (!is_left(*each->message)) {
      next = each;
      continue;
    }
    held -= each->message->cost();
    if (each->message->peer == leaving) ++freed;
    delete each->message;
    unclaimed_.erase(each);
  }
  return freed;
}

void Endpoint::release(cn_message* message) {
  if (--message->owners > 0) return;
  const std::unique_ptr<cn_message> owned(message);
  const std::shared_ptr<Endpoint> keeps = owned->endpoint;
  if (is_inherited()) return;
  Lock lock = take_lock();
  if (is_closing_) return;
  Peer& peer = *owned->peer;
  if (peer.is_connected() && peer.session() == owned->session) peer.give_back(owned->cost());
  spare_memory_.put(std::move(owned->memory));
  after_call(lock);
}

// ------------------------------------------------------------------------------------------------ progress

void Endpoint::wake() {
  // The thread that works looks for what there is before it sleeps; an event loop sleeps outside of this library.
  if (is_sleeping_ || settings_.is_manual) wake_from_outside();
}

void Endpoint::wake_from_outside() {
  if (!is_awake_.exchange(true)) wake_signal_.raise();
}

void Endpoint::lower_wake_signal() {
  // In this order: a signal that is raised in between would be lost, with is_awake_ set for ever.
  wake_signal_.lower();
  is_awake_ = false;
}

bool Endpoint::run_transports(bool* lacks_memory) noexcept {
  bool did = false;
  for (const Transport& transport : transports_) {
    try {
      did |= transport.table->progress(transport.handle);
    } catch (...) {
      *lacks_memory = did = true;  // it is called again
    }
  }
  while (!working_.empty()) {
    turn_.swap(working_);
    ++turns_;
    for (Peer* const peer : turn_) peer->begin_turn(turns_);
    for (Peer* const peer : turn_) {
      peer->fill();
      peer->flush();
    }
    turn_.clear();
    did = true;
    // A peer from whose memory is copied goes on after others have had their turn.
    if (std::ranges::all_of(working_, [&](const Peer* peer) { return peer->turn() == turns_; })) break;
  }
  return did;
}

Clock::time_point Endpoint::run_timers() noexcept {
  const Clock::time_point now = Clock::now();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const OperationPointer operation = deadlines_.begin()->second.lock();
    deadlines_.erase(deadlines_.begin());
    if (operation && !operation->has_result)
      end_early(operation, CN_TIMED_OUT, "the operation took longer than its timeout");
  }
  take_lookups(now);
  const auto is_due = [&](const Awaiting& each) { return each.again_at <= now; };
  for (auto due = std::ranges::find_if(awaiting_, is_due); due != awaiting_.end();
       due = std::ranges::find_if(awaiting_, is_due)) {
    const OperationPointer operation = due->operation;
    awaiting_.erase(due);
    try_address_or_end(operation);
  }
  const auto next = [&] {
    Clock::time_point first = peers_at_;
    if (!deadlines_.empty()) first = std::min(first, deadlines_.begin()->first);
    for (const Awaiting& each : awaiting_) first = std::min(first, each.again_at);
    for (const LookingUp& each : lookups_) first = std::min(first, each.lookup ? each.gives_up : now + kAgain);
    return first;
  };
  if (now < peers_at_) return next();
  peers_at_ = now + settings_.peer_timeout / 4;
  spare_memory_.tick();
  for (auto& [name, peer] : peers_) peers_at_ = std::min(peers_at_, peer->check_life(now));
  for (auto each = connections_.begin(); each != connections_.end();) {
    Connection& connection = **each++;  // which may leave the list
    if (!connection.is_open() && connection.handshake_end() <= now && !is_awaited_stream(connection))
      connection.close(CN_UNREACHABLE, "nobody answers in time");
  }
  return next();
}

bool Endpoint::run_handler(Notice& notice, uint64_t version) noexcept {
  cn_message* const message = std::exchange(notice.message, nullptr);
  if (++calls_ == 0) ++calls_;
  // Either this thread sees that handlers have changed, or the one that has changed them sees that this one runs.
  running_ = uint64_t{calls_} << 32 | message->handler;
  const bool runs = handlers_version_ == version;
  if (runs) {
    notice.handler.function(notice.handler.user, message);
    release(message);
  } else {
    notice.message = message;
  }
  running_ = 0;
  return runs;
}

void Endpoint::run_ready(Lock& lock) noexcept {
  while (!ready_.empty()) {
    Notices claimed = claim(), done;
    const uint64_t version = handlers_version_;
    lock.unlock();
    while (!claimed.empty()) {
      Notice& next = claimed.front();
      if (next.operation) {
        const OperationPointer operation = std::move(next.operation);
        operation->ended.store(true, std::memory_order_release);
        Operation::running = operation.get();
        operation->done(operation->user, operation->status,
                        operation->status == CN_OK ? nullptr : operation->text.c_str());
        Operation::running = nullptr;
        operation->is_over.store(true, std::memory_order_release);
      } else if (!run_handler(next, version)) {
        break;
      }
      done.splice(done.end(), claimed, claimed.begin());
    }
    lock.lock();
    ready_.splice(ready_.begin(), claimed);
    spare_notices_.put(done);
    changed_.notify_all();
  }
}

void Endpoint::sleep(Lock& lock, Clock::duration longest) {
  const timespec time{std::chrono::duration_cast<std::chrono::seconds>(longest).count(),
                      static_cast<long>((longest % std::chrono::seconds(1)).count())};
  is_sleeping_ = true;
  lock.unlock();
  epoll_event event;
  epoll_pwait2(poller_.number(), &event, 1, &time, nullptr);
  lock.lock();
  is_sleeping_ = false;
}

bool Endpoint::work(Lock& lock, Clock::time_point until) noexcept {
  if (is_working_) {
    // Another thread does the work.
    changed_.wait_until(lock, std::min(until, Clock::now() + std::chrono::milliseconds(10)));
    return true;
  }
  if (is_closing_) return true;
  is_working_ = true;
  worker_ = std::this_thread::get_id();
  if (is_awake_) lower_wake_signal();
  // What peers have said is heard before they are found silent.
  bool lacks_memory = false;
  bool did = run_transports(&lacks_memory);
  timers_at_ = run_timers();
  clear_graves();
  did |= !ready_.empty();
  run_ready(lock);
  if (lacks_memory) changed_.wait_for(lock, kRest);
  const Clock::time_point now = Clock::now();
  if (did) last_work_ = now;
  if (!did && working_.empty() && ready_.empty()) {
    const Clock::duration pause = std::min(until, timers_at_) - now;
    if (now - last_work_ < settings_.busy_poll || pause <= Clock::duration::zero()) {
      // Others have their turn at the lock.
      lock.unlock();
      lock.lock();
    } else {
      sleep(lock, pause);
    }
  }
  is_working_ = false;
  worker_ = {};
  if (settings_.is_manual) changed_.notify_all();  // another thread may wait for its turn to work
  return did;
}

void Endpoint::run_thread() {
  Lock lock(mutex_);
  while (!is_closing_) {
    work(lock, Clock::time_point::max());
    let_others(lock);
  }
}

// A mutex is not fair: a thread that gives it back and takes it again at once leaves nothing to those that wait.
void Endpoint::let_others(Lock& lock) {
  if (callers_ == 0) return;
  lock.unlock();
  for (const Clock::time_point end = Clock::now() + kRoom; callers_ > 0 && Clock::now() < end;) sched_yield();
  lock.lock();
}

void Endpoint::progress(int64_t timeout_ms) {
  if (!settings_.is_manual) fail(CN_INVALID_ARGUMENT, "the endpoint has a thread for its progress");
  Lock lock = take_lock();
  require_open();
  refuse_callbacks();
  const Clock::time_point until = time_after(timeout_ms);
  do {
    if (work(lock, until)) return;
  } while (!is_closing_ && Clock::now() < until);
}

void Endpoint::refuse_callbacks() const {
  if (worker_ == std::this_thread::get_id()) fail(CN_INVALID_ARGUMENT, "a callback must not wait");
}

Clock::time_point Endpoint::time_after(int64_t timeout_ms) {
  constexpr int64_t kLongest = int64_t{1} << 40;
  return timeout_ms < 0 || timeout_ms > kLongest ? Clock::time_point::max()
                                                 : Clock::now() + std::chrono::milliseconds(timeout_ms);
}

template <class Condition>
bool Endpoint::wait_for(Lock& lock, int64_t timeout_ms, Condition&& holds) {
  const Clock::time_point until = time_after(timeout_ms);
  while (!holds()) {
    if (is_closed_) return false;
    if (Clock::now() >= until) return false;
    if (settings_.is_manual && !is_closing_)
      work(lock, until);
    else if (until == Clock::time_point::max())
      changed_.wait(lock);
    else
      changed_.wait_until(lock, until);
  }
  return true;
}

cn_status Endpoint::wait(Operation& operation, int64_t timeout_ms) {
  if (!operation.has_ended()) {
    Lock lock = take_lock();
    refuse_callbacks();
    const auto has_ended = [&] { return operation.has_ended(); };
    if (!wait_for(lock, timeout_ms, has_ended)) return set_error(CN_TIMED_OUT, "the operation goes on");
  }
  return operation.status == CN_OK ? CN_OK : set_error(operation.status, operation.text.c_str());
}

void Endpoint::say_ready(Peer& peer, uint64_t job) {
  Lock lock = take_lock();
  require_open();
  if (!peer.is_connected()) fail(CN_PEER_LOST, "the peer '%s' has left before all had joined", peer.name().c_str());
  peer.say_ready(job);
  after_call(lock);
}

bool Endpoint::wait_ready(Peer& peer, uint64_t job, int64_t timeout_ms) {
  Lock lock = take_lock();
  refuse_callbacks();
  bool is_ready = false;
  wait_for(lock, timeout_ms, [&] {
    is_ready = peer.take_ready(job);
    return is_ready || !peer.is_connected() || is_closing_;
  });
  if (!is_ready && !peer.is_connected() && !is_closing_)
    fail(CN_PEER_LOST, "the peer '%s' has left before all had joined", peer.name().c_str());
  return is_ready;
}

cn_status Endpoint::next_event(cn_event& given, int64_t timeout_ms) {
  if (given.struct_size != sizeof given)
    fail(CN_INVALID_ARGUMENT, "event: struct_size is %u, expected %zu", given.struct_size, sizeof given);
  Lock lock = take_lock();
  require_open();
  if (timeout_ms != 0) refuse_callbacks();
  if (settings_.is_manual && events_.empty() && worker_ != std::this_thread::get_id()) work(lock, Clock::now());
  const bool has_event = wait_for(lock, timeout_ms, [&] { return !events_.empty() || is_closing_; });
  require_open();
  if (!has_event) {
    return set_error(CN_TIMED_OUT, "there is no event");
  }
  if (!last_event_.empty()) spare_notices_.put(last_event_);
  last_event_.splice(last_event_.end(), events_, events_.begin());
  if (events_.empty()) event_signal_.lower();
  const Notice& event = last_event_.front();
  given.kind = event.kind;
  given.user = event.user;
  given.status = event.status;
  given.error = event.status == CN_OK ? nullptr : (event.operation ? event.operation->text : event.text).c_str();
  given.message = event.message;
  given.peer = reinterpret_cast<cn_peer*>(event.peer);
  return CN_OK;
}

void Endpoint::watch_peers(bool watch) {
  const Lock lock = take_lock();
  require_open();
  watches_peers_ = watch;
}

}  // namespace commnet
