#include "parallel/processes/operation.h"

#include <algorithm>
#include <cstring>

#include "parallel/processes/engine.h"

namespace oneflow::processes {

Operation::Operation(Engine& engine, const Group& group, uint64_t lane, Described described, Body body)
    : engine(engine),
      lane(lane),
      described(std::move(described)),
      group_(group),
      position_(group.position_of(engine.rank()).value()),
      body_(std::move(body)) {}

void Operation::start() {
  task_ = body_(*this);
  task_.start();
  if (task_.is_done()) task_.rethrow();
}

void Operation::resume() {
  std::exchange(waiting_, {}).resume();
  if (task_.is_done()) task_.rethrow();
}

void Operation::stop() {
  waiting_ = {};
  task_ = {};
  // The memory of transfers that are under way lives on with them.
  for (Transfers* const list : {&fetches_, &offers_}) {
    for (Transfer* const each : *list) {
      each->operation = nullptr;
      engine.withdraw(*each);
    }
    list->clear();
  }
  inbox.clear();
}

std::optional<uint32_t> Operation::awaited_rank() const {
  if (!waiting_ || is_met()) return {};
  if (awaited_) return awaited_;
  if (!looked_at_) return transfers_->front()->rank;
  return looked_at_->ranks->size() == 1 ? std::optional(looked_at_->ranks->front()) : std::nullopt;
}

bool Operation::is_met() const {
  return awaited_ ? has_message(*awaited_) : looked_at_ ? looked_at_->was_true : transfers_->empty();
}

void Operation::look() {
  if (!is_looking()) return;
  for (const uint32_t rank : *looked_at_->ranks) engine.check_not_lost(rank);
  looked_at_->was_true = (*looked_at_->condition)();
}

void Operation::suspend(std::coroutine_handle<> handle, std::optional<uint32_t> rank, const Transfers* transfers) {
  waiting_ = handle;
  awaited_ = rank;
  transfers_ = transfers;
  looked_at_ = nullptr;
  engine.check_awaited(*this);
}

void Operation::suspend(std::coroutine_handle<> handle, LookedAt& awaited) {
  waiting_ = handle;
  awaited_.reset();
  looked_at_ = &awaited;
  engine.look_at(*this);
}

bool Operation::has_message(uint32_t rank) const {
  return std::any_of(inbox.begin(), inbox.end(), [&](const Message& each) { return each.rank == rank; });
}

Message Operation::pop_message(uint32_t rank) {
  const auto found = std::find_if(inbox.begin(), inbox.end(), [&](const Message& each) { return each.rank == rank; });
  Message message = std::move(*found);
  inbox.erase(found);
  engine.note_taken(message);
  return message;
}

Envelope Operation::envelope(MessageKind kind, size_t size, int64_t extent) const {
  return {lane, described.hash(), sequence, kind, extent, size};
}

void Operation::send_message(uint32_t to, const void* data, size_t size, int64_t extent) {
  engine.post(group_.ranks()[to], envelope(MessageKind::kData, size, extent), data, size);
}

// Lists a transfer, and begins it.
template <class Begin>
void Operation::transfer(Transfers& list, uint32_t rank, const Tensor& memory, Begin&& begin) {
  list.push_back(new Transfer{this, rank, TensorRef::share(const_cast<Tensor*>(&memory))});
  Transfer* const added = list.back();
  try {
    begin(*added);
  } catch (...) {
    std::erase(list, added);
    delete added;
    throw;
  }
}

void Operation::send(uint32_t to, const Tensor& memory, const void* data, size_t size, int64_t extent) {
  const uint32_t rank = group_.ranks()[to];
  if (engine.prefers_message(rank, size)) return send_message(to, data, size, extent);
  of_communicator_key key;
  transfer(offers_, rank, memory, [&](Transfer& added) { engine.offer(added, data, size, &key); });
  engine.post(rank, envelope(MessageKind::kOffer, size, extent), key.bytes, sizeof key.bytes);
}

void Operation::take(const Message& message, const Tensor& memory, void* data, size_t size) {
  if (message.envelope.size != size)
    fail(OF_INTERNAL_ERROR, "rank %u has sent %llu bytes, expected %zu", message.rank,
         static_cast<unsigned long long>(message.envelope.size), size);
  if (message.envelope.kind == MessageKind::kData) {
    if (size > 0) std::memcpy(data, message.bytes.get(), size);
    return;
  }
  of_communicator_key key;
  std::memcpy(key.bytes, message.bytes.get(), sizeof key.bytes);
  transfer(fetches_, message.rank, memory, [&](Transfer& added) { engine.fetch(added, key, data, size); });
}

void Operation::note_ended(Transfer& transfer) {
  std::erase(fetches_, &transfer);
  std::erase(offers_, &transfer);
}

}  // namespace oneflow::processes
