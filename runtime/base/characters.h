// The characters of texts that users give, as they can be shown.
#ifndef ONEFLOW_BASE_CHARACTERS_H_
#define ONEFLOW_BASE_CHARACTERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace oneflow {

struct Character {
  int32_t code;  // its code point; -1 where the bytes are no UTF-8
  size_t bytes;
};

// The character at a byte of the text, which has one there.
Character character_at(std::string_view text, size_t at);

// As it can be printed, and how many columns of a terminal that takes.
struct Shown {
  std::string text;
  int columns;
};
Shown show(std::string_view text, Character character, size_t at);

// How wide a text of characters is that can be shown.
int columns_of(std::string_view text);
// The text, or as much of its beginning as fits so many columns, with "…" behind it.
std::string cut_to(std::string_view text, int columns);

// A text as errors show it: what cannot be printed is escaped, a long one is cut.
std::string printable(std::string_view text);

}  // namespace oneflow

#endif  // ONEFLOW_BASE_CHARACTERS_H_
