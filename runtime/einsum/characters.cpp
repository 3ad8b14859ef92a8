#include "einsum/characters.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/error.h"

namespace oneflow::einsum {

namespace {

// What is shown of a text: so many columns before and behind the place that an error is about.
constexpr int kColumnsBefore = 48, kColumnsBehind = 24;

// Programs that number labels take the code points from here on as they come, among them some that are no letters
// (opt_einsum's get_symbol).
constexpr int32_t kFirstSymbol = 0xc0, kEndOfSymbols = 0x1000;

// Of the characters whose category does not tell, those that look like an equation's own: commas, dots, lines, arrows
// and what stands for them, and blanks.
struct Block {
  int32_t first, last;
};
constexpr Block kNoLabels[] = {{0x2000, 0x206f}, {0x2190, 0x21ff},   {0x2212, 0x2212},  {0x2219, 0x2219},
                               {0x22c5, 0x22c5}, {0x22ee, 0x22f1},   {0x2500, 0x257f},  {0x2794, 0x27bf},
                               {0x27e6, 0x27ff}, {0x2800, 0x2800},   {0x2900, 0x299a},  {0x2b00, 0x2bff},
                               {0x3000, 0x303f}, {0xfe10, 0xfe6f},   {0xfeff, 0xff20},  {0xff61, 0xff65},
                               {0xffe8, 0xffff}, {0x1f800, 0x1f8ff}, {0xe0000, 0xe0fff}};

// The start of the character before the one at `at`.
size_t before(std::string_view text, size_t at) {
  const auto continues = [&](size_t i) { return (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80; };
  size_t start = at - 1;
  while (start > 0 && at - start < 4 && continues(start)) --start;
  return start + character_at(text, start).bytes == at ? start : at - 1;
}

}  // namespace

bool is_label(int32_t code) {
  if (code < 0x80) return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
  if (code >= kFirstSymbol && code < kEndOfSymbols) return true;
  const utf8proc_property_t& properties = *utf8proc_get_property(code);
  if (properties.ignorable) return false;  // nothing is shown of it
  switch (properties.category) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return true;
    case UTF8PROC_CATEGORY_ZS:  // spaces, control characters, dashes, brackets
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
      return false;
    default:
      const auto holds = [&](const Block& block) { return code >= block.first && code <= block.last; };
      return std::none_of(std::begin(kNoLabels), std::end(kNoLabels), holds);
  }
}

std::string quoted(std::string_view text, Character character, size_t at) {
  const std::string shown = show(text, character, at).text;
  if (character.code < 0x80) return format_text("'%s'", shown.c_str());
  return format_text("'%s' (U+%04X)", shown.c_str(), static_cast<unsigned>(character.code));
}

void fail_at(of_status status, std::string_view text, size_t at, const std::string& words) {
  size_t begin = at;
  for (int columns = 0; begin > 0 && columns < kColumnsBefore;) {
    begin = before(text, begin);
    columns += show(text, character_at(text, begin), begin).columns;
  }
  std::string line = begin > 0 ? "…" : "";
  int caret = begin > 0 ? 1 : 0, behind = 0;
  size_t next = begin;
  while (next < text.size() && behind < kColumnsBehind) {
    const Character character = character_at(text, next);
    const Shown shown = show(text, character, next);
    (next < at ? caret : behind) += shown.columns;
    line += shown.text;
    next += character.bytes;
  }
  if (next < text.size()) line += "…";
  const std::string blanks(static_cast<size_t>(caret), ' ');
  fail(status, "%s\n  %s\n  %s^", words.c_str(), line.c_str(), blanks.c_str());
}

}  // namespace oneflow::einsum
