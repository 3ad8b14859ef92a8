// Texts of users in errors and drawings of side libraries.
#ifndef ONEFLOW_SIDE_PRINTABLE_H_
#define ONEFLOW_SIDE_PRINTABLE_H_

#include <oneflow/front_end.h>

#include <memory>
#include <oneflow/oneflow.hpp>
#include <string>
#include <string_view>

namespace oneflow {

// Returns a text as error texts show it; see of_text_printable().
inline std::string printable(std::string_view text) {
  char* found = nullptr;
  check(of_text_printable(std::string(text).c_str(), &found));
  return std::unique_ptr<char, decltype(&of_free)>(found, of_free).get();
}

// Returns it in quotes.
inline std::string in_quotes(std::string_view text) { return "'" + printable(text) + "'"; }

}  // namespace oneflow

#endif  // ONEFLOW_SIDE_PRINTABLE_H_
