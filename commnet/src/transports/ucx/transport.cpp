#include "transports/ucx/transport.h"

#include <algorithm>
#include <thread>

#include "core/notice.h"
#include "core/status.h"
#include "core/transports.h"

namespace commnet::ucx {

namespace {

// After its last work, the worker is looked at for so long before it is armed: then the other side has to wake it.
constexpr Clock::duration kAwake = std::chrono::microseconds(20);
// How long payloads under way are waited for before their connection is given up, and gets and puts.
constexpr Clock::duration kPatience = std::chrono::milliseconds(100), kMovePatience = std::chrono::seconds(1);
// How long the other side may take to answer a goodbye.
constexpr Clock::duration kGoodbyeTime = std::chrono::milliseconds(500);
// How often the worker is asked in a row while it has something to do.
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

// Returns whether two ranges have a byte in common.
bool meet(const void* a, uint64_t size_a, const void* b, uint64_t size_b) {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return second < first + size_a && first < second + size_b;
}

}  // namespace

Transport::Transport(const cn_transport_host& host, cn_host_endpoint* endpoint, const cn_transport_settings& settings)
    : ucp_(library_for(settings)),
      host_(host),
      endpoint_(endpoint),
      links_(ucp_, worker_.handle(), [](Connection& user, const char* failure) {
        // One that is only offered the link can still use another one.
        if (failure && user.link_is_chosen())
          user.owner.note_failure(user, failure);
        else
          user.owner.arrived_.add(user);
      }) {
  set_handlers();
  sockets_.add(listeners_.number(), EPOLLIN);
  poller_.add(sockets_.number(), EPOLLIN);
  poller_.add(worker_.descriptor(), EPOLLIN);
  for (const std::string& url : urls_of(settings)) listen(url);
}

Transport::~Transport() {
  // Those who have heard all, and the goodbye after it, close their side.
  const Clock::time_point end = Clock::now() + kGoodbyeTime + kPatience;
  const auto has_ended = [&] { return links_.clean() && connections_.empty(); };
  while (!has_ended() && Clock::now() < end) {
    ucp_.ucp_worker_progress(worker_.handle());
    serve_sockets();
    end_connections();
    std::this_thread::yield();
  }
  if (has_ended()) {
    for (const auto& [id, region] : regions_) ucp_.ucp_mem_unmap(worker_.context(), region.memory);
    return;
  }
  // UCX has not let go of these. It may still use them, and what they send.
  worker_.abandon();
  for (auto& [number, connection] : connections_) (void)connection.release();
  for (auto& send : sends_) (void)send.release();
  for (auto& move : moves_) (void)move.release();
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
  host_.broken(connection.host, connection.is_open() ? CN_PEER_LOST : CN_UNREACHABLE, connection.why.c_str());
}

void Transport::leave_link(Connection& connection) {
  if (connection.link) links_.leave(*std::exchange(connection.link, nullptr), connection);
}

void Transport::disconnect(Connection& connection) {
  connection.host = nullptr;
  drop_arrivals(connection);
  take_back([&](const Move& move) { return move.connection == &connection; });
  // UCX cannot take back what it has begun: payloads of the host are waited for.
  const auto is_free = [&] { return !connection.uses_host_memory(); };
  work_until([&] { return is_free() || connection.has_failed; }, kPatience);
  const bool is_lost = connection.has_failed || !is_free();
  if (connection.is_open() && !is_lost && !connection.is_told && tell(connection, kGoodbye, connection.next_sent++)) {
    connection.goodbye_end = Clock::now() + kGoodbyeTime;
  } else if (connection.is_settling()) {
    connection.goodbye_end = Clock::now() + kGoodbyeTime;
  } else if (!is_free()) {
    links_.close(*connection.link);
    work_until(is_free, kPatience);
  }
  for (const auto* const list : {&sent_, &reported_})
    for (Send* const send : *list)
      if (send->connection == &connection) send->connection = nullptr;
  for (const auto* const list : {&moved_, &told_})
    for (Move* const move : *list)
      if (move->connection == &connection) move->connection = nullptr;
  for (auto* const list : {&writable_, &arrived_, &failed_}) list->erase(connection);
  ending_.push_back(&connection);
  end_connections();
  flush();
}

// Closes and frees the connections that the host no longer knows, as far as it can be done now.
void Transport::end_connections() {
  for (auto each = ending_.begin(); each != ending_.end();) {
    Connection& connection = **each;
    // What the other side sends to make a link ready needs this side's end.
    const bool is_over = connection.is_settling() ? !connection.link->is_usable() : connection.has_failed;
    if (is_over || connection.goodbye_end <= Clock::now()) leave_link(connection);
    if (connection.link || connection.is_in_use()) {
      ++each;
      continue;
    }
    for (auto* const list : {&writable_, &arrived_, &failed_, &revoking_}) list->erase(connection);
    each = ending_.erase(each);
    remove(connection);
  }
  links_.clean();
}

void Transport::work_until(const std::function<bool()>& holds, Clock::duration limit) {
  const Clock::time_point end = Clock::now() + limit;
  while (!holds() && Clock::now() < end) {
    if (ucp_.ucp_worker_progress(worker_.handle()) == 0) std::this_thread::yield();
    answer_revocations();
  }
  needs_wake_ = true;
}

bool Transport::uses(const Connection& connection, const void* begin, uint64_t size) const {
  const auto meets = [&](const char* data, uint64_t bytes) { return meet(begin, size, data, bytes); };
  if (connection.is_receiving_now() && meets(connection.destination, connection.receive_size)) return true;
  if (connection.moving > 0 && std::ranges::any_of(moves_, [&](const auto& move) {
        return move->is_begun() && move->connection == &connection && meets(move->data, move->size);
      }))
    return true;
  return connection.borrowed > 0 && std::ranges::any_of(sends_, [&](const auto& send) {
           return send->is_borrowed && send->connection == &connection && meets(send->payload, send->size);
         });
}

void Transport::detach(Connection& connection, const void* begin, uint64_t size) {
  take_back(
      [&](const Move& move) { return move.connection == &connection && meet(begin, size, move.data, move.size); });
  if (!uses(connection, begin, size)) return;
  // UCX cannot take back what it has begun, and may be reading or writing it now.
  const auto is_free = [&] { return !uses(connection, begin, size); };
  work_until([&] { return is_free() || connection.has_failed; }, connection.moving > 0 ? kMovePatience : kPatience);
  if (!is_free()) {
    note_failure(connection, "a payload under way could not be taken back");
    links_.close(*connection.link);
    work_until(is_free, kPatience);
  }
  flush();
}

bool Transport::has_unsent(const Connection& connection) const {
  return connection.in_flight > 0 && !connection.has_failed && !connection.is_broken;
}

// ------------------------------------------------------------------------------------------------ progress

bool Transport::progress() {
  needs_wake_ = false;
  // What a sleep has ended for may have come by a socket. They have little to say once connections stand.
  bool did = std::exchange(has_rested_, false) && serve_sockets();
  for (int i = 0; i < kRounds; ++i) {
    bool works = ucp_.ucp_worker_progress(worker_.handle()) > 0;
    const bool has_news = !arrived_.empty() || !failed_.empty();
    works |= report_sent() || has_news;
    works |= report_moved();
    answer_revocations();
    arrived_.take([&](Connection& connection) {
      try {
        deliver(connection);
      } catch (...) {
        note_failure(connection, kNoMemory);
      }
    });
    failed_.take([&](Connection& connection) { report_failure(connection); });
    end_connections();
    if (++turns_ % kRounds == 0) works |= serve_sockets();
    did |= works;
    // The endpoint answers frames before more of them are looked for.
    if (!works || has_news) break;
  }
  if (did) last_work_ = Clock::now();
  return did;
}

bool Transport::rest() {
  const bool has_news = !arrived_.empty() || !failed_.empty() || !sent_.empty() || !moved_.empty();
  if (has_news || Clock::now() - last_work_ < kAwake) return false;
  // Something has arrived meanwhile if the worker cannot be armed.
  has_rested_ = ucp_.ucp_worker_arm(worker_.handle()) == UCS_OK;
  return has_rested_;
}

}  // namespace commnet::ucx
