#include "einsum/equation.h"

#include <algorithm>
#include <map>

#include "base/error.h"

namespace oneflow::einsum {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The character at `at` as errors show it: other than ASCII with its number, because it may look like a letter or like
// nothing at all; bytes that are no character are escaped.
std::string character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  const unsigned first = byte(at);
  if (first >= 0x20 && first < 0x7f) return format_text("'%c'", text[at]);
  const size_t size = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  constexpr unsigned kLowest[] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned code = first & (0xff >> (size + 1));
  size_t end = at + 1;
  for (; end < std::min(at + size, text.size()) && is_continuation(text[end]); ++end)
    code = code << 6 | (byte(end) & 0x3f);
  const bool is_character =
      size > 1 && end == at + size && code >= kLowest[size] && code <= 0x10ffff && code >> 11 != 0x1b;  // surrogates
  if (!is_character) return format_text("'\\x%02x'", first);
  return format_text("'%s' (U+%04X)", std::string(text.substr(at, size)).c_str(), code);
}

// A term as errors show it: cut where it is longer than that of any tensor.
std::string shown(const std::string& term) {
  constexpr size_t kLongest = OF_MAX_RANK + 3;
  return term.size() <= kLongest ? term : term.substr(0, kLongest) + "…";
}

// Reads an equation from left to right.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ParsedEquation parse() {
    parsed_.operands.emplace_back();
    Term* term = &parsed_.operands.back();
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == ' ') continue;
      if (is_letter(c)) {
        ++(term->has_ellipsis ? term->letters_after : term->letters_before);
        term->text += c;
      } else if (c == ',' && !parsed_.has_output) {
        term = &parsed_.operands.emplace_back();
      } else if (c == '.') {
        read_ellipsis(*term);
      } else if (c == '-') {
        read_arrow();
        term = &parsed_.output;
      } else {
        fail(OF_INVALID_ARGUMENT, "equation has an unexpected %s at position %d", character_at(text_, at_).c_str(),
             position());
      }
    }
    return std::move(parsed_);
  }

 private:
  void read_ellipsis(Term& term) {
    if (text_.substr(at_, 3) != "...")
      fail(OF_INVALID_ARGUMENT, "equation has a '.' at position %d that is not part of '...'", position());
    if (term.has_ellipsis)
      fail(OF_INVALID_ARGUMENT, "equation has a second '...' in one term at position %d", position());
    term.has_ellipsis = true;
    term.text += "...";
    at_ += 2;
  }

  void read_arrow() {
    if (text_.substr(at_, 2) != "->")
      fail(OF_INVALID_ARGUMENT, "equation has a '-' at position %d that is not part of '->'", position());
    if (parsed_.has_output) fail(OF_INVALID_ARGUMENT, "equation has a second '->' at position %d", position());
    parsed_.has_output = true;
    at_ += 1;
  }

  // In characters rather than bytes.
  int position() const {
    return static_cast<int>(std::count_if(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                          [](char c) { return !is_continuation(c); }));
  }

  std::string_view text_;
  size_t at_ = 0;
  ParsedEquation parsed_;
};

// Numbers labels as they come up, the dimensions of the ellipsis first.
class Numbering {
 public:
  explicit Numbering(int ellipsis_rank) : ellipsis_rank_(ellipsis_rank) {
    for (int d = 0; d < ellipsis_rank; ++d) names_.push_back(format_text("dimension %d of '...'", d - ellipsis_rank));
  }

  Labels number(const Term& term, int ellipsis_rank) {
    Labels labels;
    for (size_t i = 0; i < term.text.size(); ++i) {
      if (term.text[i] == '.') {
        for (int d = ellipsis_rank_ - ellipsis_rank; d < ellipsis_rank_; ++d) labels.push_back(d);
        i += 2;
      } else {
        labels.push_back(number(term.text[i]));
      }
    }
    return labels;
  }

  bool knows(char letter) const { return letters_.count(letter) > 0; }
  std::vector<std::string>& names() { return names_; }

 private:
  int number(char letter) {
    const auto [place, is_new] = letters_.emplace(letter, static_cast<int>(names_.size()));
    if (is_new) names_.push_back(format_text("label '%c'", letter));
    return place->second;
  }

  int ellipsis_rank_;
  std::map<char, int> letters_;
  std::vector<std::string> names_;
};

// The ellipsis, and each letter that appears exactly once, in alphabetical order.
Term implicit_output(const ParsedEquation& parsed) {
  std::map<char, int> uses;
  Term output;
  for (const Term& term : parsed.operands) {
    output.has_ellipsis |= term.has_ellipsis;
    for (const char c : term.text)
      if (c != '.') ++uses[c];
  }
  if (output.has_ellipsis) output.text = "...";
  for (const auto& [letter, count] : uses)
    if (count == 1) output.text += letter;
  return output;
}

void check_output(const Term& output, const Numbering& numbering) {
  for (size_t i = 0; i < output.text.size(); ++i) {
    const char letter = output.text[i];
    if (letter == '.') continue;
    if (!numbering.knows(letter))
      fail(OF_INVALID_ARGUMENT, "label '%c' of the output does not appear in any operand", letter);
    if (output.text.find(letter, i + 1) != std::string::npos)
      fail(OF_INVALID_ARGUMENT, "label '%c' appears more than once in the output", letter);
  }
}

}  // namespace

ParsedEquation parse_equation(std::string_view text) { return Parser(text).parse(); }

Equation resolve_equation(const ParsedEquation& parsed, std::span<const int> ranks) {
  const size_t count = parsed.operands.size();
  if (ranks.empty()) fail(OF_INVALID_ARGUMENT, "operands must have at least one tensor");
  if (count != ranks.size())
    fail(OF_INVALID_ARGUMENT, "equation names %zu operand%s, got %zu", count, count == 1 ? "" : "s", ranks.size());
  int ellipsis_rank = 0;
  for (size_t i = 0; i < count; ++i) {
    const Term& term = parsed.operands[i];
    const int extra = ranks[i] - term.letters();
    if (extra < 0 || (extra > 0 && !term.has_ellipsis))
      fail(OF_SHAPE_ERROR, "operand %zu has %d dimension%s but '%s' names %s%d", i, ranks[i], ranks[i] == 1 ? "" : "s",
           shown(term.text).c_str(), term.has_ellipsis ? "at least " : "", term.letters());
    if (term.has_ellipsis) ellipsis_rank = std::max(ellipsis_rank, extra);
  }

  Numbering numbering(ellipsis_rank);
  Equation equation;
  for (size_t i = 0; i < count; ++i)
    equation.operands.push_back(numbering.number(parsed.operands[i], ranks[i] - parsed.operands[i].letters()));
  const Term output = parsed.has_output ? parsed.output : implicit_output(parsed);
  check_output(output, numbering);
  equation.output = numbering.number(output, ellipsis_rank);
  equation.names = std::move(numbering.names());
  equation.broadcasts.assign(equation.names.size(), true);
  return equation;
}

}  // namespace oneflow::einsum
