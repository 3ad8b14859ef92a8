#include "transports/ucx/transport.h"

#include <algorithm>
#include <thread>

#include "core/notice.h"
#include "core/status.h"
#include "core/transports.h"
#include "transports/ucx/worker.h"

namespace commnet::ucx {

namespace {

// After its last work, a worker is looked at for so long before it is armed: then the other side has to wake it.
constexpr Clock::duration kAwake = std::chrono::microseconds(20);
// How long payloads under way are waited for before their connection is given up.
constexpr Clock::duration kPatience = std::chrono::milliseconds(100);
// How long the other side may take to answer a goodbye.
constexpr Clock::duration kGoodbyeTime = std::chrono::milliseconds(500);
// How often the workers are asked in a row while they have something to do.
constexpr int kRounds = 64;

// UCX opens ports on all network devices, and patches functions of the process: it is used only where it is wanted.
const Library& library_for(const cn_transport_settings& settings) {
  const std::vector<std::string> urls = split_list(settings.listen);
  if (!settings.is_named && std::ranges::none_of(urls, [](const auto& url) { return understands(kUcx, url); }))
    fail(CN_UNSUPPORTED, "UCX is used by endpoints whose transports or URLs name it");
  return library();
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
    : ucp_(library_for(settings)), host_(host), endpoint_(endpoint) {
  sockets_.add(listeners_.number(), EPOLLIN);
  poller_.add(sockets_.number(), EPOLLIN);
  poller_.add(stays_awake_.number(), EPOLLIN);
  for (const std::string& url : urls_of(settings)) listen(url);
  context_ = make_context();
}

Transport::~Transport() {
  // Those who have heard all, and the goodbye after it, close their side.
  const Clock::time_point end = Clock::now() + kGoodbyeTime + kPatience;
  for (;;) {
    for (const auto& [connection, owned] : connections_)
      if (connection->worker) ucp_.ucp_worker_progress(connection->worker);
    serve_sockets();
    end_connections();
    if (connections_.empty() || Clock::now() >= end) break;
    std::this_thread::yield();
  }
  if (connections_.empty()) {
    ucp_.ucp_cleanup(context_);
    return;
  }
  // UCX has not let go of these. It may still use them, and what they send.
  for (auto& [connection, owned] : connections_) (void)owned.release();
  for (auto& send : sends_) (void)send.release();
}

// ------------------------------------------------------------------------------------------------ ends

void Transport::note_failure(Connection& connection, const char* why) noexcept {
  if (connection.has_failed) return;
  connection.has_failed = true;
  keep_text(connection.why, why);
  failed_.add(connection);
}

void Transport::report_failure(Connection& connection) {
  if (connection.is_broken || !connection.host) return;
  connection.is_broken = true;
  host_.broken(connection.host, connection.is_open ? CN_PEER_LOST : CN_UNREACHABLE, connection.why.c_str());
}

void Transport::close_endpoint(Connection& connection) {
  if (!connection.endpoint) return;
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
  work_until(
      connection, [&] { return !connection.uses_host_memory() || connection.has_failed; }, kPatience);
  const bool is_lost = connection.has_failed || connection.uses_host_memory();
  if (connection.endpoint && !is_lost && !connection.is_told && say_goodbye(connection)) {
    connection.goodbye_end = Clock::now() + kGoodbyeTime;
  } else {
    close_endpoint(connection);
    work_until(
        connection, [&] { return !connection.uses_host_memory(); }, kPatience);
  }
  for (const auto* const list : {&sent_, &reported_})
    for (Send* const send : *list)
      if (send->connection == &connection) send->connection = nullptr;
  for (auto* const list : {&writable_, &arrived_, &failed_}) list->erase(connection);
  ending_.push_back(&connection);
  end_connections();
  flush();
}

// Closes and frees the connections that the host no longer knows, as far as it can be done now.
void Transport::end_connections() {
  for (auto each = ending_.begin(); each != ending_.end();) {
    Connection& connection = **each;
    if (connection.has_failed || connection.goodbye_end <= Clock::now()) close_endpoint(connection);
    const bool is_used = connection.is_receiving && !connection.has_received;
    if (connection.endpoint || connection.is_closing || connection.in_flight > 0 || is_used) {
      ++each;
      continue;
    }
    for (auto* const list : {&writable_, &arrived_, &failed_}) list->erase(connection);
    each = ending_.erase(each);
    remove(connection);
  }
}

template <class Condition>
void Transport::work_until(Connection& connection, Condition&& holds, Clock::duration limit) {
  const Clock::time_point end = Clock::now() + limit;
  while (!holds() && Clock::now() < end)
    if (ucp_.ucp_worker_progress(connection.worker) == 0) std::this_thread::yield();
  needs_wake_ = true;
}

bool Transport::uses(const Connection& connection, const void* begin, uint64_t size) const {
  const auto first = reinterpret_cast<uintptr_t>(begin);
  const auto meets = [&](const char* data, uint64_t bytes) {
    const auto place = reinterpret_cast<uintptr_t>(data);
    return place < first + size && first < place + bytes;
  };
  if (connection.is_receiving && !connection.has_received && meets(connection.destination, connection.receive_size))
    return true;
  return connection.borrowed > 0 && std::ranges::any_of(sends_, [&](const auto& send) {
           return send->is_borrowed && send->connection == &connection && meets(send->payload, send->size);
         });
}

void Transport::detach(Connection& connection, const void* begin, uint64_t size) {
  if (!uses(connection, begin, size)) return;
  // UCX cannot take back what it has begun, and may be reading or writing it now.
  const auto is_free = [&] { return !uses(connection, begin, size); };
  work_until(
      connection, [&] { return is_free() || connection.has_failed; }, kPatience);
  if (!is_free()) {
    note_failure(connection, "a payload under way could not be taken back");
    close_endpoint(connection);
    work_until(connection, is_free, kPatience);
  }
  flush();
}

bool Transport::has_unsent(const Connection& connection) const {
  return connection.in_flight > 0 && !connection.has_failed && !connection.is_broken;
}

// ------------------------------------------------------------------------------------------------ progress

bool Transport::progress() {
  needs_wake_ = false;
  bool did = false;
  for (int i = 0; i < kRounds; ++i) {
    bool works = false;
    for (const auto& [connection, owned] : connections_)
      if (connection->worker) works |= ucp_.ucp_worker_progress(connection->worker) > 0;
    const bool has_news = !arrived_.empty() || !failed_.empty();
    works |= report_sent() || has_news;
    arrived_.take([&](Connection& connection) {
      try {
        deliver(connection);
      } catch (...) {
        note_failure(connection, kNoMemory);
      }
    });
    failed_.take([&](Connection& connection) { report_failure(connection); });
    if (!ending_.empty()) end_connections();
    // The sockets have little to say once connections stand.
    if (!is_kept_awake_ || ++turns_ % kRounds == 0) works |= serve_sockets();
    did |= works;
    // The endpoint answers frames before more of them are looked for.
    if (!works || has_news) break;
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
  // Something has arrived meanwhile if a worker cannot be armed.
  bool is_busy = false;
  for (const auto& [connection, owned] : connections_)
    if (connection->worker) is_busy |= ucp_.ucp_worker_arm(connection->worker) == UCS_ERR_BUSY;
  keep_awake(is_busy);
}

void Transport::keep_awake(bool keep) {
  if (std::exchange(is_kept_awake_, keep) == keep) return;
  if (keep)
    stays_awake_.raise();
  else
    stays_awake_.lower();
}

}  // namespace commnet::ucx
