// Texts of drawings, which are in monospaced letters.
#ifndef ONEFLOW_DRAW_TEXT_H_
#define ONEFLOW_DRAW_TEXT_H_

#include <string>

#include "side/printable.h"

namespace oneflow::draw {

// Returns how many columns a text takes.
int columns_of(const std::string& text);
// Returns a text, or its longest prefix with "…" that takes at most `columns` columns.
std::string cut_to(const std::string& text, int columns);

}  // namespace oneflow::draw

#endif  // ONEFLOW_DRAW_TEXT_H_
