// How endpoints find and connect others.
#include <algorithm>

#include "core/endpoint.h"
#include "core/status.h"
#include "core/transports.h"

namespace commnet {

namespace {

// The most connections of others whose handshake is not complete.
constexpr std::ptrdiff_t kMostStrangers = 256;

}  // namespace

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

void Endpoint::try_address_or_end(const OperationPointer& operation) noexcept {
  try {
    try_address(operation);
  } catch (...) {
    finish(operation, set_error_of_exception(), cn_error());
  }
}

void Endpoint::look_up(LookingUp& looking_up) {
  const auto wake = [endpoint = weak_from_this()] {
    if (const auto there = endpoint.lock()) there->wake_from_outside();
  };
  looking_up.lookup = Lookup::begin(looking_up.url, wake);
  // Otherwise, when others have ended.
  const Clock::time_point next = looking_up.lookup ? looking_up.gives_up : Clock::now() + kAgain;
  check_timers_at(next);
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
  if (!first.table().has_streams) return;
  for (uint32_t stream = 1; stream < settings_.streams; ++stream)
    begin_connection(*static_cast<const Transport*>(first.transport()), first.url(), nullptr, stream, peer.link());
}

void Endpoint::connect_failed(const OperationPointer& operation, cn_status status, const std::string& text) noexcept {
  keep_text(operation->why, text);
  if (status == CN_UNREACHABLE || status == CN_PEER_LOST || status == CN_SYSTEM_ERROR) {
    if (!operation->addresses.empty()) return try_address_or_end(operation);
    status = CN_UNREACHABLE;
  }
  finish(operation, status, text);
}

void Endpoint::await(Peer& peer, const OperationPointer& operation) {
  const Clock::time_point now = Clock::now();
  if (operation->gives_up == Clock::time_point::max()) operation->gives_up = now + settings_.peer_timeout;
  if (now >= operation->gives_up) return finish(operation, CN_UNREACHABLE, operation->why);
  awaiting_.push_back({&peer, operation, now + kAgain});
  check_timers_at(now + kAgain);
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

void Endpoint::drop_oldest_stranger() noexcept {
  const auto is_stranger = [](const auto& each) { return each->is_of_stranger(); };
  if (std::ranges::count_if(connections_, is_stranger) < kMostStrangers) return;
  (*std::ranges::find_if(connections_, is_stranger))->close(CN_DENIED, "too many do not complete the handshake");
}

void Endpoint::bury(Connection& connection) noexcept {
  const auto found = std::ranges::find_if(connections_, [&](const auto& each) { return each.get() == &connection; });
  if (found != connections_.end()) graves_.splice(graves_.end(), connections_, found);
  wake();
}

void Endpoint::clear_graves() noexcept {
  for (const auto& each : graves_)
    if (each->handle()) each->table().disconnect(each->handle());
  graves_.clear();
}

}  // namespace commnet
