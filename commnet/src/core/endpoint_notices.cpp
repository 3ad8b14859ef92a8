// The ends of operations, and the events of endpoints.
#include <algorithm>
#include <cstdio>

#include "core/endpoint.h"
#include "core/status.h"

namespace commnet {

void Endpoint::finish(const OperationPointer& operation, cn_status status, std::string_view text) noexcept {
  if (operation->has_result) return;
  operation->has_result = true;
  operation->status = status;
  operation->remote = nullptr;
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

void Endpoint::watch_peers(bool watch) {
  const Lock lock = take_lock();
  require_open();
  watches_peers_ = watch;
}

}  // namespace commnet
