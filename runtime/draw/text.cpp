#include "draw/text.h"

namespace oneflow::draw {

int columns_of(const std::string& text) { return of_text_columns(text.c_str()); }

std::string cut_to(const std::string& text, int columns) {
  char* found = nullptr;
  check(of_text_cut(text.c_str(), columns, &found));
  return std::unique_ptr<char, decltype(&of_free)>(found, of_free).get();
}

}  // namespace oneflow::draw
