#include "einsum/equation.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "einsum/equation_text.h"

namespace oneflow::einsum {

namespace {

// The largest label in brackets.
constexpr Symbol kLargestNumber = (Symbol{1} << 31) - 1;

// The parser of parse_equation().
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ParsedEquation parse() {
    parsed_.operands.emplace_back();
    term_ = &parsed_.operands.back();
    while (at_ < text_.size()) read_one();
    end_term();
    parsed_.text = text_;
    return std::move(parsed_);
  }

 private:
  void read_one() {
    switch (text_[at_]) {
      case ' ':
        ++at_;
        return;
      case ',':
        if (parsed_.has_output) fail_here("equation has a ',' after '->'; there is only one result");
        end_term();
        ++at_;
        begin_term(parsed_.operands.emplace_back());
        return;
      case '.':
        return read_ellipsis();
      case '-':
        return read_arrow();
      case '[':
        return read_numbers();
      default:
        return read_letter();
    }
  }

  void begin_term(Term& term) {
    term_ = &term;
    term.begin = at_;
  }
  void end_term() { term_->end = at_; }

  void read_letter() {
    const Character character = character_at(text_, at_);
    if (!is_label(character.code))
      fail_here("equation has an unexpected " + quoted(text_, character, at_) +
                "; labels are letters, or numbers in brackets");
    add(character.code, at_);
    at_ += character.bytes;
  }

  void read_ellipsis() {
    if (text_.substr(at_, 3) != "...") fail_here("equation has a '.' that is not part of '...'");
    if (term_->has_ellipsis()) fail_here("equation has a second '...' in one term");
    term_->ellipsis = term_->rank();
    term_->ellipsis_offset = at_;
    at_ += 3;
  }

  void read_arrow() {
    if (text_.substr(at_, 2) != "->") fail_here("equation has a '-' that is not part of '->'");
    if (parsed_.has_output) fail_here("equation has a second '->'");
    end_term();
    at_ += 2;
    parsed_.has_output = true;
    begin_term(parsed_.output);
  }

  void read_numbers() {
    const size_t bracket = at_++;
    for (bool is_first = true; !take(']'); is_first = false) {
      if (!is_first && !take(',')) fail_inside(bracket, "',' or ']'");
      skip_spaces();
      if (at_ < text_.size() && text_[at_] == '.') {
        read_ellipsis();
      } else {
        read_number(bracket);
      }
    }
  }

  void read_number(size_t bracket) {
    const size_t start = at_;
    Symbol number = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      number = number * 10 + (text_[at_] - '0');
      if (number > kLargestNumber)
        fail_at(OF_INVALID_ARGUMENT, text_, start, "equation has a label that is greater than 2147483647");
    }
    if (at_ == start) fail_inside(bracket, "a non-negative number or '...'");
    add(kNumber + number, start);
  }

  // Skips spaces, and consumes the next character if it is `expected`. Returns whether it did.
  bool take(char expected) {
    skip_spaces();
    const bool is_there = at_ < text_.size() && text_[at_] == expected;
    at_ += is_there;
    return is_there;
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  void add(Symbol symbol, size_t offset) {
    term_->symbols.push_back(symbol);
    term_->offsets.push_back(offset);
  }

  [[noreturn]] void fail_here(const std::string& message) { fail_at(OF_INVALID_ARGUMENT, text_, at_, message); }
  [[noreturn]] void fail_inside(size_t bracket, const char* expected) {
    if (at_ == text_.size())
      fail_at(OF_INVALID_ARGUMENT, text_, bracket, "equation has a '[' without the ']' that ends it");
    const Character character = character_at(text_, at_);
    fail_here("equation has an unexpected " + quoted(text_, character, at_) + " in brackets, expected " + expected);
  }

  std::string_view text_;
  size_t at_ = 0;
  ParsedEquation parsed_;
  Term* term_ = nullptr;
};

// Returns a label as written, "j" or "[12]". `offset` is the offset of any of its occurrences.
std::string text_of(const ParsedEquation& parsed, Symbol symbol, size_t offset) {
  if (symbol >= kNumber) return format_text("[%ld]", static_cast<long>(symbol - kNumber));
  return parsed.text.substr(offset, character_at(parsed.text, offset).bytes);
}

// Returns the name of a label for error texts: "label 'j'" or "label 12".
std::string name_of(const ParsedEquation& parsed, Symbol symbol, size_t offset) {
  if (symbol >= kNumber) return format_text("label %ld", static_cast<long>(symbol - kNumber));
  return "label " + quoted(parsed.text, character_at(parsed.text, offset), offset);
}

// Numbers labels in order of first occurrence, after the dimensions of the ellipsis.
class Numbering {
 public:
  Numbering(const ParsedEquation& parsed, int ellipsis_rank) : parsed_(parsed), ellipsis_rank_(ellipsis_rank) {
    for (int d = 0; d < ellipsis_rank; ++d) names_.push_back(format_text("dimension %d of '...'", d - ellipsis_rank));
    symbols_.assign(static_cast<size_t>(ellipsis_rank), "...");
  }

  // Appends the labels of a term and their offsets. The ellipsis of the term stands for the last `ellipsis_rank`
  // dimensions of the longest ellipsis.
  void number(const Term& term, int ellipsis_rank, Labels& labels, Offsets& offsets) {
    for (int i = 0; i <= term.rank(); ++i) {
      if (i == term.ellipsis) {
        for (int d = ellipsis_rank_ - ellipsis_rank; d < ellipsis_rank_; ++d) labels.push_back(d);
        offsets.insert(offsets.end(), static_cast<size_t>(ellipsis_rank), term.ellipsis_offset);
      }
      if (i == term.rank()) break;
      const auto at = static_cast<size_t>(i);
      labels.push_back(number(term.symbols[at], term.offsets[at]));
      offsets.push_back(term.offsets[at]);
    }
  }

  bool contains(Symbol symbol) const { return numbers_.count(symbol) > 0; }
  std::vector<std::string>& names() { return names_; }
  std::vector<std::string>& symbols() { return symbols_; }

 private:
  int number(Symbol symbol, size_t offset) {
    const auto [known, is_new] = numbers_.emplace(symbol, static_cast<int>(names_.size()));
    if (is_new) {
      names_.push_back(name_of(parsed_, symbol, offset));
      symbols_.push_back(text_of(parsed_, symbol, offset));
    }
    return known->second;
  }

  const ParsedEquation& parsed_;
  int ellipsis_rank_;
  std::unordered_map<Symbol, int> numbers_;
  std::vector<std::string> names_, symbols_;
};

// Returns the implicit output: the ellipsis, then the labels that appear exactly once, letters in the order of their
// code points before numbers.
Term implicit_output(const ParsedEquation& parsed) {
  std::map<Symbol, int> uses;
  Term output{};
  for (const Term& term : parsed.operands) {
    if (term.has_ellipsis()) output.ellipsis = 0;
    for (const Symbol symbol : term.symbols) ++uses[symbol];
  }
  for (const auto& [symbol, count] : uses)
    if (count == 1) output.symbols.push_back(symbol);
  output.offsets.resize(output.symbols.size());
  return output;
}

void check_output(const ParsedEquation& parsed, const Numbering& numbering) {
  const Term& output = parsed.output;
  std::vector<Symbol> seen;
  for (size_t i = 0; i < output.symbols.size(); ++i) {
    const Symbol symbol = output.symbols[i];
    const auto fail_here = [&](const char* message) {
      const size_t offset = output.offsets[i];
      fail_at(OF_INVALID_ARGUMENT, parsed.text, offset, name_of(parsed, symbol, offset) + message);
    };
    if (!numbering.contains(symbol)) fail_here(" of the output does not appear in any operand");
    if (std::find(seen.begin(), seen.end(), symbol) != seen.end()) fail_here(" appears more than once in the output");
    seen.push_back(symbol);
    // Stops at the maximum rank, because the search for duplicates takes quadratic time.
    if (seen.size() > OF_MAX_RANK)
      fail_at(
          OF_SHAPE_ERROR, parsed.text, output.offsets[i],
          format_text("a tensor has at most %d dimensions, the output has %zu", OF_MAX_RANK, output.symbols.size()));
  }
}

// Returns a term for error texts, without spaces, and cut if it is longer than a term of the maximum rank.
std::string shown(const ParsedEquation& parsed, const Term& term) {
  std::string result;
  int characters = 0;
  for (size_t at = term.begin; at < term.end; at += character_at(parsed.text, at).bytes) {
    if (parsed.text[at] == ' ') continue;
    if (++characters > OF_MAX_RANK + 3) return result + "…";
    result += parsed.text.substr(at, character_at(parsed.text, at).bytes);
  }
  return result;
}

// Returns the largest number of dimensions that an ellipsis stands for. Throws ShapeError for an operand whose rank
// does not fit its term.
int find_ellipsis_rank(const ParsedEquation& parsed, std::span<const int> ranks) {
  int most = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Term& term = parsed.operands[i];
    const int extra = ranks[i] - term.rank();
    if (extra < 0 || (extra > 0 && !term.has_ellipsis()))
      fail_at(OF_SHAPE_ERROR, parsed.text, term.offsets.empty() ? term.begin : term.offsets[0],
              format_text("operand %zu has %d dim%s but '%s' names %s%d", i, ranks[i], ranks[i] == 1 ? "" : "s",
                          shown(parsed, term).c_str(), term.has_ellipsis() ? "at least " : "", term.rank()));
    if (term.has_ellipsis()) most = std::max(most, extra);
  }
  return most;
}

}  // namespace

ParsedEquation parse_equation(std::string_view text) { return Parser(text).parse(); }

Equation resolve_equation(const ParsedEquation& parsed, std::span<const int> ranks) {
  const size_t count = parsed.operands.size();
  if (ranks.empty()) fail(OF_INVALID_ARGUMENT, "operands must have at least one tensor");
  if (count != ranks.size())
    fail(OF_INVALID_ARGUMENT, "equation names %zu operand%s, got %zu", count, count == 1 ? "" : "s", ranks.size());
  const int ellipsis_rank = find_ellipsis_rank(parsed, ranks);

  Numbering numbering(parsed, ellipsis_rank);
  Equation equation;
  equation.operands.resize(count);
  equation.offsets.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const Term& term = parsed.operands[i];
    numbering.number(term, term.has_ellipsis() ? ranks[i] - term.rank() : 0, equation.operands[i], equation.offsets[i]);
  }
  if (parsed.has_output) check_output(parsed, numbering);
  Offsets unused;
  numbering.number(parsed.has_output ? parsed.output : implicit_output(parsed), ellipsis_rank, equation.output, unused);
  equation.names = std::move(numbering.names());
  equation.symbols = std::move(numbering.symbols());
  equation.broadcasts.assign(equation.names.size(), true);
  equation.text = parsed.text;
  return equation;
}

}  // namespace oneflow::einsum
