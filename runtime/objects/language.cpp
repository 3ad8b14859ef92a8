#include "objects/language.h"

namespace oneflow::objects {

std::string printed(const of_language& language, void* context, of_native value) {
  std::string line;
  bool is_indented = false;
  for (const char c : std::string_view(language.print(context, value))) {
    if (is_indented && c == ' ') continue;
    is_indented = c == '\n';
    line += is_indented ? ' ' : c;
  }
  return printable(line);
}

}  // namespace oneflow::objects
