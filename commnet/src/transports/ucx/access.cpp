// Gets and puts, and how the owner of memory ends them.
#include "transports/ucx/access.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "core/poller.h"
#include "core/status.h"
#include "transports/ucx/transport.h"

namespace commnet::ucx {

namespace {

// The transports of UCX whose devices access memory by themselves, with a mark that follows their names.
constexpr std::array<std::string_view, 4> kHardware{"rc_verbs/", "rc_mlx5/", "dc_mlx5/", "ugni_rdma/"};
// What is copied by one call, and by all calls at a time: it cannot be taken back. UCX's emulation takes longer.
constexpr uint64_t kLargestMove = 4 << 20, kLargestEmulated = 256 << 10;
constexpr uint64_t kMostMoving = 16 << 20, kMostEmulated = 1 << 20;
// How long the other side may take to end its copies. One that does not run its progress does not answer.
constexpr Clock::duration kRevocationTime = std::chrono::seconds(1);
constexpr Clock::duration kClosingTime = std::chrono::milliseconds(100);

}  // namespace

AccessRule access_rule() {
  const char* const text = std::getenv("COMMNET_UCX_ACCESS");
  const std::string_view rule = text ? text : "hardware";
  if (rule == "hardware") return AccessRule::kHardware;
  if (rule == "always") return AccessRule::kAlways;
  if (rule == "never") return AccessRule::kNever;
  fail(CN_INVALID_ARGUMENT, "COMMNET_UCX_ACCESS is '%s', expected hardware, always or never", text);
}

bool names_hardware(std::string_view description) {
  return std::ranges::any_of(kHardware, [&](const auto& name) { return description.find(name) != description.npos; });
}

// ------------------------------------------------------------------------------------------------ the owner

bool Transport::reaches_memory(Connection& connection) {
  return worker_.accesses_memory() && connection.link && links_.reaches_memory(*connection.link, worker_.rule());
}

cn_status Transport::expose(Connection& connection, const cn_region& region, cn_grant& grant) {
  return guarded([&] {
    const std::string& key = map(region).key;
    if (key.size() > CN_LARGEST_KEY) fail(CN_UNSUPPORTED, "UCX has a key of %zu bytes", key.size());
    grant.number = connection.grant;
    grant.size = static_cast<uint32_t>(key.size());
    std::memcpy(grant.key, key.data(), key.size());
    connection.has_exposed = true;
  });
}

Region& Transport::map(const cn_region& region) {
  const auto [place, is_new] = regions_.try_emplace({region.id, region.rights});
  Region& mapped = place->second;
  if (!is_new) return mapped;
  const auto check = [&](ucs_status_t status) {
    if (status == UCS_OK) return;
    if (mapped.memory) ucp_.ucp_mem_unmap(worker_.context(), mapped.memory);
    regions_.erase(place);
    fail(CN_UNSUPPORTED, "UCX cannot give access to memory: %s", ucp_.ucs_status_string(status));
  };
  ucp_mem_map_params_t parameters{};
  parameters.field_mask =
      UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_PROT;
  parameters.prot = UCP_MEM_MAP_PROT_LOCAL_READ | UCP_MEM_MAP_PROT_LOCAL_WRITE;
  if ((region.rights & CN_READ) != 0) parameters.prot |= UCP_MEM_MAP_PROT_REMOTE_READ;
  if ((region.rights & CN_WRITE) != 0) parameters.prot |= UCP_MEM_MAP_PROT_REMOTE_WRITE;
  parameters.address = region.data;
  parameters.length = region.size;
  check(ucp_.ucp_mem_map(worker_.context(), &parameters, &mapped.memory));
  void* key = nullptr;
  size_t size = 0;
  check(ucp_.ucp_rkey_pack(worker_.context(), mapped.memory, &key, &size));
  try {
    mapped.key.assign(reinterpret_cast<const char*>(&region.data), sizeof region.data);
    mapped.key.append(static_cast<const char*>(key), size);
  } catch (const std::bad_alloc&) {
    ucp_.ucp_rkey_buffer_release(key);
    check(UCS_ERR_NO_MEMORY);
  }
  ucp_.ucp_rkey_buffer_release(key);
  return mapped;
}

void Transport::forget(uint64_t region) {
  std::erase_if(regions_, [&](const auto& each) {
    if (each.first.first != region) return false;
    ucp_.ucp_mem_unmap(worker_.context(), each.second.memory);
    return true;
  });
}

// All grants of a connection are revoked together.
bool Transport::revoke(Connection& connection, uint64_t) {
  if (!std::exchange(connection.has_exposed, false)) return true;
  const auto has_left = [&] { return has_ended(connection.socket.number()); };
  if (!connection.has_failed && tell(connection, kRevoke, ++connection.grant)) {
    const auto is_revoked = [&] { return connection.revoked >= connection.grant; };
    work_until([&] { return is_revoked() || connection.has_failed || has_left(); }, kRevocationTime);
    if (is_revoked()) return true;
  }
  // Devices take nothing from a link that is closed. UCX's emulation may still do so.
  links_.close(*connection.link);
  work_until([&] { return !connection.link->is_closing; }, kClosingTime);
  return has_left();
}

// ------------------------------------------------------------------------------------------------ the other side

Remote* Transport::open_remote(Connection& connection, const cn_grant& grant, uint64_t) {
  if (connection.has_failed) fail(CN_PEER_LOST, "%s", connection.why.c_str());
  auto remote = std::make_unique<Remote>();
  constexpr size_t kHead = sizeof remote->address;
  if (grant.size <= kHead || grant.size > CN_LARGEST_KEY) fail(CN_UNSUPPORTED, "a key of a wrong size");
  std::memcpy(&remote->address, grant.key, kHead);
  remote->grant = grant.number;
  // UCX believes the sizes in a key, none of which is larger than a byte says.
  std::array<uint8_t, 2 * CN_LARGEST_KEY + 64> key{};
  std::memcpy(key.data(), grant.key + kHead, grant.size - kHead);
  const ucs_status_t status = ucp_.ucp_ep_rkey_unpack(connection.link->endpoint, key.data(), &remote->key);
  if (status != UCS_OK) fail(CN_UNSUPPORTED, "UCX cannot use a key: %s", ucp_.ucs_status_string(status));
  return remote.release();
}

void Transport::close_remote(Connection&, Remote* remote) {
  remote->is_closed = true;
  free_if_unused(*remote);
}

void Transport::free_if_unused(Remote& remote) noexcept {
  if (!remote.is_closed || remote.moves > 0) return;
  ucp_.ucp_rkey_destroy(remote.key);
  delete &remote;
}

cn_status Transport::move(const Move& wanted, bool* goes_on) noexcept {
  Connection& connection = *wanted.connection;
  if (connection.has_failed || !connection.is_open()) return set_error(CN_PEER_LOST, connection.why.c_str());
  if (wanted.remote->grant < connection.other_grant) return set_error(CN_CANCELLED, "the grant was revoked");
  if (free_moves_.empty()) {
    try {
      for (auto* const list : {&free_moves_, &queued_, &moved_, &told_}) list->reserve(moves_.size() + 1);
      moves_.push_back(std::make_unique<Move>());
    } catch (const std::bad_alloc&) {
      return set_error(CN_OUT_OF_MEMORY, kNoMemory);
    }
    free_moves_.push_back(moves_.back().get());
  }
  Move& move = *free_moves_.back();
  free_moves_.pop_back();
  move = wanted;
  ++move.remote->moves;
  queued_.push_back(&move);
  *goes_on = true;
  begin_moves();
  host_.wake(endpoint_);
  return CN_OK;
}

cn_status Transport::get(Connection& connection, Remote& remote, uint64_t offset, void* to, uint64_t* size,
                         uint64_t cookie, bool* goes_on) noexcept {
  *size = std::min(*size, emulates() ? kLargestEmulated : kLargestMove);
  return move({&connection, &remote, true, offset, static_cast<char*>(to), *size, cookie}, goes_on);
}

cn_status Transport::put(Connection& connection, Remote& remote, uint64_t offset, const void* from, uint64_t* size,
                         uint64_t cookie, bool* goes_on) noexcept {
  *size = std::min(*size, emulates() ? kLargestEmulated : kLargestMove);
  char* const data = const_cast<char*>(static_cast<const char*>(from));
  return move({&connection, &remote, false, offset, data, *size, cookie}, goes_on);
}

void Transport::begin_moves() noexcept {
  size_t begun = 0;
  while (begun < queued_.size() && moving_ < (emulates() ? kMostEmulated : kMostMoving)) begin(*queued_[begun++]);
  queued_.erase(queued_.begin(), queued_.begin() + static_cast<std::ptrdiff_t>(begun));
}

void Transport::begin(Move& move) noexcept {
  Connection& connection = *move.connection;
  move.parts = 1;
  ++connection.moving;
  moving_ += move.size;
  last_work_ = Clock::now();
  const ucp_ep_h endpoint = connection.link ? connection.link->endpoint : nullptr;
  if (connection.has_failed || !endpoint) return end_part(move, UCS_ERR_CANCELED);
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  parameters.user_data = &move;
  parameters.cb.send = [](void* request, ucs_status_t status, void* own) {
    Move& ended = *static_cast<Move*>(own);
    Transport& transport = ended.connection->owner;
    transport.ucp_.ucp_request_free(request);
    transport.end_part(ended, status);
  };
  const auto note = [&](void* request) {
    if (!UCS_PTR_IS_PTR(request)) end_part(move, UCS_PTR_STATUS(request));
  };
  const uint64_t place = move.remote->address + move.offset;
  if (move.is_get) return note(ucp_.ucp_get_nbx(endpoint, move.data, move.size, place, move.remote->key, &parameters));
  // The bytes of a put are there when the endpoint is flushed.
  ++move.parts;
  note(ucp_.ucp_put_nbx(endpoint, move.data, move.size, place, move.remote->key, &parameters));
  note(ucp_.ucp_ep_flush_nbx(endpoint, &parameters));
}

void Transport::end_part(Move& move, ucs_status_t status) noexcept {
  if (status != UCS_OK && move.status == UCS_OK) move.status = status;
  if (--move.parts > 0) return;
  --move.connection->moving;
  moving_ -= move.size;
  moved_.push_back(&move);
  needs_wake_ = true;
}

void Transport::release(Move& move) noexcept {
  --move.remote->moves;
  free_if_unused(*move.remote);
  free_moves_.push_back(&move);
}

bool Transport::report_moved() {
  if (moved_.empty() || !told_.empty()) return false;
  told_.swap(moved_);
  for (Move* const move : told_) {
    Connection* const connection = move->connection;
    if (connection && connection->host && !connection->is_broken) {
      const bool is_done = move->status == UCS_OK && !move->is_taken_back;
      const cn_status status = is_done ? CN_OK : move->is_taken_back ? CN_CANCELLED : CN_PEER_LOST;
      host_.moved(connection->host, move->cookie, status, ucp_.ucs_status_string(move->status));
    }
    release(*move);
  }
  told_.clear();
  begin_moves();
  return true;
}

void Transport::take_back(const std::function<bool(const Move&)>& holds) noexcept {
  std::erase_if(queued_, [&](Move* move) {
    if (!holds(*move)) return false;
    move->is_taken_back = true;
    moved_.push_back(move);
    needs_wake_ = true;
    return true;
  });
}

void Transport::answer_revocations() noexcept {
  if (revoking_.empty()) return;
  revoking_.take([&](Connection& connection) {
    if (connection.has_failed) return;
    const auto is_old = [&](const Move& move) {
      return move.connection == &connection && move.remote->grant < connection.other_grant;
    };
    take_back(is_old);
    const bool waits = std::ranges::any_of(moves_, [&](const auto& each) { return each->is_begun() && is_old(*each); });
    if (waits)
      revoking_.add(connection);
    else if (!tell(connection, kRevoked, connection.other_grant))
      note_failure(connection, kNoMemory);
  });
}

}  // namespace commnet::ucx
