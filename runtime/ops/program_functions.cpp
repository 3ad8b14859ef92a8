#include "ops/program_functions.h"

namespace oneflow {

void fail_with_texts(of_status status, std::string_view text, std::initializer_list<std::string> values) {
  std::string result;
  for (const std::string& value : values) {
    const size_t at = text.find("{}");
    result.append(text.substr(0, at)).append(value);
    text.remove_prefix(at + 2);
  }
  throw Error(status, result.append(text));
}

}  // namespace oneflow
