#include "objects/language.h"

namespace oneflow::objects {
namespace {

constexpr size_t kMostShown = 100;

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

std::string printed(const of_language& language, void* context, of_native value) {
  const std::string text = language.print(context, value);
  std::string shown;
  bool is_indented = false;
  for (const char c : text) {
    is_indented = c == '\n' || (is_indented && c == ' ');
    if (is_indented && c == ' ') continue;
    if (shown.size() >= kMostShown && !continues_character(c)) return shown + "...";
    shown += is_indented ? ' ' : c;
  }
  return shown;
}

}  // namespace oneflow::objects
