#include "plugin/environment.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace oneflow::cpu {

void report_ignored(const char* name, const char* expected, std::string_view value) {
  std::fprintf(stderr, "oneflow: the environment variable %s must be %s, got '%.*s', and is ignored\n", name, expected,
               static_cast<int>(value.size()), value.data());
}

int environment_number(const char* name, int most, int otherwise) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return otherwise;
  const std::string_view text(value);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 1 && number <= most) return number;
  char expected[64];
  std::snprintf(expected, sizeof expected, "an integer from 1 to %d", most);
  report_ignored(name, expected, text);
  return otherwise;
}

}  // namespace oneflow::cpu
