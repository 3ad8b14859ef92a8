#include <charconv>
#include <cmath>
#include <map>

#include "base/characters.h"
#include "base/error.h"
#include "device/device.h"
#include "files/json.h"
#include "graph/program/text.h"

namespace oneflow::graph {

namespace {

constexpr ValueId kMaxValues = 1 << 24;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

of_dtype dtype_of(std::string_view name) {
  for (int i = 0; i < OF_DTYPE_COUNT; ++i)
    if (name == dtype_name(static_cast<of_dtype>(i))) return static_cast<of_dtype>(i);
  return OF_DTYPE_NONE;
}

// Reads one JSON string at the beginning of a text.
class StringReader : public files::JsonReader {
 public:
  bool string(std::string& text) override {
    found = text;
    return true;
  }
  std::string found;
};

// The words of one line.
class Line {
 public:
  Line(std::string_view text, size_t number) : text_(text), number_(number) {}

  [[noreturn]] void refuse(const std::string& what) const {
    const std::string_view rest = text_.substr(std::min(at_, text_.size()));
    const std::string place = rest.empty() ? "" : " at '" + printable(rest) + "'";
    fail(OF_INVALID_ARGUMENT, "line %zu of the graph: %s%s", number_, what.c_str(), place.c_str());
  }

  bool is_done() {
    skip();
    return at_ == text_.size();
  }
  void expect_end() {
    if (!is_done()) refuse("there is more than expected");
  }
  // Skips a mark if it is next, and returns whether it is.
  bool take(std::string_view mark) {
    skip();
    if (!text_.substr(at_).starts_with(mark)) return false;
    at_ += mark.size();
    return true;
  }
  void expect(std::string_view mark) {
    if (!take(mark)) refuse("expected '" + std::string(mark) + "'");
  }
  // Returns the next character without reading it; 0 at the end.
  char peek(size_t ahead = 0) {
    skip();
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  // Reads a name of letters, digits and `marks`.
  std::string_view word(std::string_view marks = "") {
    skip();
    const size_t start = at_;
    while (at_ < text_.size() &&
           (is_letter(text_[at_]) || is_digit(text_[at_]) || marks.find(text_[at_]) != std::string_view::npos))
      ++at_;
    if (at_ == start) refuse("expected a name");
    return text_.substr(start, at_ - start);
  }
  // Reads an integer without a sign.
  template <class Number>
  Number natural() {
    skip();
    Number number{};
    if (!is_digit(peek())) refuse("expected a number");
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc()) refuse("the number is too large");
    at_ = static_cast<size_t>(end - text_.data());
    return number;
  }
  // Reads a number as the C++ library writes it, and returns whether it is an integer.
  bool number(double& real, int64_t& integer, uint64_t& natural) {
    skip();
    const char* const start = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    const auto whole = std::from_chars(start, end, integer);
    const auto found = std::from_chars(start, end, real);
    if (found.ec != std::errc()) refuse("expected a number");
    at_ = static_cast<size_t>(found.ptr - text_.data());
    natural = 0;
    if (whole.ptr != found.ptr) return false;
    if (whole.ec == std::errc()) return true;
    if (std::from_chars(start, end, natural).ec != std::errc()) refuse("the number is too large");
    return true;
  }
  std::string string() {
    skip();
    if (peek() != '"') refuse("expected a text in quotes");
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) refuse("the text has no end");
    StringReader reader;
    try {
      reader.read(text_.substr(at_, end + 1 - at_));
    } catch (const Error& error) {
      refuse(error.text());
    }
    at_ = end + 1;
    return std::move(reader.found);
  }
  ValueId value() {
    expect("%");
    const auto number = natural<int64_t>();
    if (number >= kMaxValues) refuse("the number of a value is too large");
    return static_cast<ValueId>(number);
  }
  std::string_view rest() {
    skip();
    return text_.substr(std::exchange(at_, text_.size()));
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  const std::string_view text_;
  const size_t number_;
  size_t at_ = 0;
};

class Reader {
 public:
  explicit Reader(FindStored find) : find_(find) {}

  Program run(std::string_view text) {
    size_t number = 0;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      Line line(text.substr(0, end), ++number);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (number == 1) {
        if (line.rest() != "graph 1") fail(OF_INVALID_ARGUMENT, "it is not a graph of version 1");
      } else if (!line.is_done()) {
        read(line);
      }
    }
    if (number == 0) fail(OF_INVALID_ARGUMENT, "it is not a graph of version 1");
    return std::move(program_);
  }

 private:
  void read(Line& line) {
    if (line.peek() == '%') return read_call(line);
    const std::string_view word = line.word(".");
    if (word == "size") return read_size(line);
    if (word == "operator") return read_operator(line);
    if (word == "input") return program_.inputs.push_back(read_named<Input>(line));
    if (word == "constant") return program_.constants.push_back(read_named<Constant>(line));
    if (word == "output" || word == "state") return read_output(line, word == "output");
    if (word == "inputs") return void(program_.input_structure = line.rest());
    if (word == "outputs") return void(program_.output_structure = line.rest());
    read_operands(line, word, {});
  }

  void read_size(Line& line) {
    NamedSize size;
    size.name = line.word();
    if (!is_size_name(size.name)) line.refuse("the name of a size must be a word that means nothing else");
    line.expect("=");
    size.example = line.natural<int64_t>();
    line.expect("in");
    size.minimum = line.natural<int64_t>();
    line.expect("..");
    size.maximum = line.natural<int64_t>();
    if (line.take("step")) size.step = line.natural<int64_t>();
    line.expect_end();
    program_.sizes.push_back(std::move(size));
  }

  void read_operator(Line& line) {
    const std::string name(line.word("."));
    line.expect(":");
    const std::string_view signature = line.rest();
    const StoredOperator stored = find_(name, signature);
    if (!stored.op) {
      const Operator* present = find_operator(name);
      const char* advice =
          name.find('.') == std::string::npos ? "" : "; if a library of operators has it, load that first";
      if (!present) line.refuse("this library has no operator '" + printable(name) + "'" + advice);
      line.refuse("operator '" + name + "' has another signature here: " + present->schema().signature);
    }
    operators_[name] = stored;
  }

  template <class Named>
  Named read_named(Line& line) {
    Named named{};
    named.value = line.value();
    named.name = line.string();
    read_type(line, named.value);
    line.expect_end();
    return named;
  }

  void read_output(Line& line, bool is_returned) {
    if (is_returned && program_.returned < program_.outputs.size()) line.refuse("an output comes after a state");
    program_.returned += is_returned;
    Output output;
    output.value = line.value();
    output.name = line.string();
    line.expect_end();
    program_.outputs.push_back(std::move(output));
  }

  // Reads a type such as ": float32[batch, 64] on cuda:0".
  void read_type(Line& line, ValueId id) {
    if (static_cast<size_t>(id) > program_.values.size())
      line.refuse("the next value must be %" + std::to_string(program_.values.size()));
    line.expect(":");
    Value value{};
    const std::string_view dtype = line.word();
    value.dtype = dtype_of(dtype);
    if (value.dtype == OF_DTYPE_NONE) line.refuse("there is no dtype '" + std::string(dtype) + "'");
    line.expect("[");
    while (!line.take("]")) {
      if (!value.sizes.empty()) line.expect(",");
      if (value.sizes.size() == OF_MAX_RANK) line.refuse("there are too many dimensions");
      const auto dim = static_cast<int32_t>(value.sizes.size());
      value.sizes.push_back(line.take("?") ? SizeExpression{0, {{1, {{id, dim}}}}, 1} : read_expression(line));
    }
    if (line.take("on")) value.device = read_device(line);
    if (static_cast<size_t>(id) == program_.values.size()) return program_.values.push_back(std::move(value));
    // A call may return an operand as it is.
    const Value& known = program_.values[static_cast<size_t>(id)];
    if (known.dtype != value.dtype || known.sizes != value.sizes) line.refuse("the value has had another type");
  }

  static of_device read_device(Line& line) {
    const std::string name(line.word(":"));
    try {
      return parse_device(name);
    } catch (const Error& error) {
      line.refuse(error.text());
    }
  }

  SizeExpression read_expression(Line& line) {
    SizeExpression expression;
    const bool has_brackets = line.take("(");
    bool is_negative = line.take("-");
    do {
      read_summand(line, is_negative, expression);
      is_negative = line.peek() == '-';
    } while (line.take("+") || line.take("-"));
    if (has_brackets) line.expect(")");
    if (line.take("/")) expression.divisor = line.natural<int64_t>();
    return expression;
  }

  void read_summand(Line& line, bool is_negative, SizeExpression& expression) {
    Term term{1, {}};
    do {
      if (!is_digit(line.peek())) {
        term.atoms.push_back(read_atom(line));
        continue;
      }
      const auto magnitude = line.natural<uint64_t>();
      int64_t factor;
      const bool fits = is_negative ? magnitude <= uint64_t{1} << 63 : magnitude < uint64_t{1} << 63;
      if (!fits) line.refuse("the number is too large");
      factor = static_cast<int64_t>(is_negative ? 0 - magnitude : magnitude);
      is_negative = false;
      if (__builtin_mul_overflow(term.factor, factor, &term.factor)) line.refuse("the number is too large");
    } while (line.take("*"));
    if (is_negative && __builtin_mul_overflow(term.factor, -1, &term.factor)) line.refuse("the number is too large");
    if (!term.atoms.empty())
      expression.terms.push_back(std::move(term));
    else if (__builtin_add_overflow(expression.constant, term.factor, &expression.constant))
      line.refuse("the number is too large");
  }

  Atom read_atom(Line& line) {
    if (line.peek() == '%') {
      const ValueId value = line.value();
      line.expect(".");
      return {value, line.natural<int32_t>()};
    }
    const std::string_view name = line.word();
    for (size_t i = 0; i < program_.sizes.size(); ++i)
      if (program_.sizes[i].name == name) return {kNoValue, static_cast<int32_t>(i)};
    line.refuse("there is no size '" + std::string(name) + "'");
  }

  void read_call(Line& line) {
    std::vector<std::pair<ValueId, bool>> results;
    do {
      const ValueId value = line.value();
      const bool is_given = line.take("!");
      if (!is_given) read_type(line, value);
      results.emplace_back(value, is_given);
    } while (line.take(","));
    line.expect("=");
    read_operands(line, line.word("."), results);
  }

  void read_operands(Line& line, std::string_view name, const std::vector<std::pair<ValueId, bool>>& results) {
    const auto found = operators_.find(name);
    if (found == operators_.end()) line.refuse("the operator '" + printable(name) + "' was not declared");
    const auto& [op, former] = found->second;
    Node node{op, {}, {}};
    for (const auto& [value, is_given] : results) {
      node.results.push_back(value);
      if (is_given != results[0].second) line.refuse("a call gives either all of its results or none");
      node.gives_results = is_given;
    }
    // A call of an earlier version has the names and the defaults of then, at the positions of now.
    const std::span<const oneflow::Argument> arguments = former ? former->arguments : op->schema().arguments;
    node.arguments.resize(arguments.size());
    line.expect("(");
    for (bool is_first = true; !line.take(")"); is_first = false) {
      if (!is_first) line.expect(",");
      const std::string_view argument = line.word();
      line.expect("=");
      size_t position = 0;
      while (position < arguments.size() && arguments[position].name != argument) ++position;
      if (position == arguments.size()) line.refuse("there is no argument '" + std::string(argument) + "'");
      if (node.arguments[position].kind != OF_VALUE_ABSENT) line.refuse("the argument is there twice");
      node.arguments[position] = read_argument(line);
    }
    line.expect_end();
    for (size_t i = 0; i < node.arguments.size(); ++i)
      if (node.arguments[i].kind == OF_VALUE_ABSENT) node.arguments[i] = default_of(arguments[i]);
    const size_t present = op->schema().arguments.size();
    for (size_t i = present; i < arguments.size(); ++i)
      if (arguments[i].default_text && !(node.arguments[i] == default_of(arguments[i])))
        line.refuse("the argument '" + std::string(arguments[i].name) +
                    "' exists no longer, and had another value than " + arguments[i].default_text);
    node.arguments.resize(present);
    program_.nodes.push_back(std::move(node));
  }

  Argument read_argument(Line& line) {
    Argument argument;
    const char next = line.peek();
    if (next == '"') {
      argument.kind = OF_VALUE_STRING;
      argument.text = line.string();
    } else if (next == '[') {
      read_list(line, argument);
    } else if (next == '@') {
      line.expect("@");
      argument.kind = OF_VALUE_DEVICE;
      argument.devices = {read_device(line)};
    } else if (next == '%' && !is_size(line)) {
      argument.kind = OF_VALUE_TENSOR;
      argument.values = {line.value()};
    } else if (is_digit(next) || next == '-' || !is_letter(next)) {
      read_number(line, argument);
    } else {
      read_word(line, argument);
    }
    return argument;
  }

  // Returns whether "%3" is followed by a dimension.
  static bool is_size(Line& line) {
    size_t ahead = 1;
    while (is_digit(line.peek(ahead))) ++ahead;
    return line.peek(ahead) == '.';
  }

  void read_list(Line& line, Argument& argument) {
    line.expect("[");
    argument.kind = OF_VALUE_INT_LIST;
    if (line.peek() == '@') {
      argument.kind = OF_VALUE_DEVICE_LIST;
      do {
        line.expect("@");
        argument.devices.push_back(read_device(line));
      } while (line.take(","));
      return line.expect("]");
    }
    while (!line.take("]")) {
      if (!argument.sizes.empty()) line.expect(",");
      argument.sizes.push_back(read_expression(line));
    }
  }

  void read_number(Line& line, Argument& argument) {
    Line copy = line;
    double real = 0;
    int64_t integer = 0;
    uint64_t natural = 0;
    const bool starts_number = is_digit(line.peek()) || (line.peek() == '-' && is_digit(line.peek(1)));
    if (line.peek() == '-' && line.peek(1) == 'i') {
      line.expect("-inf");
      argument.kind = OF_VALUE_FLOAT;
      argument.number = float_scalar(-INFINITY);
    } else if (starts_number && !copy.number(real, integer, natural)) {
      line.number(real, integer, natural);
      argument.kind = OF_VALUE_FLOAT;
      argument.number = float_scalar(real);
    } else if (natural) {
      line.number(real, integer, natural);
      argument.kind = OF_VALUE_UINT;
      argument.number = natural_scalar(natural);
    } else {
      argument.kind = OF_VALUE_INT;
      argument.sizes = {read_expression(line)};
    }
  }

  void read_word(Line& line, Argument& argument) {
    Line copy = line;
    const std::string_view word = copy.word();
    const auto set_number = [&](of_value_kind kind, of_scalar number) {
      argument.kind = kind;
      argument.number = number;
    };
    if (word == "true" || word == "false") {
      set_number(OF_VALUE_BOOL, bool_scalar(word == "true"));
    } else if (word == "nan" || word == "inf") {
      set_number(OF_VALUE_FLOAT, float_scalar(word == "nan" ? NAN : INFINITY));
    } else if (word == "none") {
      argument.kind = OF_VALUE_NONE;
    } else if (word == "list") {
      line.word();
      line.expect("[");
      argument.kind = OF_VALUE_TENSOR_LIST;
      while (!line.take("]")) {
        if (!argument.values.empty()) line.expect(",");
        argument.values.push_back(line.take("none") ? kNoValue : line.value());
      }
      return;
    } else if (const of_dtype dtype = dtype_of(word); dtype != OF_DTYPE_NONE) {
      argument.kind = OF_VALUE_DTYPE;
      argument.dtype = dtype;
    } else {
      argument.kind = OF_VALUE_INT;
      argument.sizes = {read_expression(line)};
      return;
    }
    line.word();
  }

  const FindStored find_;
  Program program_;
  std::map<std::string, StoredOperator, std::less<>> operators_;
};

}  // namespace

bool is_size_name(std::string_view name) {
  if (name.empty() || !is_letter(name[0])) return false;
  for (const char c : name)
    if (!is_letter(c) && !is_digit(c)) return false;
  for (const char* word : {"true", "false", "nan", "inf", "none", "list", "in", "step"})
    if (name == word) return false;
  return dtype_of(name) == OF_DTYPE_NONE;
}

Program parse(std::string_view text, FindStored find) { return Reader(find).run(text); }

}  // namespace oneflow::graph
