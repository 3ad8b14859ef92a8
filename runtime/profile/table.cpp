#include <algorithm>
#include <map>
#include <string>

#include "base/columns.h"
#include "base/error.h"
#include "profile/profile.h"

namespace oneflow::profile {

namespace {

// The sums over the calls of an operator.
struct Line {
  const char* name;
  uint64_t calls = 0;
  int64_t total = 0, self = 0;   // on the host
  int64_t device = 0, work = 0;  // on devices, and where the work was done
  uint64_t memory = 0, bytes = 0;
  double operations = 0;
  bool has_device = false;
};

std::string time_text(double nanoseconds) {
  static constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  size_t unit = 0;
  while (nanoseconds >= 999.5 && unit + 1 < std::size(kUnits)) {
    nanoseconds /= 1000;
    ++unit;
  }
  return format_text(unit == 0 ? "%.0f %s" : "%.2f %s", nanoseconds, kUnits[unit]);
}

// Returns the rate of the work; nothing for operators that do none, such as views. 1 per nanosecond is 1 G per second.
std::string rate_text(const Line& line) {
  if (line.work <= 0 || (line.operations == 0 && line.bytes == 0)) return "";
  const auto time = static_cast<double>(line.work);
  if (line.operations > 0) return format_text("%.2f GFLOP/s", line.operations / time);
  return format_text("%.2f GB/s", static_cast<double>(line.bytes) / time);
}

std::vector<Line> sum_up(const std::vector<Entry>& entries) {
  std::map<const Operator*, Line> by_operator;
  for (const Entry& entry : entries) {
    Line& line = by_operator[entry.op];
    line.name = entry.op->schema().name;
    ++line.calls;
    line.total += entry.host_time;
    line.self += entry.self_time;
    line.memory += entry.memory;
    if (!entry.failed) {
      line.work += entry.work_time();
      line.operations += entry.operations;
      line.bytes += entry.bytes;
    }
    if (entry.device_time >= 0) {
      line.has_device = true;
      line.device += entry.device_time;
    }
  }
  std::vector<Line> lines;
  for (const auto& [op, line] : by_operator) lines.push_back(line);
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.total != b.total ? a.total > b.total : std::string_view(a.name) < b.name;
  });
  return lines;
}

}  // namespace

std::string format_table(const std::vector<Entry>& entries) {
  const std::vector<Line> lines = sum_up(entries);
  const bool has_device = std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.has_device; });
  std::vector<std::vector<std::string>> rows = {{"operator", "calls", "total", "self", "mean"}};
  if (has_device) rows[0].push_back("device");
  rows[0].insert(rows[0].end(), {"memory", "rate"});
  for (const Line& line : lines) {
    std::vector<std::string>& row = rows.emplace_back();
    row = {line.name, std::to_string(line.calls), time_text(static_cast<double>(line.total)),
           time_text(static_cast<double>(line.self)),
           time_text(static_cast<double>(line.total) / static_cast<double>(line.calls))};
    if (has_device) row.push_back(line.has_device ? time_text(static_cast<double>(line.device)) : "");
    row.push_back(memory_text(line.memory));
    row.push_back(rate_text(line));
  }
  std::string table = columns_text(rows);
  int64_t total = 0;
  int threads = 0;
  for (const Entry& entry : entries) {
    if (entry.parent < 0) total += entry.host_time;
    threads = std::max(threads, entry.thread + 1);
  }
  table += format_text("%zu call%s on %d thread%s in %s\n", entries.size(), entries.size() == 1 ? "" : "s", threads,
                       threads == 1 ? "" : "s", time_text(static_cast<double>(total)).c_str());
  return table;
}

}  // namespace oneflow::profile
