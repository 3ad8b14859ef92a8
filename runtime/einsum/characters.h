// The characters of an equation's text, and errors that point at one.
#ifndef ONEFLOW_EINSUM_CHARACTERS_H_
#define ONEFLOW_EINSUM_CHARACTERS_H_

#include <oneflow/types.h>

#include <string>
#include <string_view>

#include "base/characters.h"

namespace oneflow::einsum {

// Whether a character is a label by itself: ASCII letters, and beyond ASCII everything but spaces, what cannot be seen,
// and what looks like the syntax of equations.
bool is_label(int32_t code);

// A character as errors say it, in quotes: other than ASCII with its number, because it may look like another one or
// like nothing at all; what cannot be printed is escaped.
std::string quoted(std::string_view text, Character character, size_t at);

// Fails with a line of words, and the text below it with a caret under the byte at `at`:
//   label 'k' of the output does not appear in any operand
//     ij->ik
//          ^
// A long text is cut to what lies around that place.
[[noreturn]] void fail_at(of_status status, std::string_view text, size_t at, const std::string& words);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_CHARACTERS_H_
