#include <string_view>
#include <unordered_map>

#include "dispatch/dispatch.h"
#include "einsum/contraction.h"
#include "profile/profile.h"

namespace oneflow::profile {

namespace {

bool is_kind(const Operator& op, std::string_view kind) { return kind == op.schema().kind; }

// Counts the operations of contractions. Calls with the same arguments are counted once.
class Operations {
 public:
  double count(const Begin& begin, const Values& values) {
    const auto* words = reinterpret_cast<const char*>(&begin + 1);
    const std::string_view arguments(words, begin.words * sizeof(Word) - sizeof(Begin));
    const auto [found, is_new] = known_[begin.op].try_emplace(arguments, 0);
    if (is_new && !values.is_cut()) found->second = compute(*begin.op, values);
    return found->second;
  }

 private:
  static double compute(const Operator& op, const Values& values) {
    of_value results[kMaxResults] = {};
    const auto count = static_cast<size_t>(op.schema().result_count);
    double operations = 0;
    const KeptError kept;
    const of_status status = guard([&] {  // fails if the call failed
      Call call(op, op.schema().name, {results, count}, true, nullptr);
      check_call(call, values.values());
      operations = count_operations(call);
    });
    if (status != OF_OK) kept.restore();
    return operations;
  }

  std::unordered_map<const Operator*, std::unordered_map<std::string_view, double>> known_;
};

// Reads the log of one thread.
class Reader {
 public:
  Reader(const Recorder& recorder, int thread, Operations& operations, std::vector<Entry>& entries)
      : recorder_(recorder), thread_(thread), operations_(operations), entries_(entries) {}

  void read(const Word* note) {
    if (const auto* begin = reinterpret_cast<const Begin*>(note); !begin->is_end) return enter(*begin);
    if (!open_.empty()) leave(*reinterpret_cast<const End*>(note));
  }

  // Removes the calls that have not returned, which are the last ones.
  void finish() {
    std::vector<int64_t> moved(entries_.size());
    size_t kept = 0, open = 0;
    for (size_t i = 0; i < entries_.size(); ++i) {
      const bool is_open = open < open_.size() && open_[open].entry == i;
      if (is_open) {
        moved[i] = -1;
        ++open;
        continue;
      }
      Entry& entry = entries_[i];
      if (entry.parent >= 0) entry.parent = moved[static_cast<size_t>(entry.parent)];
      moved[i] = static_cast<int64_t>(kept);
      if (kept != i) entries_[kept] = std::move(entry);
      ++kept;
    }
    for (const Open& each : open_) release(each.begin->device, each.begin->event);
    entries_.resize(kept);
  }

 private:
  struct Open {
    size_t entry;
    const Begin* begin;
  };

  void enter(const Begin& begin) {
    const Values values(reinterpret_cast<const Word*>(&begin + 1), begin.values, begin.device);
    Entry& entry = entries_.emplace_back();
    entry.op = begin.op;
    entry.caller = begin.caller;
    entry.device = begin.device;
    entry.thread = thread_;
    entry.parent = open_.empty() ? -1 : static_cast<int64_t>(open_.back().entry);
    entry.start = recorder_.at(begin.tick);
    entry.operands = values.tensors();
    if (is_kind(*begin.op, "contraction")) entry.operations = operations_.count(begin, values);
    open_.push_back({entries_.size() - 1, &begin});
  }

  void leave(const End& end) {
    const Begin& begin = *open_.back().begin;
    Entry& entry = entries_[open_.back().entry];
    open_.pop_back();
    entry.host_time = recorder_.at(end.tick) - recorder_.at(begin.tick);
    entry.self_time += entry.host_time;
    entry.memory = end.memory;
    entry.failed = end.failed;
    entry.results = Values(reinterpret_cast<const Word*>(&end + 1), end.values, begin.device).tensors();
    if (!is_kind(*begin.op, "view"))
      for (const auto* tensors : {&entry.operands, &entry.results})
        for (const TensorNote& tensor : *tensors) entry.bytes += tensor.bytes();
    if (!open_.empty()) entries_[open_.back().entry].self_time -= entry.host_time;
    if (const DeviceClock* clock = recorder_.clock(begin.device)) {
      const int64_t start = clock->at(begin.event);
      if (start >= 0) entry.device_start = clock->start_on_host() - recorder_.start() + start;
      if (start >= 0) entry.device_time = clock->between(begin.event, end.event);
    }
    release(begin.device, begin.event);
    release(begin.device, end.event);
  }

  void release(of_device device, of_device_event event) {
    if (DeviceClock* clock = recorder_.clock(device)) clock->discard(event);
  }

  const Recorder& recorder_;
  const int thread_;
  Operations& operations_;
  std::vector<Entry>& entries_;
  std::vector<Open> open_;
};

}  // namespace

std::vector<Entry> read_entries(const Recorder& recorder) {
  std::vector<Entry> all;
  Operations operations;
  int thread = 0;
  for (const Log& log : recorder.logs()) {
    std::vector<Entry> entries;
    Reader reader(recorder, thread++, operations, entries);
    log.for_each([&](const Word* note) { reader.read(note); });
    reader.finish();
    const auto first = static_cast<int64_t>(all.size());
    for (Entry& entry : entries) {
      if (entry.parent >= 0) entry.parent += first;
      all.push_back(std::move(entry));
    }
  }
  return all;
}

}  // namespace oneflow::profile
