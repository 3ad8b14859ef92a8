#include "launch/plan.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "launch/failure.h"

namespace oneflow::launch {

namespace {

// Writes strings with their lengths: "3:abc".
class FieldWriter {
 public:
  void add(std::string_view field) {
    text_ += std::to_string(field.size()) + ':';
    text_ += field;
  }
  void add(int64_t number) { add(std::string_view(std::to_string(number))); }
  void add(const std::vector<std::string>& fields) {
    add(static_cast<int64_t>(fields.size()));
    for (const std::string& field : fields) add(std::string_view(field));
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : rest_(text) {}

  std::string string() {
    const size_t colon = rest_.find(':');
    if (colon == std::string_view::npos) refuse();
    const int64_t length = number_of(rest_.substr(0, colon));
    rest_.remove_prefix(colon + 1);
    if (length < 0 || static_cast<size_t>(length) > rest_.size()) refuse();
    const std::string field(rest_.substr(0, static_cast<size_t>(length)));
    rest_.remove_prefix(static_cast<size_t>(length));
    return field;
  }
  int64_t number() { return number_of(string()); }
  std::vector<std::string> strings() {
    std::vector<std::string> fields;
    for (int64_t count = number(); count > 0; --count) fields.push_back(string());
    return fields;
  }

 private:
  [[noreturn]] static void refuse() { throw Failure("the launcher sent no valid job"); }
  static int64_t number_of(std::string_view text) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) refuse();
    return number;
  }

  std::string_view rest_;
};

}  // namespace

std::string encode(const HostPlan& plan) {
  FieldWriter fields;
  fields.add(std::string_view(plan.folder));
  fields.add(plan.environment);
  fields.add(std::string_view(plan.meeting_address));
  fields.add(plan.grace_ms);
  fields.add(static_cast<int64_t>(plan.ranks.size()));
  for (const RankPlan& rank : plan.ranks) {
    fields.add(rank.rank);
    fields.add(static_cast<int64_t>(rank.source));
    fields.add(rank.arguments);
  }
  return fields.take();
}

HostPlan decode(std::string_view text) {
  FieldReader fields(text);
  HostPlan plan;
  plan.folder = fields.string();
  plan.environment = fields.strings();
  plan.meeting_address = fields.string();
  plan.grace_ms = fields.number();
  for (int64_t count = fields.number(); count > 0; --count) {
    const int rank = static_cast<int>(fields.number());
    const auto source = static_cast<Source>(fields.number());
    plan.ranks.push_back({rank, source, fields.strings()});
  }
  return plan;
}

std::string joined(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += (text.empty() ? "" : " ") + argument;
  return text;
}

int exit_status(const End& end) {
  switch (end.kind) {
    case End::exited:
      return end.value;
    case End::killed:
      return 128 + end.value;
    case End::not_started:
      break;
  }
  return end.value == ENOENT ? kNotFound : kNotExecutable;
}

std::string describe(const End& end) {
  switch (end.kind) {
    case End::exited:
      return "ended with exit status " + std::to_string(end.value);
    case End::killed:
      return "was killed by signal " + std::to_string(end.value) + " (" + strsignal(end.value) + ")";
    case End::not_started:
      break;
  }
  return std::string("cannot be started: ") + std::strerror(end.value);
}

}  // namespace oneflow::launch
