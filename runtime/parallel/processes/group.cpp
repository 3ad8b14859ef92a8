#include "parallel/processes/group.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>

#include "base/characters.h"
#include "base/error.h"
#include "base/fork_safe.h"

namespace oneflow::processes {

namespace {

// The most ranks of a group that a text can name.
constexpr uint64_t kMostRanks = 1 << 20;

ForkSafe<std::mutex> mutex(LockLevel::kGroups);

std::map<std::vector<uint32_t>, const Group*>& groups() {
  static auto* const found = new std::map<std::vector<uint32_t>, const Group*>;
  return *found;
}

// Returns the number of ranks from `first` on that follow each other at the same distance, which is not 0.
size_t run_length(std::span<const uint32_t> ranks, int64_t* step) {
  if (ranks.size() < 2) return ranks.size();
  *step = int64_t{ranks[1]} - ranks[0];
  size_t length = 2;
  while (length < ranks.size() && int64_t{ranks[length]} - ranks[length - 1] == *step) ++length;
  // Two ranks are no shorter as a range, unless they are neighbours.
  return length == 2 && *step != 1 ? 1 : length;
}

std::string text_of(std::span<const uint32_t> ranks) {
  std::string text;
  while (!ranks.empty()) {
    int64_t step = 0;
    const size_t length = run_length(ranks, &step);
    if (!text.empty()) text += ',';
    text += std::to_string(ranks[0]);
    if (length > 1) text += '-' + std::to_string(ranks[length - 1]);
    if (length > 1 && std::abs(step) != 1) text += ':' + std::to_string(std::abs(step));
    ranks = ranks.subspan(length);
  }
  return text;
}

// FNV-1a.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 14695981039346656037ull;
  for (const char each : text) hash = (hash ^ static_cast<uint8_t>(each)) * 1099511628211ull;
  return hash;
}

// Reads a number at the beginning of a text, which it shortens.
std::optional<uint32_t> take_number(std::string_view* text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) return {};
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

bool take(std::string_view* text, char expected) {
  if (text->empty() || text->front() != expected) return false;
  text->remove_prefix(1);
  return true;
}

// Appends the ranks of "0-6:2" at the beginning of a text, which it shortens. Returns false for another text.
bool take_range(std::string_view* text, std::vector<uint32_t>* ranks) {
  const auto first = take_number(text);
  if (!first) return false;
  ranks->push_back(*first);
  if (!take(text, '-')) return true;
  const auto last = take_number(text);
  const auto step = take(text, ':') ? take_number(text) : 1;
  if (!last || !step || *step == 0) return false;
  const int64_t distance = int64_t{*last} - *first;
  if (std::abs(distance) / *step > static_cast<int64_t>(kMostRanks)) return false;
  const int64_t sign = distance < 0 ? -1 : 1;
  for (int64_t i = *step; i <= std::abs(distance); i += *step)
    ranks->push_back(static_cast<uint32_t>(*first + sign * i));
  return true;
}

}  // namespace

Group::Group(std::vector<uint32_t> ranks) : ranks_(std::move(ranks)), text_(text_of(ranks_)), id_(hash_of(text_)) {}

const Group& Group::of(std::vector<uint32_t> ranks) {
  if (ranks.empty()) fail(OF_INVALID_ARGUMENT, "a group must have a rank");
  const std::lock_guard lock(mutex);
  const auto found = groups().find(ranks);
  if (found != groups().end()) return *found->second;
  std::vector<uint32_t> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) fail(OF_INVALID_ARGUMENT, "a group must not have rank %u twice", *twice);
  return *groups().emplace(ranks, new Group(ranks)).first->second;
}

const Group& Group::parse(std::string_view text) {
  std::vector<uint32_t> ranks;
  std::string_view rest = text;
  do {
    if (!take_range(&rest, &ranks) || ranks.size() > kMostRanks)
      fail(OF_INVALID_ARGUMENT, "a group must be ranks such as '0-3,8', got '%s'", printable(text).c_str());
  } while (take(&rest, ','));
  if (!rest.empty())
    fail(OF_INVALID_ARGUMENT, "a group must be ranks such as '0-3,8', got '%s'", printable(text).c_str());
  return of(std::move(ranks));
}

std::optional<uint32_t> Group::position_of(uint32_t rank) const {
  const auto found = std::find(ranks_.begin(), ranks_.end(), rank);
  if (found == ranks_.end()) return {};
  return static_cast<uint32_t>(found - ranks_.begin());
}

}  // namespace oneflow::processes
