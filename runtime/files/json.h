// JSON texts, which are read event by event, so that their readers accept only what they expect.
#ifndef ONEFLOW_FILES_JSON_H_
#define ONEFLOW_FILES_JSON_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace oneflow::files {

// The base class of readers. Each event that a derived class does not override is an error.
class JsonReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  // Reads a whole text. Throws InvalidArgument with the parser's reason if it is not JSON, or has invalid UTF-8.
  void read(std::string_view text) {
    // The parser takes a null byte for the end.
    if (const size_t end = text.find('\0'); end != std::string_view::npos)
      fail(OF_INVALID_ARGUMENT, "it is not JSON from byte %zu on", end + 1);
    nlohmann::json::sax_parse(text.begin(), text.end(), this);
    if (!failure_.empty()) fail(OF_INVALID_ARGUMENT, "%s", failure_.c_str());
  }

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_unsigned(number_unsigned_t) override { return unexpected("a number"); }
  bool number_float(number_float_t, const string_t&) override { return unexpected("a number that is not an integer"); }
  bool string(string_t&) override { return unexpected("a string"); }
  bool binary(binary_t&) override { return unexpected("bytes"); }
  bool start_object(size_t) override { return unexpected("an object"); }
  bool key(string_t&) override { return unexpected("a key"); }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return unexpected("a list"); }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) override {
    failure_ = "it is not JSON from byte " + std::to_string(position) + " on";
    return false;
  }

 protected:
  // Stops the parser with an error text.
  bool refuse(std::string text) {
    failure_ = std::move(text);
    return false;
  }

 private:
  bool unexpected(const char* what) { return refuse(std::string("it has ") + what + " where none is expected"); }

  std::string failure_;
};

// Returns a string as JSON. It must be UTF-8.
inline std::string to_json(const std::string& text) { return nlohmann::json(text).dump(); }

// Returns pairs of strings as a JSON object.
inline std::string to_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs) {
    text += text.empty() ? '{' : ',';
    text += to_json(key) + ':' + to_json(value);
  }
  return text.empty() ? "{}" : text + '}';
}

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_JSON_H_
