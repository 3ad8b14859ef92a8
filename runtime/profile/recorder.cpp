#include "profile/recorder.h"

#include <mutex>
#include <new>

#include "base/fork_safe.h"
#include "tensor/storage.h"

namespace oneflow::profile {

namespace {

std::atomic<uint64_t> recordings{0};

// The log of this thread in the recording that last saw it.
struct Own {
  uint64_t recording;
  Log* log;
};
thread_local constinit Own own __attribute__((tls_model("initial-exec"))) = {};

// Guards the logs and clocks of all recordings while they are added.
ForkSafe<std::mutex> mutex{LockLevel::kProfile};

// Writes the notes of a call: the first when it is created, the second by end().
class Noted {
 public:
  Noted(Log& log, const Call& call, of_device_event event) : log_(log), call_(call), memory_(allocated_by_thread()) {
    Word* room = log.room();
    is_noted_ = room != nullptr;
    if (!is_noted_) return;
    auto* begin = new (room) Begin;
    const auto arguments = call.schema().arguments.size();
    const Word* end = write_values({call.arguments, arguments}, room + sizeof(Begin) / sizeof(Word), limit(room));
    begin->words = static_cast<uint32_t>(end - room);
    begin->values = static_cast<uint8_t>(arguments);
    begin->device = call.device;
    begin->op = &call.op;
    begin->caller = call.name;
    begin->event = event;
    log.append(end);
    begin->tick = ticks();
  }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;

  // Writes the second note. The results of a call that failed are not read.
  void end(bool failed, of_device_event event) noexcept {
    const int64_t tick = ticks();
    if (!is_noted_) return;
    Word* room = log_.room();
    if (!room) return;
    auto* note = new (room) End;
    const std::span<const of_value> results = failed ? std::span<const of_value>() : call_.results;
    const Word* end = write_values(results, room + sizeof(End) / sizeof(Word), limit(room));
    note->words = static_cast<uint32_t>(end - room);
    note->values = static_cast<uint8_t>(results.size());
    note->failed = failed;
    note->tick = tick;
    note->memory = allocated_by_thread() - memory_;
    note->event = event;
    log_.append(end);
  }

 private:
  static const Word* limit(const Word* room) { return room + Log::kMostWords; }

  Log& log_;
  const Call& call_;
  const uint64_t memory_;
  bool is_noted_;
};

}  // namespace

Recorder::Recorder() : number_(++recordings) {
  try {
    install_layer(OF_LAYER_PROFILE, OF_LAYER_ALL_CALLS, run, this);
  } catch (const Error&) {
    fail(OF_INVALID_ARGUMENT, "a profile is running; it must end before the next one begins");
  }
}

Recorder::~Recorder() {
  for (auto& of_type : clocks_)
    for (std::atomic<DeviceClock*>& clock : of_type) delete clock.load();
}

void Recorder::end() {
  if (!is_running_.exchange(false)) fail(OF_INVALID_ARGUMENT, "the profile is not running");
  try {
    remove_layer(OF_LAYER_PROFILE);
  } catch (...) {
    is_running_ = true;
    throw;
  }
  end_ = Moment();
}

void Recorder::synchronize() {
  for (auto& of_type : clocks_)
    for (std::atomic<DeviceClock*>& clock : of_type)
      if (clock.load()) clock.load()->synchronize();
}

of_status Recorder::run(void* context, of_layer_call* state) {
  auto& recorder = *static_cast<Recorder*>(context);
  const Call& call = state->call;
  Log* log = call.infer_only ? nullptr : recorder.log();
  if (!log) [[unlikely]] {
    next_layer(*state, OF_BODY_SEEN);
    return OF_OK;
  }
  Noted noted(*log, call, recorder.mark(call.device));
  try {
    next_layer(*state, OF_BODY_SEEN);
  } catch (...) {
    noted.end(true, recorder.mark(call.device));
    throw;
  }
  noted.end(false, recorder.mark(call.device));
  return OF_OK;
}

Log* Recorder::log() noexcept {
  if (own.recording == number_) [[likely]]
    return own.log;
  return add_log();
}

Log* Recorder::add_log() noexcept {
  try {
    const std::lock_guard lock(mutex);
    own = {number_, &logs_.emplace_back()};
    return own.log;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

DeviceClock* Recorder::clock(of_device device) const {
  if (static_cast<unsigned>(device.type) >= kQuickTypes || static_cast<unsigned>(device.index) >= kQuickIndices)
    return nullptr;
  return clocks_[device.type][device.index].load(std::memory_order_acquire);
}

of_device_event Recorder::mark(of_device device) noexcept {
  if (device.type == kHost.type) [[likely]]
    return nullptr;
  DeviceClock* known = clock(device);
  if (!known) known = add_clock(device);
  return known ? known->mark() : nullptr;
}

DeviceClock* Recorder::add_clock(of_device id) noexcept {
  Device* device = quick_device(id);
  if (!device || !has_clock(*device)) return nullptr;
  auto clock = std::unique_ptr<DeviceClock>(new (std::nothrow) DeviceClock(*device));
  if (!clock) return nullptr;
  const std::lock_guard lock(mutex);
  std::atomic<DeviceClock*>& slot = clocks_[id.type][id.index];
  if (!slot.load()) slot = clock.release();
  return slot.load();
}

}  // namespace oneflow::profile
