#include "base/columns.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace oneflow {

std::string columns_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string table;
  for (const auto& row : rows) {
    std::string text = row[0] + std::string(widths[0] - row[0].size(), ' ');
    for (size_t i = 1; i < row.size(); ++i) text += std::string(2 + widths[i] - row[i].size(), ' ') + row[i];
    table += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  return table;
}

std::string memory_text(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto number = static_cast<double>(bytes);
  size_t unit = 0;
  while (number >= 1023.5 && unit + 1 < std::size(kUnits)) {
    number /= 1024;
    ++unit;
  }
  return format_text(unit == 0 ? "%.0f %s" : "%.1f %s", number, kUnits[unit]);
}

}  // namespace oneflow
