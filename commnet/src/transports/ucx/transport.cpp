#include "transports/ucx/transport.h"

#include <netdb.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cstring>

#include "core/secure.h"
#include "core/status.h"
#include "core/transports.h"
#include "transports/sockets/url.h"

namespace commnet::ucx {

namespace {

constexpr std::string_view kScheme = "ucx://";
// After its last work, the worker is looked at for so long before it is armed: then the other side has to wake it.
constexpr Clock::duration kAwake = std::chrono::microseconds(20);
// How long payloads under way are waited for before their connection is given up.
constexpr Clock::duration kPatience = std::chrono::milliseconds(100);
// How long the other side may take to answer a goodbye.
constexpr Clock::duration kGoodbyeTime = std::chrono::milliseconds(500);
// How long connections that others begin take until they are requests.
constexpr Clock::duration kSettling = std::chrono::milliseconds(20);
// How often the worker is asked in a row while it has something to do.
constexpr int kRounds = 64;

sockets::Address parse(const std::string& url) {
  if (!url.starts_with(kScheme)) fail(CN_INVALID_ARGUMENT, "'%s' must be ucx://host:port", url.c_str());
  try {
    return sockets::parse("tcp://" + url.substr(kScheme.size()));
  } catch (const Error&) {
    fail(CN_INVALID_ARGUMENT, "'%s' must be ucx://host:port, with a host that is known", url.c_str());
  }
}

std::string url_of(const sockaddr_storage& address) {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (const int code = getnameinfo(reinterpret_cast<const sockaddr*>(&address), sizeof address, host, sizeof host, port,
                                   sizeof port, NI_NUMERICHOST | NI_NUMERICSERV))
    fail(CN_SYSTEM_ERROR, "getnameinfo: %s", gai_strerror(code));
  const bool is_long = address.ss_family == AF_INET6;
  return std::string(kScheme) + (is_long ? "[" : "") + host + (is_long ? "]:" : ":") + port;
}

std::vector<std::string> urls_of(const cn_transport_settings& settings) {
  const std::string wanted = settings.listen;
  if (wanted.empty()) return {"ucx://127.0.0.1:0"};
  std::vector<std::string> urls;
  for (std::string& url : split_list(wanted))
    if (understands(kUcx, url)) urls.push_back(std::move(url));
  return urls;
}

}  // namespace

Transport::Transport(const cn_transport_host& host, cn_host_endpoint* endpoint, const cn_transport_settings& settings)
    : ucp_(library()),
      host_(host),
      endpoint_(endpoint),
      worker_(take_worker()),
      poller_(Descriptor::checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {
  try {
    open_worker();
    for (const std::string& url : urls_of(settings)) listen(url);
  } catch (...) {
    close_worker();
    throw;
  }
}

Transport::~Transport() {
  // Those who have heard all, and the goodbye after it, close their side.
  work_until(
      [&] {
        end_goodbyes();
        return connections_.empty();
      },
      kGoodbyeTime);
  for (const auto& [connection, owned] : connections_) close_endpoint(*connection);
  work_until(
      [&] {
        end_goodbyes();
        return connections_.empty();
      },
      kPatience);
  // UCX may use a listener that is destroyed for connections that it has accepted, until it has read from them.
  if (!listeners_.empty()) work_until([] { return false; }, kSettling);
  for (const auto& listener : listeners_)
    for (ucp_conn_request_h request : listener->requests) ucp_.ucp_listener_reject(listener->handle, request);
  close_worker();
}

void Transport::open_worker() {
  set_handlers();
  for (const int number : {worker_.descriptor, stays_awake_.number()}) {
    epoll_event event{EPOLLIN, {.fd = number}};
    if (epoll_ctl(poller_.number(), EPOLL_CTL_ADD, number, &event) != 0) fail_with_errno("epoll_ctl");
  }
}

void Transport::close_worker() {
  for (const auto& listener : listeners_)
    if (listener->handle) ucp_.ucp_listener_destroy(listener->handle);
  if (connections_.empty()) return keep_worker(worker_);
  // UCX has not let go of these. It may still use them, and what they send.
  for (auto& [connection, owned] : connections_) (void)owned.release();
  for (auto& send : sends_) (void)send.release();
}

void Transport::listen(const std::string& url) {
  const sockets::Address address = parse(url);
  ucp_listener_params_t parameters{};
  parameters.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
  parameters.sockaddr = {address.get(), address.size};
  listeners_.push_back(std::unique_ptr<Listener>(new Listener{*this}));
  Listener& listener = *listeners_.back();
  parameters.conn_handler.arg = &listener;
  parameters.conn_handler.cb = [](ucp_conn_request_h request, void* own) {
    static_cast<Listener*>(own)->requests.push_back(request);
  };
  if (const ucs_status_t status = ucp_.ucp_listener_create(worker_.handle, &parameters, &listener.handle);
      status != UCS_OK) {
    listener.handle = nullptr;
    fail(CN_SYSTEM_ERROR, "cannot listen at '%s': %s", url.c_str(), ucp_.ucs_status_string(status));
  }
  ucp_listener_attr_t attributes{};
  attributes.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR;
  if (const ucs_status_t status = ucp_.ucp_listener_query(listener.handle, &attributes); status != UCS_OK)
    fail(CN_SYSTEM_ERROR, "'%s': %s", url.c_str(), ucp_.ucs_status_string(status));
  address_ += (address_.empty() ? "" : ",") + url_of(attributes.sockaddr);
}

// ------------------------------------------------------------------------------------------------ connections

Connection& Transport::add(bool has_begun) {
  uint64_t id = 0;
  while (id == 0 || by_id_.contains(id)) fill_randomly({reinterpret_cast<uint8_t*>(&id), sizeof id});
  auto connection = std::unique_ptr<Connection>(new Connection{.owner = *this, .id = id, .has_begun = has_begun});
  Connection& added = *connection;
  connections_.emplace(&added, std::move(connection));
  by_id_.emplace(id, &added);
  return added;
}

void Transport::open_endpoint(Connection& connection, ucp_ep_params_t parameters) {
  parameters.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  parameters.err_handler.arg = &connection;
  parameters.err_handler.cb = [](void* own, ucp_ep_h, ucs_status_t status) {
    auto& failed = *static_cast<Connection*>(own);
    failed.owner.note_failure(failed, status);
  };
  if (const ucs_status_t status = ucp_.ucp_ep_create(worker_.handle, &parameters, &connection.endpoint);
      status != UCS_OK) {
    connection.endpoint = nullptr;
    fail(CN_UNREACHABLE, "%s", ucp_.ucs_status_string(status));
  }
  by_endpoint_.emplace(connection.endpoint, &connection);
  say_hello(connection);
  needs_wake_ = true;
}

Connection& Transport::connect(const std::string& url, cn_host_connection* host_connection) {
  const sockets::Address address = parse(url);
  Connection& connection = add(true);
  connection.host = host_connection;
  ucp_ep_params_t parameters{};
  parameters.field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS;
  parameters.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
  parameters.sockaddr = {address.get(), address.size};
  try {
    open_endpoint(connection, parameters);
  } catch (const Error& error) {
    by_id_.erase(connection.id);
    connections_.erase(&connection);
    fail(error.status(), "'%s': %s", url.c_str(), error.what());
  }
  flush();
  return connection;
}

bool Transport::take_requests() {
  bool did = false;
  for (const auto& listener : listeners_)
    for (ucp_conn_request_h request : std::exchange(listener->requests, {})) {
      take_request(*listener, request);
      did = true;
    }
  return did;
}

void Transport::take_request(const Listener& listener, ucp_conn_request_h request) {
  Connection& connection = add(false);
  connection.host =
      host_.accepted(endpoint_, reinterpret_cast<cn_transport*>(this), reinterpret_cast<cn_connection*>(&connection));
  if (!connection.host) {
    ucp_.ucp_listener_reject(listener.handle, request);
    by_id_.erase(connection.id);
    connections_.erase(&connection);
    return;
  }
  ucp_ep_params_t parameters{};
  parameters.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST;
  parameters.conn_request = request;
  try {
    open_endpoint(connection, parameters);
  } catch (const Error&) {
    note_failure(connection, UCS_ERR_CONNECTION_RESET);
  }
}

void Transport::note_failure(Connection& connection, ucs_status_t status) {
  if (connection.failure != UCS_OK) return;
  connection.failure = status;
  failed_.insert(&connection);
}

void Transport::report_failure(Connection& connection) {
  if (connection.is_broken || !connection.host) return;
  connection.is_broken = true;
  host_.broken(connection.host, connection.is_open() ? CN_PEER_LOST : CN_UNREACHABLE,
               ucp_.ucs_status_string(connection.failure));
}

void Transport::close_endpoint(Connection& connection) {
  if (!connection.endpoint) return;
  by_endpoint_.erase(connection.endpoint);
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  parameters.flags = UCP_EP_CLOSE_FLAG_FORCE;
  parameters.user_data = &connection;
  parameters.cb.send = [](void* request, ucs_status_t, void* own) {
    auto& closed = *static_cast<Connection*>(own);
    closed.is_closing = false;
    closed.owner.ucp_.ucp_request_free(request);
  };
  connection.is_closing = true;
  void* const request = ucp_.ucp_ep_close_nbx(std::exchange(connection.endpoint, nullptr), &parameters);
  if (!UCS_PTR_IS_PTR(request)) connection.is_closing = false;
}

void Transport::disconnect(Connection& connection) {
  connection.host = nullptr;
  drop_arrivals(connection);
  // UCX cannot take back what it has begun: payloads of the host are waited for.
  if (connection.failure == UCS_OK)
    work_until([&] { return !connection.uses_host_memory() || connection.failure != UCS_OK; }, kPatience);
  const bool is_lost = connection.failure != UCS_OK || connection.uses_host_memory();
  if (connection.endpoint && !is_lost && connection.is_open() && !connection.is_told) {
    say_goodbye(connection);
    connection.goodbye_end = Clock::now() + kGoodbyeTime;
  } else {
    close_endpoint(connection);
    work_until([&] { return !connection.uses_host_memory(); }, kPatience);
  }
  std::erase_if(sent_, [&](const auto& each) { return each.first == &connection; });
  for (auto* const list : {&writable_, &opened_, &arrived_, &failed_}) list->erase(&connection);
  ending_.insert(&connection);
  end_goodbyes();
  flush();
}

// Closes and frees the connections that the host no longer knows, as far as it can be done now.
void Transport::end_goodbyes() {
  for (auto each = ending_.begin(); each != ending_.end();) {
    Connection& connection = **each;
    if (connection.failure != UCS_OK || connection.goodbye_end <= Clock::now()) close_endpoint(connection);
    const bool is_used = connection.is_receiving && !connection.has_received;
    if (connection.endpoint || connection.is_closing || connection.in_flight > 0 || is_used) {
      ++each;
      continue;
    }
    for (auto* const list : {&writable_, &opened_, &arrived_, &failed_}) list->erase(&connection);
    by_id_.erase(connection.id);
    each = ending_.erase(each);
    connections_.erase(&connection);
  }
}

template <class Condition>
void Transport::work_until(Condition&& holds, Clock::duration limit) {
  const Clock::time_point end = Clock::now() + limit;
  while (!holds() && Clock::now() < end)
    if (ucp_.ucp_worker_progress(worker_.handle) == 0) std::this_thread::yield();
  needs_wake_ = true;
}

bool Connection::uses(const void* begin, uint64_t size) const {
  const auto first = reinterpret_cast<uintptr_t>(begin);
  const auto meets = [&](const char* data, uint64_t bytes) {
    const auto place = reinterpret_cast<uintptr_t>(data);
    return place < first + size && first < place + bytes;
  };
  if (is_receiving && !has_received && meets(destination, receive_size)) return true;
  return std::ranges::any_of(borrowed, [&](const Send* send) { return meets(send->payload, send->size); });
}

void Transport::detach(Connection& connection, const void* begin, uint64_t size) {
  if (!connection.uses(begin, size)) return;
  // UCX cannot take back what it has begun, and may be reading or writing it now.
  const auto is_free = [&] { return !connection.uses(begin, size); };
  work_until([&] { return is_free() || connection.failure != UCS_OK; }, kPatience);
  if (!is_free()) {
    note_failure(connection, UCS_ERR_TIMED_OUT);
    close_endpoint(connection);
    work_until(is_free, kPatience);
  }
  flush();
}

// ------------------------------------------------------------------------------------------------ progress

bool Transport::progress() {
  needs_wake_ = false;
  bool did = false;
  for (int i = 0; i < kRounds; ++i) {
    bool works = ucp_.ucp_worker_progress(worker_.handle) > 0;
    works |= take_requests();
    works |= !opened_.empty() || !arrived_.empty() || !failed_.empty();
    for (Connection* const each : std::exchange(opened_, {}))
      if (each->host && each->has_begun) host_.connected(each->host);
    works |= report_sent();
    for (Connection* const each : std::exchange(arrived_, {})) deliver(*each);
    for (Connection* const each : std::exchange(failed_, {})) report_failure(*each);
    if (!ending_.empty()) end_goodbyes();
    if (!works) break;
    did = true;
  }
  if (did)
    last_work_ = Clock::now();
  else
    rest();
  return did;
}

// Prepares the endpoint's sleep.
void Transport::rest() {
  if (Clock::now() - last_work_ < kAwake) return keep_awake(true);
  // Something has arrived meanwhile if the worker cannot be armed.
  keep_awake(ucp_.ucp_worker_arm(worker_.handle) != UCS_OK);
}

void Transport::keep_awake(bool keep) {
  if (std::exchange(is_kept_awake_, keep) == keep) return;
  if (keep)
    stays_awake_.raise();
  else
    stays_awake_.lower();
}

}  // namespace commnet::ucx
