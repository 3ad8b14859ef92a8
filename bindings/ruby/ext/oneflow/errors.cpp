#include "errors.h"

#include <ruby/encoding.h>

#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstring>
#include <string_view>

#include "calls/function.h"

namespace oneflow::ruby {
namespace {

constexpr int kStatusCount = OF_FILE_ERROR + 1;

// The exception classes, indexed by status; index 0 (OF_OK) is unused.
VALUE classes[kStatusCount];

// Returns the standard Ruby class from which the class of a status inherits, so that code that rescues the standard
// class also catches it. All of these inherit from StandardError, which a bare `rescue` catches; this excludes
// NoMemoryError and NotImplementedError.
VALUE natural_superclass(of_status status) {
  switch (status) {
    case OF_INVALID_ARGUMENT:
    case OF_SHAPE_ERROR:
      return rb_eArgError;
    case OF_TYPE_MISMATCH:
    case OF_DTYPE_ERROR:
      return rb_eTypeError;
    case OF_INDEX_OUT_OF_RANGE:
      return rb_eIndexError;
    case OF_COMMUNICATION_ERROR:
    case OF_FILE_ERROR:
      return rb_eIOError;
    case OF_DEVICE_ERROR:
    case OF_INTERNAL_ERROR:
      return rb_eRuntimeError;
    default:
      return rb_eStandardError;
  }
}

// A text under construction, of bounded length. It has no destructor, so that its frame may call Ruby.
class Text {
 public:
  void add(std::string_view part) {
    const size_t length = std::min(part.size(), sizeof(characters_) - used_);
    memcpy(characters_ + used_, part.data(), length);
    used_ += length;
  }
  VALUE to_ruby() const { return rb_utf8_str_new(characters_, static_cast<long>(used_)); }

 private:
  size_t used_ = 0;
  char characters_[8192];  // twice as many as the runtime's texts have, because names may become longer
};

bool is_word(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Returns the name that a function of the runtime's texts has in Ruby: "Optim.sgd!" for "optim.sgd_". Returns NULL for
// other words, and where the names are the same.
const char* name_in_ruby(std::string_view word) {
  if (word.find('.') == word.npos && word.back() != '_') return nullptr;
  for (const Function& function : function_table) {
    if (word == function.record_name) return function.function.name;
    if (function.function.in_place_name && word.back() == '_' &&
        word.substr(0, word.size() - 1) == function.record_name)
      return function.function.in_place_name;
  }
  return nullptr;
}

// Adds a word of the runtime to a text, and what follows it if that belongs to it. Returns how many characters of
// `rest`, which begins with the word, it has used.
size_t add_word(std::string_view rest, Text* text) {
  size_t length = 1;
  while (length < rest.size() && (is_word(rest[length]) || rest[length] == '.')) ++length;
  while (rest[length - 1] == '.') --length;
  const std::string_view word = rest.substr(0, length);
  const char* name = name_in_ruby(word);
  text->add(name ? name : word);
  for (const std::string_view value : {"true", "false"}) {
    const std::string_view found = rest.substr(length, value.size() + 1);
    if (found.size() <= value.size() || found[0] != '=' || tolower(found[1]) != value[0]) continue;
    if (found.substr(2) != value.substr(1)) continue;
    text->add(": ");
    text->add(value);
    return length + found.size();
  }
  return length;
}

// Returns a text of the runtime as Ruby writes it: "optim.sgd_" becomes "Optim.sgd!", and the option
// "retain_graph=True" becomes "retain_graph: true". Names precede quoted input, which stays unchanged.
VALUE in_ruby(std::string_view text) {
  Text result;
  for (size_t at = 0; at < text.size();) {
    const bool is_after_word = at > 0 && is_word(text[at - 1]);
    if (text[at] == '\n' || text[at] == '/' || (text[at] == '\'' && !is_after_word)) {
      result.add(text.substr(at));
      break;
    }
    if (islower(static_cast<unsigned char>(text[at])) && !is_after_word)
      at += add_word(text.substr(at), &result);
    else
      result.add(text.substr(at++, 1));
  }
  return result.to_ruby();
}

[[noreturn]] void raise_text(of_status status, VALUE text) { rb_exc_raise(rb_exc_new_str(error_class(status), text)); }

}  // namespace

void define_errors(VALUE module) {
  VALUE error = rb_define_module_under(module, "Error");
  for (int i = 1; i < kStatusCount; ++i) {
    of_status status = static_cast<of_status>(i);
    classes[i] = rb_define_class_under(module, of_status_name(status), natural_superclass(status));
    rb_include_module(classes[i], error);
  }
}

VALUE error_class(of_status status) {
  return status > 0 && status < kStatusCount ? classes[status] : classes[OF_INTERNAL_ERROR];
}

void raise(of_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  VALUE text = rb_enc_vsprintf(rb_utf8_encoding(), format, arguments);
  va_end(arguments);
  raise_text(status, text);
}

VALUE make_error(of_status status, const char* text) { return rb_exc_new_str(error_class(status), in_ruby(text)); }

void raise_last_error(of_status status) { rb_exc_raise(make_error(status, of_last_error())); }

}  // namespace oneflow::ruby
