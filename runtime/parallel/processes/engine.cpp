#include "parallel/processes/engine.h"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/interrupt.h"

namespace oneflow::processes {

namespace {

// For how long a thread that waits looks for messages before it sleeps.
constexpr Clock::duration kSpin = std::chrono::microseconds(60);
// Likewise where the communicator has no descriptor: the nap of one thread must not let the one that it answers sleep,
// too.
constexpr Clock::duration kLongSpin = std::chrono::milliseconds(1);
// How often it looks between two looks at the clock.
constexpr unsigned kLooks = 8;
// How long a thread sleeps at most: it then looks for interrupts, and whether a deadline is over.
constexpr Clock::duration kNap = std::chrono::milliseconds(50);
// The nap where the communicator has no descriptor.
constexpr Clock::duration kShortestNap = std::chrono::microseconds(50), kLongestNap = std::chrono::milliseconds(2);
// After a thread has waited, the thread of the engine leaves the work to the next one that waits, for so long.
constexpr Clock::duration kHoldOff = std::chrono::milliseconds(2);
// The most bytes of messages that a rank has not taken. Further ones are offered, for which the operation waits.
constexpr uint64_t kMostUnacknowledged = 2 << 20;
// Messages of fewer bytes are never offered for their size.
constexpr size_t kAlwaysSent = 4 << 10;
// How many bytes are taken before their sender is told.
constexpr uint64_t kCredit = 256 << 10;
// How many completed calls of a lane are known by their text.
constexpr size_t kCompleted = 8;
// How long a rank waits for what another one says that it calls, and whether it takes part.
constexpr Clock::duration kDisputeTime = std::chrono::seconds(5), kAnswerTime = std::chrono::seconds(1);

constexpr const char* kLeft = "the job was left";

}  // namespace

Engine::Engine(const of_communicator_table& table, of_communicator_options options, Clock::duration timeout)
    : table_(table), rank_(options.rank), size_(options.size), timeout_(timeout), others_(options.size) {
  options.struct_size = sizeof options;
  options.context = this;
  options.fail = set_device_error;
  options.arrived = [](void* self, uint32_t rank, const void* data, size_t size) {
    auto& engine = *static_cast<Engine*>(self);
    try {
      engine.arrived(rank, data, size);
    } catch (const std::bad_alloc&) {
      engine.lost(rank, "there is no memory for its messages");
    }
  };
  options.ended = [](void* self, void* transfer, of_status status, const char* text) {
    static_cast<Engine*>(self)->ended(*static_cast<Transfer*>(transfer), status, text);
  };
  options.lost = [](void* self, uint32_t rank, const char* text) { static_cast<Engine*>(self)->lost(rank, text); };
  wake_descriptor_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_descriptor_ < 0) fail(OF_COMMUNICATION_ERROR, "eventfd: %s", std::strerror(errno));
  const of_status status = table_.open(&options, &self_);
  if (status != OF_OK) {
    ::close(wake_descriptor_);
    check(status);
  }
  if (table_.is_bound_to_thread(self_)) {
    only_thread_ = std::this_thread::get_id();
  } else {
    thread_ = std::thread([this] { run_thread(); });
  }
}

Engine::~Engine() { close(); }

void Engine::close() {
  {
    Lock lock(mutex_);
    if (is_closing_.exchange(true)) return;
    rest_.notify_one();
    changed_.notify_all();
    wake();
    changed_.wait(lock, [&] { return !is_worked_; });
  }
  if (thread_.joinable()) thread_.join();
  take_submitted();
  for (auto& [number, lane] : lanes_) {
    // Other ranks may have submitted work for an operation that this one has begun.
    if (!lane.operations.empty()) device_groups_.fail(number, kLeft);
    while (!lane.operations.empty()) finish(*lane.operations.front(), Error(OF_COMMUNICATION_ERROR, kLeft));
  }
  for (const Clock::time_point end = Clock::now() + timeout_;
       Clock::now() < end && device_groups_.have_work(Clock::now());)
    if (!table_.progress(self_)) std::this_thread::sleep_for(kShortestNap);
  device_groups_.close();
  table_.close(self_);
  ::close(wake_descriptor_);
}

// ---------------------------------------------------------------- waiting and working

void Engine::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_descriptor_, &one, sizeof one);
}

void Engine::check_thread() const {
  if (is_bound_to_thread() && only_thread_ != std::this_thread::get_id())
    fail(OF_UNSUPPORTED,
         "only the thread that has joined the job may call collectives: communicator '%s' is bound to it", table_.name);
}

void Engine::submit(Ref<Operation> operation) {
  check_thread();
  const Lock lock(mutex_);
  if (is_closing_) fail(OF_COMMUNICATION_ERROR, kLeft);
  submitted_.push_back(std::move(operation));
  has_submitted_ = true;
  if (asleep_ > 0) wake();
}

void Engine::start(Ref<Operation> operation) {
  submit(std::move(operation));
  rest_.notify_one();
}

bool Engine::set_on_done(Operation& operation, std::function<void()> function) {
  if (is_bound_to_thread()) wait_until_done(operation);  // no other thread would go on with it
  const Lock lock(mutex_);
  if (operation.state == Operation::State::kDone) return false;
  operation.on_done = std::move(function);
  return true;
}

void Engine::wait(Operation& operation) {
  wait_until_done(operation);
  if (operation.failure) throw *operation.failure;
}

void Engine::wait_until_done(Operation& operation) {
  check_thread();
  Lock lock(mutex_);
  if (worker_ == std::this_thread::get_id())
    fail(OF_INVALID_ARGUMENT, "a function that is called during a collective must not wait for another one");
  while (operation.state != Operation::State::kDone) {
    throw_if_interrupted();
    if (is_closing_) fail(OF_COMMUNICATION_ERROR, kLeft);
    if (is_worked_) {
      ++waiting_;
      changed_.wait_for(lock, kNap);
      --waiting_;
      continue;
    }
    {
      const Working role(*this, lock);
      work(&operation);
    }
    last_wait_ = Clock::now();
  }
}

Engine::Working::Working(Engine& engine, Lock& lock) : engine_(engine), lock_(lock) {
  engine.is_worked_ = true;
  engine.worker_ = std::this_thread::get_id();
  lock.unlock();
}

Engine::Working::~Working() {
  lock_.lock();
  engine_.is_worked_ = false;
  engine_.worker_ = {};
  if (engine_.waiting_ > 0 || engine_.is_closing_) engine_.changed_.notify_all();
}

// Works until an operation is done or the thread is interrupted; without one, while there is work and no thread waits.
// Returns whether there was any work.
bool Engine::work(const Operation* awaited) {
  bool did = false, has_slept = false;
  const Clock::duration spin = awaited && !has_descriptor() ? kLongSpin : kSpin;
  Clock::time_point idle_since{};
  Clock::duration nap = kShortestNap;
  for (unsigned looks = 0;;) {
    if (is_closing_ || (awaited ? awaited->state == Operation::State::kDone : waiting_ > 0)) return did;
    if (work_once()) {
      did = true;
      has_slept = false;
      looks = 0;
      nap = kShortestNap;
      continue;
    }
    // One look is enough after a sleep.
    const bool spins = awaited ? !has_slept : did;
    if (spins && ++looks % kLooks != 0) continue;
    const Clock::time_point now = Clock::now();
    if (looks == kLooks) idle_since = now;
    if (spins && now - idle_since < spin) {
      sched_yield();  // who would send may want the processor
      continue;
    }
    check_deadlines(now);
    if (!awaited || is_interrupted()) return did;
    sleep(may_sleep() ? kNap : std::exchange(nap, std::min(nap * 2, kLongestNap)));
    has_slept = true;
  }
}

bool Engine::work_once() {
  bool did = false;
  if (has_submitted_.load(std::memory_order_acquire)) {
    take_submitted();
    did = true;
  }
  while (!idle_lanes_.empty()) {
    const uint64_t number = idle_lanes_.back();
    idle_lanes_.pop_back();
    begin_next(lanes_[number]);
    did = true;
  }
  did |= table_.progress(self_);
  did |= device_peers_.answer();
  if (!looked_at_.empty()) look_at_conditions();
  while (!failed_.empty()) {
    const auto [operation, error] = std::move(failed_.back());
    failed_.pop_back();
    if (operation->state == Operation::State::kRunning) abort(*operation, error);
    did = true;
  }
  while (!ready_.empty()) {
    const Ref<Operation> operation = std::move(ready_.back());
    ready_.pop_back();
    if (operation->is_ready()) run(*operation, &Operation::resume);
    did = true;
  }
  return did;
}

void Engine::look_at_conditions() {
  std::erase_if(looked_at_, [&](const Ref<Operation>& each) {
    try {
      each->look();
    } catch (const Error& error) {
      failed_.emplace_back(each, error);
      return true;
    }
    if (!each->is_ready()) return !each->is_looking();
    ready_.push_back(each);
    return true;
  });
}

// Sleeps until there is work, but not for longer than a duration.
void Engine::sleep(Clock::duration longest) {
  pollfd descriptors[] = {{wake_descriptor_, POLLIN, 0}, {table_.descriptor(self_), POLLIN, 0}};
  ++asleep_;
  // Who submits an operation either sees that the worker sleeps, or is seen here.
  if (!has_submitted_) {
    const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(longest).count();
    const timespec timeout = {time / 1'000'000'000, time % 1'000'000'000};
    ppoll(descriptors, descriptors[1].fd < 0 ? 1 : 2, &timeout, nullptr);
  }
  --asleep_;
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(wake_descriptor_, &count, sizeof count);
}

void Engine::run_thread() {
  Lock lock(mutex_);
  // Without a descriptor, the thread looks less and less often for what others do.
  Clock::duration nap = kShortestNap;
  while (!is_closing_) {
    const bool leaves_it = running_ == 0 && !has_submitted_ && Clock::now() - last_wait_ < kHoldOff;
    if (is_worked_ || waiting_ > 0 || leaves_it) {
      nap = kShortestNap;
      rest_.wait_for(lock, !is_worked_ ? kHoldOff : has_descriptor() ? kNap : kNap / 5);
      continue;
    }
    bool did = false, sleeps_long = false;
    {
      const Working role(*this, lock);
      did = work(nullptr);
      sleeps_long = may_sleep();
    }
    if (is_closing_ || waiting_ > 0) continue;
    lock.unlock();
    nap = did ? kShortestNap : std::min(nap * 2, running_ > 0 ? kLongestNap : kNap);
    sleep(sleeps_long ? kNap : nap);
    lock.lock();
  }
}

// ---------------------------------------------------------------- operations

void Engine::take_submitted() {
  {
    const Lock lock(mutex_);
    taken_.swap(submitted_);
    has_submitted_ = false;
  }
  for (Ref<Operation>& each : taken_) {
    const uint64_t number = each->lane;
    Lane& lane = lanes_[number];
    lane.operations.push_back(std::move(each));
    ++running_;
    if (lane.operations.size() == 1) idle_lanes_.push_back(number);
  }
  taken_.clear();
}

void Engine::begin_next(Lane& lane) {
  if (lane.operations.empty() || lane.operations.front()->state != Operation::State::kQueued) return;
  Operation& operation = *lane.operations.front();
  operation.sequence = lane.next++;
  operation.state = Operation::State::kRunning;
  operation.deadline = Clock::now() + timeout_;
  begun_.push_back(&operation);
  if (!lane.out_of_step.empty()) return abort(operation, Error(OF_COMMUNICATION_ERROR, lane.out_of_step));
  const Ref<Operation> kept = lane.operations.front();
  if (const auto early = lane.early.extract(operation.sequence))
    for (Message& each : early.mapped())
      if (operation.state == Operation::State::kRunning) deliver(operation, std::move(each));
  if (operation.state == Operation::State::kRunning && !operation.is_disputed) run(operation, &Operation::start);
}

// Runs a part of an operation's body. The thread may wait for another operation, and an interrupt ends waits alone.
void Engine::run(Operation& operation, void (Operation::*part)()) {
  const Uninterrupted scope;
  const Ref<Operation> kept = Ref<Operation>::share(&operation);
  try {
    (operation.*part)();
    if (operation.is_complete()) finish(operation, {});
  } catch (const Error& error) {
    abort(operation, error);
  } catch (const std::exception& error) {
    abort(operation, Error(OF_OUT_OF_MEMORY, error.what()));
  }
}

void Engine::finish(Operation& operation, std::optional<Error> failure) {
  Lane& lane = lanes_[operation.lane];
  operation.stop();
  std::erase(begun_, &operation);
  if (!failure) {
    lane.completed.push_back({operation.sequence, operation.described});
    if (lane.completed.size() > kCompleted) lane.completed.pop_front();
  }
  const Ref<Operation> kept = std::move(lane.operations.front());
  lane.operations.pop_front();
  --running_;
  idle_lanes_.push_back(operation.lane);
  std::function<void()> on_done;
  {
    const Lock lock(mutex_);
    operation.failure = std::move(failure);
    operation.state = Operation::State::kDone;
    on_done = std::move(operation.on_done);
  }
  if (waiting_ > 0) changed_.notify_all();
  if (on_done) on_done();
}

// Ends an operation that has failed here, and tells the other ranks.
void Engine::abort(Operation& operation, const Error& error) {
  tell(operation, MessageKind::kAbort, error.text());
  finish(operation, error);
}

void Engine::tell(const Operation& operation, MessageKind kind, const std::string& text) {
  const Envelope envelope{operation.lane, operation.described.hash(), operation.sequence, kind, 0, text.size()};
  for (const uint32_t rank : operation.group().ranks()) {
    if (rank != rank_) try_post(rank, envelope, text.data(), text.size());
  }
}

void Engine::check_deadlines(Clock::time_point now) {
  for (size_t i = 0; i < begun_.size(); ++i) {
    Operation& operation = *begun_[i];
    if (operation.deadline > now) continue;
    if (operation.is_disputed || operation.absent) {
      abort(operation, Error(OF_COMMUNICATION_ERROR, overdue_text(operation)));
      i = 0;
      continue;
    }
    // The rank that this one waits for may wait for another one itself.
    operation.deadline = now + kAnswerTime;
    operation.absent.emplace();
    for (const uint32_t rank : operation.group().ranks())
      if (rank != rank_) operation.absent->push_back(rank);
    tell(operation, MessageKind::kOverdue, operation.described.text());
  }
  device_groups_.check(now);
}

// Returns why an operation has not ended in time.
std::string Engine::overdue_text(const Operation& operation) const {
  if (operation.is_disputed) return "another rank calls something else, and does not say what";
  const auto seconds = std::chrono::duration<double>(timeout_).count();
  const std::vector<uint32_t>& absent = *operation.absent;
  if (absent.empty()) {
    const auto rank = operation.awaited_rank();
    return format_text("all ranks take part, but what rank %u sends has not come within %g seconds",
                       rank.value_or(rank_), seconds);
  }
  std::string ranks = absent.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < absent.size(); ++i)
    ranks += (i == 0 ? "" : i + 1 < absent.size() ? ", " : " and ") + std::to_string(absent[i]);
  return format_text("%s %s not taken part within %g seconds", ranks.c_str(), absent.size() == 1 ? "has" : "have",
                     seconds);
}

void Engine::check_awaited(const Operation& operation) const {
  if (const auto rank = operation.awaited_rank()) check_not_lost(*rank);
}

void Engine::check_not_lost(uint32_t rank) const {
  if (others_[rank].lost) fail(OF_COMMUNICATION_ERROR, "rank %u is lost: %s", rank, others_[rank].lost->c_str());
}

// ---------------------------------------------------------------- messages

// Throws what the communicator says of a call that is about a rank.
void Engine::check_peer(uint32_t rank, of_status status) const {
  if (status == OF_OK) return;
  const std::string text = device_error();
  check_not_lost(rank);
  fail(status, "rank %u: %s", rank, text.c_str());
}

void Engine::post(uint32_t rank, const Envelope& envelope, const void* data, size_t size) {
  Other& other = others_[rank];
  check_not_lost(rank);
  if (draft_.size() < sizeof envelope + size) draft_.resize(sizeof envelope + size);
  std::memcpy(draft_.data(), &envelope, sizeof envelope);
  if (size > 0) std::memcpy(draft_.data() + sizeof envelope, data, size);
  check_peer(rank, table_.post(self_, rank, draft_.data(), sizeof envelope + size));
  if (envelope.kind == MessageKind::kData) other.unacknowledged += size;
}

void Engine::try_post(uint32_t rank, const Envelope& envelope, const void* data, size_t size) {
  if (others_[rank].lost) return;
  try {
    post(rank, envelope, data, size);
  } catch (const Error&) {
    clear_device_error();
  }
}

bool Engine::prefers_message(uint32_t rank, size_t size) const {
  return others_[rank].unacknowledged + size <= kMostUnacknowledged &&
         (size < kAlwaysSent || size < table_.offer_from(self_, rank));
}

void Engine::offer(Transfer& transfer, const void* data, size_t size, of_communicator_key* key) {
  check_peer(transfer.rank, table_.offer(self_, transfer.rank, data, size, &transfer, key));
}

void Engine::fetch(Transfer& transfer, const of_communicator_key& key, void* data, size_t size) {
  check_peer(transfer.rank, table_.fetch(self_, transfer.rank, &key, data, size, &transfer));
}

void Engine::note_taken(const Message& message) {
  if (message.envelope.kind != MessageKind::kData) return;
  Other& other = others_[message.rank];
  other.untold += message.count;
  if (other.untold < kCredit) return;
  const Envelope credit{message.envelope.lane, 0, 0, MessageKind::kCredit, 0, std::exchange(other.untold, 0)};
  try_post(message.rank, credit, nullptr, 0);
}

void Engine::arrived(uint32_t rank, const void* data, size_t size) {
  if (size < sizeof(Envelope)) return;
  Message message{rank, {}, nullptr, size - sizeof(Envelope)};
  std::memcpy(&message.envelope, data, sizeof(Envelope));
  const Envelope& envelope = message.envelope;
  if (envelope.kind == MessageKind::kCredit) {
    others_[rank].unacknowledged -= std::min(others_[rank].unacknowledged, envelope.size);
    return;
  }
  if (message.count > 0) {
    message.bytes = std::make_unique_for_overwrite<std::byte[]>(message.count);
    std::memcpy(message.bytes.get(), static_cast<const std::byte*>(data) + sizeof(Envelope), message.count);
  }
  if (envelope.kind == MessageKind::kAsk || envelope.kind == MessageKind::kAnswer) return device_peers_.take(message);
  if (envelope.kind == MessageKind::kBroken || envelope.kind == MessageKind::kClosed)
    return device_groups_.take(message);
  Lane& lane = lanes_[envelope.lane];
  Operation* const current = lane.operations.empty() ? nullptr : lane.operations.front().get();
  if (current && current->state == Operation::State::kRunning && current->sequence == envelope.sequence)
    return deliver(*current, std::move(message));
  const int32_t ahead = static_cast<int32_t>(envelope.sequence - lane.next);
  if (ahead >= 0) {
    lane.early[envelope.sequence].push_back(std::move(message));
  } else {
    take_late(lane, message);
  }
}

// A message for an operation that is over.
void Engine::take_late(Lane& lane, const Message& message) {
  note_taken(message);
  const bool is_overdue = message.envelope.kind == MessageKind::kOverdue;
  if (!is_overdue && message.envelope.kind != MessageKind::kDispute) return;
  for (const Completed& each : lane.completed) {
    if (each.sequence != message.envelope.sequence) continue;
    if (each.described.hash() == message.envelope.call) {
      if (is_overdue) answer_present(message);
      return;
    }
    // This rank was content with what it got, the others were not.
    const std::string own = each.described.text();
    lane.out_of_step =
        format_text("the ranks are out of step since call %u: rank %u calls %s, rank %u calls %s", each.sequence,
                    message.rank, std::string(message.text()).c_str(), rank_, own.c_str());
    const Envelope answer{
        message.envelope.lane, each.described.hash(), each.sequence, MessageKind::kPassed, 0, own.size()};
    try_post(message.rank, answer, own.data(), own.size());
    if (!lane.operations.empty() && lane.operations.front()->state == Operation::State::kRunning)
      abort(*lane.operations.front(), Error(OF_COMMUNICATION_ERROR, lane.out_of_step));
    return;
  }
}

void Engine::deliver(Operation& operation, Message message) {
  switch (message.envelope.kind) {
    case MessageKind::kAbort:
      note_taken(message);
      return finish(operation, Error(OF_COMMUNICATION_ERROR, format_text("rank %u has failed: %s", message.rank,
                                                                         std::string(message.text()).c_str())));
    case MessageKind::kDispute:
    case MessageKind::kPassed:
      return take_dispute(operation, message);
    default:
      break;
  }
  if (message.envelope.call != operation.described.hash()) {
    note_taken(message);
    return dispute(operation);
  }
  switch (message.envelope.kind) {
    case MessageKind::kOverdue:
      return answer_present(message);
    case MessageKind::kPresent:
      if (operation.absent) std::erase(*operation.absent, message.rank);
      return;
    default:
      break;
  }
  operation.inbox.push_back(std::move(message));
  if (operation.is_ready()) ready_.push_back(Ref<Operation>::share(&operation));
}

// Answers to a rank whose deadline is over.
void Engine::answer_present(const Message& question) {
  Envelope answer = question.envelope;
  answer.kind = MessageKind::kPresent;
  answer.size = 0;
  try_post(question.rank, answer, nullptr, 0);
}

// Tells all ranks what this one calls, as another one calls something else.
void Engine::dispute(Operation& operation) {
  if (std::exchange(operation.is_disputed, true)) return;
  operation.deadline = std::min(operation.deadline, Clock::now() + kDisputeTime);
  tell(operation, MessageKind::kDispute, operation.described.text());
}

void Engine::take_dispute(Operation& operation, const Message& message) {
  dispute(operation);
  if (message.envelope.call == operation.described.hash()) return;  // it finds what this rank does
  const std::string text =
      format_text("the ranks differ at call %u of group %s: rank %u calls %s, rank %u calls %s", operation.sequence,
                  operation.group().text().c_str(), rank_, operation.described.text().c_str(), message.rank,
                  std::string(message.text()).c_str());
  if (message.envelope.kind == MessageKind::kPassed)
    lanes_[operation.lane].out_of_step = "the ranks are out of step: " + text;
  finish(operation, Error(OF_COMMUNICATION_ERROR, text));
}

void Engine::ended(Transfer& transfer, of_status status, const char* text) {
  const std::unique_ptr<Transfer> owned(&transfer);
  Operation* const operation = transfer.operation;
  if (!operation) return;
  operation->note_ended(transfer);
  if (status != OF_OK) {
    failed_.emplace_back(Ref<Operation>::share(operation),
                         Error(status, format_text("rank %u: %s", transfer.rank, text ? text : "no text")));
  } else if (operation->is_ready()) {
    ready_.push_back(Ref<Operation>::share(operation));
  }
}

void Engine::lost(uint32_t rank, const char* text) {
  others_[rank].lost = text;
  device_groups_.note_lost(rank, text);
  for (Operation* const each : begun_)
    // What it has sent before counts.
    if (each->awaited_rank() == rank && !each->is_ready())
      failed_.emplace_back(Ref<Operation>::share(each),
                           Error(OF_COMMUNICATION_ERROR, format_text("rank %u is lost: %s", rank, text)));
}

}  // namespace oneflow::processes
