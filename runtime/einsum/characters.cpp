#include "einsum/characters.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/error.h"

namespace oneflow::einsum {

namespace {

// What is shown of a text: so many columns before and behind the place that an error is about.
constexpr int kColumnsBefore = 48, kColumnsBehind = 24;

// What cannot be seen, and dashes, dots, commas, arrows and brackets that look like an equation's own.
struct Block {
  int32_t first, last;
};
constexpr Block kNoLabels[] = {{0x7f, 0xa0},      {0xad, 0xad},     {0x180e, 0x180e}, {0x2000, 0x206f},
                               {0x2190, 0x21ff},  {0x27e6, 0x27ff}, {0x2900, 0x299a}, {0x2b00, 0x2bff},
                               {0x3000, 0x303f},  {0xfe10, 0xfe6f}, {0xfeff, 0xff20}, {0xfff0, 0xffff},
                               {0xe0000, 0xe0fff}};

struct Shown {
  std::string text;
  int columns;
};

// A character as it can be printed.
Shown show(std::string_view text, Character character, size_t at) {
  if (character.code < 0) {
    return {format_text("\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(text[at]))), 4};
  }
  if (character.code < 0x20 || character.code == 0x7f) {
    return {format_text("\\x%02x", static_cast<unsigned>(character.code)), 4};
  }
  const int width = utf8proc_charwidth(character.code);
  if (width <= 0) {
    std::string escaped = format_text("\\u{%x}", static_cast<unsigned>(character.code));
    const int columns = static_cast<int>(escaped.size());
    return {std::move(escaped), columns};
  }
  return {std::string(text.substr(at, character.bytes)), width};
}

// The start of the character before the one at `at`.
size_t before(std::string_view text, size_t at) {
  const auto continues = [&](size_t i) { return (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80; };
  size_t start = at - 1;
  while (start > 0 && at - start < 4 && continues(start)) --start;
  return start + character_at(text, start).bytes == at ? start : at - 1;
}

}  // namespace

Character character_at(std::string_view text, size_t at) {
  utf8proc_int32_t code;
  const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                                     static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  if (size <= 0) return {-1, 1};
  return {code, static_cast<size_t>(size)};
}

bool is_label(int32_t code) {
  if (code < 0x80) return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
  const auto holds = [&](const Block& block) { return code >= block.first && code <= block.last; };
  return std::none_of(std::begin(kNoLabels), std::end(kNoLabels), holds);
}

std::string quoted(std::string_view text, Character character, size_t at) {
  const std::string shown = show(text, character, at).text;
  if (character.code < 0x80) return format_text("'%s'", shown.c_str());
  return format_text("'%s' (U+%04X)", shown.c_str(), static_cast<unsigned>(character.code));
}

int columns_of(std::string_view text) {
  int columns = 0;
  for (size_t at = 0; at < text.size(); at += character_at(text, at).bytes)
    columns += show(text, character_at(text, at), at).columns;
  return columns;
}

std::string cut_to(std::string_view text, int columns) {
  if (columns_of(text) <= columns) return std::string(text);
  size_t end = 0;
  for (int left = columns - 1; end < text.size(); end += character_at(text, end).bytes) {
    left -= show(text, character_at(text, end), end).columns;
    if (left < 0) break;
  }
  return std::string(text.substr(0, end)) + "…";
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
