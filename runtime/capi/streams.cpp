// The C API: streams and events.
#include <memory>

#include "capi/boundary.h"
#include "device/public_event.h"

using namespace oneflow;

namespace {

// Runs the body of a function, and puts the function's name before its error texts. `result`, under its name, must not
// be NULL.
template <class Body>
of_status run(const char* function, const void* result, const char* name, Body&& body) {
  return guard([&] {
    require(result, function, name);
    named(function, body);
  });
}
template <class Body>
of_status run(const char* function, Body&& body) {
  return guard([&] { named(function, body); });
}

Stream& require_stream(of_stream stream) {
  if (Stream* found = find_stream(stream.id)) return *found;
  fail(OF_INVALID_ARGUMENT, "stream must be an open stream, got one that was destroyed or never created");
}

std::shared_ptr<PublicEvent> require_event(of_event event, const char* argument = "event") {
  if (std::shared_ptr<PublicEvent> found = PublicEvent::find(event.id)) return found;
  fail(OF_INVALID_ARGUMENT, "%s must be an event, got one that was destroyed or never created", argument);
}

}  // namespace

of_status of_stream_create(of_device device, of_stream* stream) {
  return run(__func__, stream, "stream", [&] { *stream = {get_device(device).open_stream().id()}; });
}

of_status of_stream_destroy(of_stream stream) {
  return run(__func__, [&] {
    Stream& found = require_stream(stream);
    if (found.is_default())
      fail(OF_INVALID_ARGUMENT, "stream must not be the default stream of %s",
           device_name(found.device().id()).c_str());
    found.device().close_stream(found);
  });
}

of_status of_stream_synchronize(of_stream stream) {
  return run(__func__, [&] { require_stream(stream).synchronize(); });
}

of_status of_stream_query(of_stream stream, bool* is_done) {
  return run(__func__, is_done, "is_done", [&] { *is_done = require_stream(stream).is_done(); });
}

of_status of_stream_wait_event(of_stream stream, of_event event) {
  return run(__func__, [&] {
    Stream& found = require_stream(stream);
    require_event(event)->hold(found);
  });
}

of_status of_stream_get_device(of_stream stream, of_device* device) {
  return run(__func__, device, "device", [&] { *device = require_stream(stream).device().id(); });
}

of_status of_stream_current(of_device device, of_stream* stream) {
  return run(__func__, stream, "stream", [&] { *stream = {get_device(device).current().id()}; });
}

of_status of_stream_set_current(of_device device, of_stream stream) {
  return run(__func__, [&] {
    Device& of = get_device(device);
    Stream& found = stream.id == 0 ? of.default_stream() : require_stream(stream);
    if (&found.device() != &of)
      fail(OF_INVALID_ARGUMENT, "stream must be of %s, got one of %s", device_name(device).c_str(),
           device_name(found.device().id()).c_str());
    chosen_streams.choose(found);
  });
}

of_status of_event_create(of_device device, bool is_timed, of_event* event) {
  return run(__func__, event, "event", [&] { *event = {PublicEvent::create(get_device(device), is_timed)}; });
}

of_status of_event_destroy(of_event event) {
  return run(__func__, [&] {
    require_event(event);
    PublicEvent::remove(event.id);
  });
}

of_status of_event_record(of_event event, of_stream stream) {
  return run(__func__, [&] {
    const auto found = require_event(event);
    found->record(require_stream(stream));
  });
}

of_status of_event_query(of_event event, bool* is_done) {
  return run(__func__, is_done, "is_done", [&] { *is_done = require_event(event)->is_done(); });
}

of_status of_event_synchronize(of_event event) {
  return run(__func__, [&] { require_event(event)->synchronize(); });
}

of_status of_event_elapsed(of_event start, of_event end, double* milliseconds) {
  return run(__func__, milliseconds, "milliseconds", [&] {
    const auto from = require_event(start, "start"), to = require_event(end, "end");
    *milliseconds = from->until(*to);
  });
}
