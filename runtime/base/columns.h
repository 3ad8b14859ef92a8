// Prints tables for terminals.
#ifndef ONEFLOW_BASE_COLUMNS_H_
#define ONEFLOW_BASE_COLUMNS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace oneflow {

// Returns rows of ASCII text in columns, a line each: the first column aligned at the left, others at the right. All
// rows have as many cells as the first one.
std::string columns_text(const std::vector<std::vector<std::string>>& rows);

// Returns a number of bytes with its unit: "1.5 MiB".
std::string memory_text(uint64_t bytes);

}  // namespace oneflow

#endif  // ONEFLOW_BASE_COLUMNS_H_
