#include "base/characters.h"

#include <utf8proc.h>

#include "base/error.h"

namespace oneflow {

constexpr int kMaxColumns = 80;  // of a user's string within an error text

Character character_at(std::string_view text, size_t at) {
  utf8proc_int32_t code;
  const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                                     static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  if (size <= 0) return {-1, 1};
  return {code, static_cast<size_t>(size)};
}

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

std::string printable(std::string_view text) {
  std::string shown;
  int columns = 0;
  for (size_t at = 0; at < text.size(); at += character_at(text, at).bytes) {
    const Shown next = show(text, character_at(text, at), at);
    columns += next.columns;
    if (columns > kMaxColumns) return shown + "…";
    shown += next.text;
  }
  return shown;
}

}  // namespace oneflow
