#include "einsum/equation.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "einsum/characters.h"

namespace oneflow::einsum {

namespace {

// More labels than any memory has tensors for.
constexpr Symbol kLargestNumber = (Symbol{1} << 31) - 1;

// Reads an equation from left to right.
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
        if (parsed_.has_output) fail_here("equation has a ',' behind '->'; there is one result");
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
    term_->ellipsis_place = at_;
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
      skip_blanks();
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
    if (at_ == start) fail_inside(bracket, "a number that is not negative, or '...'");
    add(kNumber + number, start);
  }

  // Takes the next character if it is this one.
  bool take(char wanted) {
    skip_blanks();
    const bool is_there = at_ < text_.size() && text_[at_] == wanted;
    at_ += is_there;
    return is_there;
  }
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  void add(Symbol symbol, size_t place) {
    term_->symbols.push_back(symbol);
    term_->places.push_back(place);
  }

  [[noreturn]] void fail_here(const std::string& words) { fail_at(OF_INVALID_ARGUMENT, text_, at_, words); }
  [[noreturn]] void fail_inside(size_t bracket, const char* wanted) {
    if (at_ == text_.size())
      fail_at(OF_INVALID_ARGUMENT, text_, bracket, "equation has a '[' without the ']' that ends it");
    const Character character = character_at(text_, at_);
    fail_here("equation has an unexpected " + quoted(text_, character, at_) + " in brackets, where " + wanted +
              " belongs");
  }

  std::string_view text_;
  size_t at_ = 0;
  ParsedEquation parsed_;
  Term* term_ = nullptr;
};

// "j", "[12]"; `place` is one where the label stands.
std::string text_of(const ParsedEquation& parsed, Symbol symbol, size_t place) {
  if (symbol >= kNumber) return format_text("[%ld]", static_cast<long>(symbol - kNumber));
  return parsed.text.substr(place, character_at(parsed.text, place).bytes);
}

// "label 'j'", "label 12".
std::string name_of(const ParsedEquation& parsed, Symbol symbol, size_t place) {
  if (symbol >= kNumber) return format_text("label %ld", static_cast<long>(symbol - kNumber));
  return "label " + quoted(parsed.text, character_at(parsed.text, place), place);
}

// Numbers labels as they come up, the dimensions of the ellipsis first.
class Numbering {
 public:
  Numbering(const ParsedEquation& parsed, int ellipsis_rank) : parsed_(parsed), ellipsis_rank_(ellipsis_rank) {
    for (int d = 0; d < ellipsis_rank; ++d) names_.push_back(format_text("dimension %d of '...'", d - ellipsis_rank));
    symbols_.assign(static_cast<size_t>(ellipsis_rank), "...");
  }

  // Of a term whose ellipsis stands for the last `ellipsis_rank` of the dimensions that any stands for.
  void number(const Term& term, int ellipsis_rank, Labels& labels, Places& places) {
    for (int i = 0; i <= term.rank(); ++i) {
      if (i == term.ellipsis) {
        for (int d = ellipsis_rank_ - ellipsis_rank; d < ellipsis_rank_; ++d) labels.push_back(d);
        places.insert(places.end(), static_cast<size_t>(ellipsis_rank), term.ellipsis_place);
      }
      if (i == term.rank()) break;
      const auto at = static_cast<size_t>(i);
      labels.push_back(number(term.symbols[at], term.places[at]));
      places.push_back(term.places[at]);
    }
  }

  bool knows(Symbol symbol) const { return numbers_.count(symbol) > 0; }
  std::vector<std::string>& names() { return names_; }
  std::vector<std::string>& symbols() { return symbols_; }

 private:
  int number(Symbol symbol, size_t place) {
    const auto [known, is_new] = numbers_.emplace(symbol, static_cast<int>(names_.size()));
    if (is_new) {
      names_.push_back(name_of(parsed_, symbol, place));
      symbols_.push_back(text_of(parsed_, symbol, place));
    }
    return known->second;
  }

  const ParsedEquation& parsed_;
  int ellipsis_rank_;
  std::unordered_map<Symbol, int> numbers_;
  std::vector<std::string> names_, symbols_;
};

// The ellipsis, and each label that appears exactly once, in the order of their code points, numbers last.
Term implicit_output(const ParsedEquation& parsed) {
  std::map<Symbol, int> uses;
  Term output{};
  for (const Term& term : parsed.operands) {
    if (term.has_ellipsis()) output.ellipsis = 0;
    for (const Symbol symbol : term.symbols) ++uses[symbol];
  }
  for (const auto& [symbol, count] : uses)
    if (count == 1) output.symbols.push_back(symbol);
  output.places.resize(output.symbols.size());
  return output;
}

void check_output(const ParsedEquation& parsed, const Numbering& numbering) {
  const Term& output = parsed.output;
  std::vector<Symbol> seen;
  for (size_t i = 0; i < output.symbols.size(); ++i) {
    const Symbol symbol = output.symbols[i];
    const auto fail_here = [&](const char* words) {
      const size_t place = output.places[i];
      fail_at(OF_INVALID_ARGUMENT, parsed.text, place, name_of(parsed, symbol, place) + words);
    };
    if (!numbering.knows(symbol)) fail_here(" of the output does not appear in any operand");
    if (std::find(seen.begin(), seen.end(), symbol) != seen.end()) fail_here(" appears more than once in the output");
    seen.push_back(symbol);
    // Beyond what a tensor has dimensions for; searching on would take long in a long output.
    if (seen.size() > OF_MAX_RANK)
      fail_at(
          OF_SHAPE_ERROR, parsed.text, output.places[i],
          format_text("a tensor has at most %d dimensions, the output has %zu", OF_MAX_RANK, output.symbols.size()));
  }
}

// A term as errors show it: cut where it is longer than that of any tensor.
std::string shown(const ParsedEquation& parsed, const Term& term) {
  std::string words;
  int characters = 0;
  for (size_t at = term.begin; at < term.end; at += character_at(parsed.text, at).bytes) {
    if (parsed.text[at] == ' ') continue;
    if (++characters > OF_MAX_RANK + 3) return words + "…";
    words += parsed.text.substr(at, character_at(parsed.text, at).bytes);
  }
  return words;
}

// The most dimensions that an ellipsis stands for. ShapeError for an operand that has not the rank its term wants.
int find_ellipsis_rank(const ParsedEquation& parsed, std::span<const int> ranks) {
  int most = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Term& term = parsed.operands[i];
    const int extra = ranks[i] - term.rank();
    if (extra < 0 || (extra > 0 && !term.has_ellipsis()))
      fail_at(OF_SHAPE_ERROR, parsed.text, term.places.empty() ? term.begin : term.places[0],
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
  equation.places.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const Term& term = parsed.operands[i];
    numbering.number(term, term.has_ellipsis() ? ranks[i] - term.rank() : 0, equation.operands[i], equation.places[i]);
  }
  if (parsed.has_output) check_output(parsed, numbering);
  Places unused;
  numbering.number(parsed.has_output ? parsed.output : implicit_output(parsed), ellipsis_rank, equation.output, unused);
  equation.names = std::move(numbering.names());
  equation.symbols = std::move(numbering.symbols());
  equation.broadcasts.assign(equation.names.size(), true);
  equation.text = parsed.text;
  return equation;
}

}  // namespace oneflow::einsum
