#include <unistd.h>

#include <map>

#include "base/dtype.h"
#include "base/error.h"
#include "profile/profile.h"

namespace oneflow::profile {

namespace {

// Returns a string as JSON.
std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') json += '\\';
    if (static_cast<unsigned char>(character) < 0x20)
      json += format_text("\\u%04x", static_cast<unsigned>(character));
    else
      json += character;
  }
  return json + '"';
}

std::string describe(const std::vector<TensorNote>& tensors) {
  std::string text;
  for (const TensorNote& tensor : tensors)
    text += (text.empty() ? "" : ", ") + std::string(dtype_name(tensor.dtype)) + to_text(tensor.sizes);
  return text;
}

// Writes the events of a trace, times in microseconds.
class Trace {
 public:
  void name(const char* what, int track, const std::string& name) {
    add(format_text(R"({"ph":"M","name":"%s","pid":%d,"tid":%d,"args":{"name":%s}})", what, pid_, track,
                    quoted(name).c_str()));
  }

  // Adds a call, which takes a part of the time of a track.
  void call(const Entry& entry, int track, int64_t start, int64_t time) {
    std::string arguments =
        format_text(R"("caller":%s,"device":%s,"operands":%s,"results":%s,"bytes":%llu,"memory":%llu)",
                    quoted(entry.caller).c_str(), quoted(device_name(entry.device)).c_str(),
                    quoted(describe(entry.operands)).c_str(), quoted(describe(entry.results)).c_str(),
                    static_cast<unsigned long long>(entry.bytes), static_cast<unsigned long long>(entry.memory));
    if (entry.operations > 0) arguments += format_text(R"(,"operations":%.0f)", entry.operations);
    if (entry.failed) arguments += R"(,"failed":true)";
    add(format_text(R"({"ph":"X","name":%s,"cat":%s,"ts":%s,"dur":%s,"pid":%d,"tid":%d,"args":{%s}})",
                    quoted(entry.op->schema().name).c_str(), quoted(entry.op->schema().kind).c_str(),
                    microseconds(start).c_str(), microseconds(time).c_str(), pid_, track, arguments.c_str()));
  }

  std::string finish() const { return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" + events_ + "\n]}\n"; }

 private:
  static std::string microseconds(int64_t time) {
    return format_text("%lld.%03d", static_cast<long long>(time / 1000), static_cast<int>(time % 1000));
  }
  void add(const std::string& event) { events_ += (events_.empty() ? "\n" : ",\n") + event; }

  const int pid_ = getpid();
  std::string events_;
};

}  // namespace

std::string format_trace(const std::vector<Entry>& entries) {
  Trace trace;
  std::map<int, std::string> tracks;
  std::map<std::string, int> device_tracks;  // follow those of the threads
  int threads = 0;
  for (const Entry& entry : entries) {
    threads = std::max(threads, entry.thread + 1);
    if (entry.device_time >= 0) device_tracks[device_name(entry.device)] = 0;
  }
  for (int thread = 0; thread < threads; ++thread) tracks[thread + 1] = format_text("thread %d", thread);
  for (auto& [name, track] : device_tracks) {
    track = static_cast<int>(tracks.size()) + 1;
    tracks[track] = name;
  }
  trace.name("process_name", 0, "oneflow");
  for (const auto& [track, name] : tracks) trace.name("thread_name", track, name);
  for (const Entry& entry : entries) {
    trace.call(entry, entry.thread + 1, entry.start, entry.host_time);
    if (entry.device_time >= 0)
      trace.call(entry, device_tracks[device_name(entry.device)], entry.device_start, entry.device_time);
  }
  return trace.finish();
}

}  // namespace oneflow::profile
