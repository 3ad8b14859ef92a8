#include "einsum/equation_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/error.h"

namespace oneflow::einsum {

namespace {

// The columns that error texts show of the equation string, before and after the position of the error.
constexpr int kColumnsBefore = 48, kColumnsAfter = 24;

// All code points of this range are labels, although some are not letters: programs that generate labels, such as
// opt_einsum's get_symbol, use them consecutively.
constexpr int32_t kFirstSymbol = 0xc0, kEndOfSymbols = 0x1000;

// Characters that are excluded although their Unicode category does not exclude them, because they resemble the syntax
// of equations (commas, dots, lines, arrows) or are blank.
struct Block {
  int32_t first, last;
};
constexpr Block kExcluded[] = {{0x2000, 0x206f}, {0x2190, 0x21ff},   {0x2212, 0x2212},  {0x2219, 0x2219},
                               {0x22c5, 0x22c5}, {0x22ee, 0x22f1},   {0x2500, 0x257f},  {0x2794, 0x27bf},
                               {0x27e6, 0x27ff}, {0x2800, 0x2800},   {0x2900, 0x299a},  {0x2b00, 0x2bff},
                               {0x3000, 0x303f}, {0xfe10, 0xfe6f},   {0xfeff, 0xff20},  {0xff61, 0xff65},
                               {0xffe8, 0xffff}, {0x1f800, 0x1f8ff}, {0xe0000, 0xe0fff}};

// Returns the byte offset of the character before the one at `at`.
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
  if (properties.ignorable) return false;  // invisible
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
      return std::none_of(std::begin(kExcluded), std::end(kExcluded), holds);
  }
}

std::string quoted(std::string_view text, Character character, size_t at) {
  const std::string shown = show(text, character, at).text;
  if (character.code < 0x80) return format_text("'%s'", shown.c_str());
  return format_text("'%s' (U+%04X)", shown.c_str(), static_cast<unsigned>(character.code));
}

void fail_at(of_status status, std::string_view text, size_t at, const std::string& message) {
  size_t begin = at;
  for (int columns = 0; begin > 0 && columns < kColumnsBefore;) {
    begin = before(text, begin);
    columns += show(text, character_at(text, begin), begin).columns;
  }
  std::string line = begin > 0 ? "…" : "";
  int caret = begin > 0 ? 1 : 0, after = 0;
  size_t next = begin;
  while (next < text.size() && after < kColumnsAfter) {
    const Character character = character_at(text, next);
    const Shown shown = show(text, character, next);
    (next < at ? caret : after) += shown.columns;
    line += shown.text;
    next += character.bytes;
  }
  if (next < text.size()) line += "…";
  const std::string blanks(static_cast<size_t>(caret), ' ');
  fail(status, "%s\n  %s\n  %s^", message.c_str(), line.c_str(), blanks.c_str());
}

}  // namespace oneflow::einsum
