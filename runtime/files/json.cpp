#include "files/json.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace oneflow::files {

namespace {

// Passes the parser's events on. The library's templates are compiled here only.
struct Events final : nlohmann::json_sax<nlohmann::json> {
  explicit Events(JsonReader& to) : reader(to) {}

  bool null() override { return reader.null(); }
  bool boolean(bool value) override { return reader.boolean(value); }
  bool number_integer(number_integer_t value) override { return reader.number_integer(value); }
  bool number_unsigned(number_unsigned_t value) override { return reader.number_unsigned(value); }
  bool number_float(number_float_t value, const string_t& text) override { return reader.number_float(value, text); }
  bool string(string_t& value) override { return reader.string(value); }
  bool binary(binary_t&) override { return false; }  // JSON has none
  bool start_object(size_t size) override { return reader.start_object(size); }
  bool key(string_t& name) override { return reader.key(name); }
  bool end_object() override { return reader.end_object(); }
  bool start_array(size_t size) override { return reader.start_array(size); }
  bool end_array() override { return reader.end_array(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) override {
    failed_at = position;
    return false;
  }

  JsonReader& reader;
  size_t failed_at = 0;  // the byte, from 1 on
};

[[noreturn]] void fail_at(size_t byte) { fail(OF_INVALID_ARGUMENT, "it is not JSON from byte %zu on", byte); }

}  // namespace

void JsonReader::read(std::string_view text) {
  // The parser takes a null byte for the end.
  if (const size_t end = text.find('\0'); end != std::string_view::npos) fail_at(end + 1);
  Events events(*this);
  const bool is_read = nlohmann::json::sax_parse(text.begin(), text.end(), &events);
  if (!failure_.empty()) fail(OF_INVALID_ARGUMENT, "%s", failure_.c_str());
  if (!is_read) fail_at(events.failed_at);
}

std::string to_json(const std::string& text) { return nlohmann::json(text).dump(); }

std::string to_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs) {
    text += text.empty() ? '{' : ',';
    text += to_json(key) + ':' + to_json(value);
  }
  return text.empty() ? "{}" : text + '}';
}

}  // namespace oneflow::files
