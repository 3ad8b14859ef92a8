#include "objects/stream.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/fork_safe.h"
#include "objects/event.h"
#include "objects/results.h"
#include "objects/values.h"

namespace oneflow::objects {
namespace {

ForkSafe<std::mutex> mutex(LockLevel::kObjects);

// The streams that no object refers to, by device. They are not destroyed: a thread may still have chosen one, and
// what was submitted may still run.
std::multimap<std::pair<int16_t, int16_t>, of_stream>& free_streams() {
  static auto* const found = new std::multimap<std::pair<int16_t, int16_t>, of_stream>;
  return *found;
}

// The streams that objects refer to, by number.
std::map<uint64_t, std::weak_ptr<StreamLoan>>& loans() {
  static auto* const found = new std::map<uint64_t, std::weak_ptr<StreamLoan>>;
  return *found;
}

Stream& stream_of(void* self) { return *static_cast<Stream*>(self); }

of_device device_of(of_stream stream) {
  of_device device{};
  check(of_stream_get_device(stream, &device));
  return device;
}

of_stream current_of(of_device device) {
  of_stream stream{};
  check(of_stream_current(device, &stream));
  return stream;
}

}  // namespace

class StreamLoan {
 public:
  StreamLoan(of_device device, of_stream stream) : device_(device), stream_(stream) {}
  ~StreamLoan() {
    const std::lock_guard lock(mutex);
    loans().erase(stream_.id);
    free_streams().emplace(std::pair(device_.type, device_.index), stream_);
  }

 private:
  const of_device device_;
  const of_stream stream_;
};

namespace {

// Gives an object for a stream.
void give_stream(of_stream stream, Results& results) {
  auto* object = new Stream(stream);
  results.give(results.object("Stream", object));
  const std::lock_guard lock(mutex);
  const auto found = loans().find(stream.id);
  if (found != loans().end()) object->loan = found->second.lock();
}

// Takes a free stream of a device. Returns false if there is none.
bool take_free(of_device device, of_stream* stream) {
  const std::lock_guard lock(mutex);
  const auto found = free_streams().find(std::pair(device.type, device.index));
  if (found == free_streams().end()) return false;
  *stream = found->second;
  free_streams().erase(found);
  return true;
}

// The blocks of this thread that have chosen a stream, with the current stream before them.
struct Block {
  of_stream chosen, before;
};
thread_local std::vector<Block> blocks;

}  // namespace

of_status stream_create(void*, const of_data* given, Results& results) {
  const of_device device = device_or_default(given[0]);
  of_stream stream{};
  if (!take_free(device, &stream)) check(of_stream_create(device, &stream));
  const auto loan = std::make_shared<StreamLoan>(device, stream);
  {
    const std::lock_guard lock(mutex);
    loans()[stream.id] = loan;
  }
  give_stream(stream, results);
  return OF_OK;
}

of_status stream_enter(void* self, const of_data*, Results&) {
  const of_stream chosen = stream_of(self).stream;
  const of_device device = device_of(chosen);
  blocks.push_back({chosen, current_of(device)});
  const of_status status = of_stream_set_current(device, chosen);
  if (status != OF_OK) blocks.pop_back();
  return status;
}

of_status stream_leave(void* self, const of_data*, Results&) {
  const of_stream chosen = stream_of(self).stream;
  const auto is_own = [=](const Block& block) { return block.chosen.id == chosen.id; };
  const auto found = std::find_if(blocks.rbegin(), blocks.rend(), is_own);
  if (found == blocks.rend()) return OF_OK;
  const of_stream before = found->before;
  blocks.erase(std::next(found).base());
  return of_stream_set_current(device_of(chosen), before);
}

of_status stream_device(void* self, const of_data*, Results& results) {
  results.give(results.device(device_of(stream_of(self).stream)));
  return OF_OK;
}

of_status stream_id(void* self, const of_data*, Results& results) {
  results.give(results.natural(stream_of(self).stream.id));
  return OF_OK;
}

of_status stream_synchronize(void* self, const of_data*, Results&) {
  return of_stream_synchronize(stream_of(self).stream);
}

of_status stream_query(void* self, const of_data*, Results& results) {
  bool is_done = false;
  check(of_stream_query(stream_of(self).stream, &is_done));
  results.give(results.boolean(is_done));
  return OF_OK;
}

of_status stream_wait_event(void* self, const of_data* given, Results&) {
  return of_stream_wait_event(stream_of(self).stream, static_cast<const Event*>(given[0].as.object)->event);
}

of_status stream_wait_stream(void* self, const of_data* given, Results&) {
  const of_stream other = stream_of(given[0].as.object).stream;
  const Event event(device_of(other), false);
  check(of_event_record(event.event, other));
  return of_stream_wait_event(stream_of(self).stream, event.event);
}

of_status stream_record_event(void* self, const of_data* given, Results& results) {
  const of_stream stream = stream_of(self).stream;
  const bool is_given = given[0].kind == OF_DATA_OBJECT;
  auto* event = is_given ? static_cast<Event*>(given[0].as.object) : new Event(device_of(stream), false);
  if (is_given) event->retain();
  results.give(results.object("Event", event));
  return of_event_record(event->event, stream);
}

of_status current_stream(void*, const of_data* given, Results& results) {
  give_stream(current_of(device_or_default(given[0])), results);
  return OF_OK;
}

of_status default_stream(void*, const of_data* given, Results& results) {
  const of_device device = device_or_default(given[0]);
  const of_stream before = current_of(device);
  check(of_stream_set_current(device, {0}));
  const of_stream found = current_of(device);
  check(of_stream_set_current(device, before));
  give_stream(found, results);
  return OF_OK;
}

of_status set_current_stream(void*, const of_data* given, Results&) {
  const of_stream stream = stream_of(given[0].as.object).stream;
  return of_stream_set_current(device_of(stream), stream);
}

}  // namespace oneflow::objects
