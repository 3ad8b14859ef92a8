// Prints strings from users in error texts and reports: escapes unprintable characters and measures terminal columns.
// Strings are UTF-8, possibly with invalid bytes.
#ifndef ONEFLOW_BASE_CHARACTERS_H_
#define ONEFLOW_BASE_CHARACTERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace oneflow {

// A character of a UTF-8 string.
struct Character {
  int32_t code;  // the code point; -1 for an invalid byte
  size_t bytes;
};

// Returns the character at byte offset `at`, which must be less than text.size().
Character character_at(std::string_view text, size_t at);

// The printable form of a character, and the terminal columns that it takes.
struct Shown {
  std::string text;
  int columns;
};
// Returns the printable form of `character`, which is at byte offset `at` of `text`: the character itself, or an escape
// sequence such as \x0a or \u{200b}.
Shown show(std::string_view text, Character character, size_t at);

// Returns the number of terminal columns of a string, with unprintable characters escaped.
int columns_of(std::string_view text);
// Returns the string unchanged if it fits in `columns` columns; otherwise a prefix that ends with "…" and fits.
std::string cut_to(std::string_view text, int columns);

// Returns a string as error texts show it: unprintable characters are escaped, and it is cut after 80 columns.
std::string printable(std::string_view text);

}  // namespace oneflow

#endif  // ONEFLOW_BASE_CHARACTERS_H_
