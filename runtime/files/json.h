// JSON texts, which are read event by event, so that their readers accept only what they expect.
#ifndef ONEFLOW_FILES_JSON_H_
#define ONEFLOW_FILES_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oneflow::files {

// The base class of readers. Each event that a derived class does not override is an error.
class JsonReader {
 public:
  // Reads a whole text. Throws InvalidArgument with the parser's reason if it is not JSON, or has invalid UTF-8.
  void read(std::string_view text);

  // The events. They return whether the parser goes on.
  virtual bool null() { return unexpected("null"); }
  virtual bool boolean(bool) { return unexpected("a boolean"); }
  virtual bool number_integer(int64_t) { return unexpected("a negative number"); }
  virtual bool number_unsigned(uint64_t) { return unexpected("a number"); }
  virtual bool number_float(double, const std::string&) { return unexpected("a number that is not an integer"); }
  virtual bool string(std::string&) { return unexpected("a string"); }
  virtual bool start_object(size_t) { return unexpected("an object"); }
  virtual bool key(std::string&) { return unexpected("a key"); }
  virtual bool end_object() { return true; }
  virtual bool start_array(size_t) { return unexpected("a list"); }
  virtual bool end_array() { return true; }

 protected:
  ~JsonReader() = default;
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
std::string to_json(const std::string& text);

// Returns pairs of strings as a JSON object.
std::string to_json(const std::vector<std::pair<std::string, std::string>>& pairs);

}  // namespace oneflow::files

#endif  // ONEFLOW_FILES_JSON_H_
