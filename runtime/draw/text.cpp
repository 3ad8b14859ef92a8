#include "draw/text.h"

#include <oneflow/front_end.h>

#include <memory>
#include <oneflow/oneflow.hpp>

namespace oneflow::draw {

namespace {

std::string taken(char* text) { return std::unique_ptr<char, decltype(&of_free)>(text, of_free).get(); }

}  // namespace

int columns_of(const std::string& text) { return of_text_columns(text.c_str()); }

std::string cut_to(const std::string& text, int columns) {
  char* found = nullptr;
  check(of_text_cut(text.c_str(), columns, &found));
  return taken(found);
}

std::string printable(const std::string& text) {
  char* found = nullptr;
  check(of_text_printable(text.c_str(), &found));
  return taken(found);
}

}  // namespace oneflow::draw
