#include "files/names.h"

#include "base/characters.h"
#include "base/error.h"

namespace oneflow::files {

void check_name(const char* what, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (character.code <= 0)
      fail(OF_INVALID_ARGUMENT, "%s must be UTF-8 without null bytes, got '%s'", what, printable(text).c_str());
    at += character.bytes;
  }
}

}  // namespace oneflow::files
