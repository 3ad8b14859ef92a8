#include "objects/event.h"

#include <string>
#include <string_view>

#include "base/error.h"
#include "objects/results.h"
#include "objects/stream.h"
#include "objects/values.h"

namespace oneflow::objects {
namespace {

Event& event_of(void* self) { return *static_cast<Event*>(self); }

// Returns the stream of an argument, by default the current one of the event's device.
of_stream stream_of(const of_data& given, const Event& event) {
  if (given.kind == OF_DATA_OBJECT) return static_cast<const Stream*>(given.as.object)->stream;
  of_stream current{};
  check(of_stream_current(event.device, &current));
  return current;
}

}  // namespace

Event::Event(of_device of, bool is_timed) : device(of) { check(of_event_create(device, is_timed, &event)); }

Event::~Event() { of_event_destroy(event); }

// Event(device, enable_timing)
of_status event_create(void*, const of_data* given, Results& results) {
  results.give(results.object("Event", new Event(device_or_default(given[0]), given[1].as.boolean)));
  return OF_OK;
}

of_status event_record(void* self, const of_data* given, Results&) {
  return of_event_record(event_of(self).event, stream_of(given[0], event_of(self)));
}

of_status event_wait(void* self, const of_data* given, Results&) {
  return of_stream_wait_event(stream_of(given[0], event_of(self)), event_of(self).event);
}

of_status event_query(void* self, const of_data*, Results& results) {
  bool is_done = false;
  check(of_event_query(event_of(self).event, &is_done));
  results.give(results.boolean(is_done));
  return OF_OK;
}

of_status event_synchronize(void* self, const of_data*, Results&) { return of_event_synchronize(event_of(self).event); }

of_status event_elapsed_time(void* self, const of_data* given, Results& results) {
  double milliseconds = 0;
  const of_status status = of_event_elapsed(event_of(self).event, event_of(given[0].as.object).event, &milliseconds);
  // The program knows the events by other names than the C API.
  const std::string_view text = of_last_error(), start = "of_event_elapsed: start ", end = "of_event_elapsed: end ";
  if (status != OF_OK && text.starts_with(start))
    results.fail(status, "the event " + std::string(text.substr(start.size())));
  if (status != OF_OK && text.starts_with(end))
    results.fail(status, results.parameter(0) + " " + std::string(text.substr(end.size())));
  check(status);
  results.give(results.real(milliseconds));
  return OF_OK;
}

}  // namespace oneflow::objects
