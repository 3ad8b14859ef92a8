// The characters of equation strings, and errors that point at one of them.
#ifndef ONEFLOW_EINSUM_EQUATION_TEXT_H_
#define ONEFLOW_EINSUM_EQUATION_TEXT_H_

#include <oneflow/types.h>

#include <string>
#include <string_view>

#include "base/characters.h"

namespace oneflow::einsum {

// Returns whether a character may be a label: an ASCII letter, or a non-ASCII character except spaces, invisible
// characters, and those that resemble the syntax of equations.
bool is_label(int32_t code);

// Returns a character in quotes for error texts, escaped if it is unprintable. A non-ASCII character is followed by its
// code point, because it may look like another one.
std::string quoted(std::string_view text, Character character, size_t at);

// Throws an error whose text is `message`, and below it the equation string with a caret under the byte at `at`:
//   label 'k' of the output does not appear in any operand
//     ij->ik
//          ^
// A long string is cut to the part around the caret.
[[noreturn]] void fail_at(of_status status, std::string_view text, size_t at, const std::string& message);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_EQUATION_TEXT_H_
