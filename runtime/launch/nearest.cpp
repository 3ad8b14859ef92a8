#include "launch/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace oneflow::launch {

namespace {

// Returns how many letters must be added, removed or replaced to make one text of the other.
size_t distance(const std::string& from, const std::string& to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(const std::string& text, const std::vector<std::string>& names) {
  const auto found = std::ranges::min_element(names, {}, [&](const std::string& name) { return distance(text, name); });
  const bool is_near = found != names.end() && distance(text, *found) * 2 < std::max(text.size(), found->size());
  return is_near ? *found : "";
}

}  // namespace oneflow::launch
