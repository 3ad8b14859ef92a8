// Tests that the programs for sizes and index maps compute with sizes that have names, as graphs will need: the same
// templates as for numbers are instantiated with a symbolic type.
#include <gtest/gtest.h>

#include <map>

// The programs copy integers in loops, which costs something only for symbols.
#pragma GCC diagnostic ignored "-Wrange-loop-construct"

#include "generated/conversion_programs.h"
#include "generated/creation_programs.h"
#include "generated/shape_programs.h"
#include "generated/slicing_programs.h"
#include "ops/index_map.h"

namespace oneflow {
namespace {

// An expression of sizes with names. Comparisons are answered by the values that the sizes have at the moment.
struct Symbol {
  int64_t value;
  std::string text;

  Symbol(int64_t value = 0) : value(value), text(std::to_string(value)) {}
  Symbol(std::string name, int64_t value) : value(value), text(std::move(name)) {}

  bool is_number() const { return text == std::to_string(value); }
  bool is_number(int64_t number) const { return is_number() && value == number; }
  // The text within a product.
  std::string factor() const {
    return text.find_first_of("+-(") == std::string::npos || text.back() == ')' ? text : "(" + text + ")";
  }

  friend Symbol operator+(const Symbol& a, const Symbol& b) {
    if (a.is_number() && b.is_number()) return a.value + b.value;
    if (a.is_number(0)) return b;
    if (b.is_number(0)) return a;
    return {a.text + " + " + b.text, a.value + b.value};
  }
  friend Symbol operator-(const Symbol& a, const Symbol& b) {
    if (a.is_number() && b.is_number()) return a.value - b.value;
    if (b.is_number(0)) return a;
    return {a.text + " - " + b.factor(), a.value - b.value};
  }
  friend Symbol operator-(const Symbol& a) { return Symbol(0) - a; }
  friend Symbol operator*(const Symbol& a, const Symbol& b) {
    if (a.is_number() && b.is_number()) return a.value * b.value;
    if (a.is_number(0) || b.is_number(0)) return 0;
    if (a.is_number(1)) return b;
    if (b.is_number(1)) return a;
    return {a.factor() + "*" + b.factor(), a.value * b.value};
  }
  friend bool operator==(const Symbol& a, const Symbol& b) { return a.value == b.value; }
  friend auto operator<=>(const Symbol& a, const Symbol& b) { return a.value <=> b.value; }
};

using Symbols = ItemList<Symbol>;

Symbol function(const char* name, const Symbol& a, const Symbol& b, int64_t value) {
  if (a.is_number() && b.is_number()) return value;
  return {std::string(name) + "(" + a.text + ", " + b.text + ")", value};
}
Symbol min(const Symbol& a, const Symbol& b) { return function("min", a, b, std::min(a.value, b.value)); }
Symbol max(const Symbol& a, const Symbol& b) { return function("max", a, b, std::max(a.value, b.value)); }
Symbol clamp(const Symbol& value, const Symbol& lowest, const Symbol& highest) {
  return max(lowest, min(value, highest));
}
Symbol floordiv(const Symbol& a, const Symbol& b) {
  return function("floordiv", a, b, floordiv(Integer(a.value), Integer(b.value)));
}
Symbol remainder(const Symbol& a, const Symbol& b) {
  return function("remainder", a, b, remainder(Integer(a.value), Integer(b.value)));
}
Symbol ceil_div(const Symbol& a, const Symbol& b) {
  return function("ceil_div", a, b, ceil_div(Integer(a.value), Integer(b.value)));
}
int position(const Symbol& dim) { return static_cast<int>(dim.value); }
std::string text_of(const Symbol& symbol) { return symbol.text; }
std::string text_of(const Symbols& list) {
  std::string text;
  for (const Symbol& each : list) text += (text.empty() ? "" : ", ") + each.text;
  return "[" + text + "]";
}
Symbol count_elements(const Symbols& sizes) {
  Symbol count = 1;
  for (const Symbol& each : sizes) count = count * each;
  return count;
}
Symbol product(const Symbols& sizes) { return count_elements(sizes); }
Symbol item(const Symbols& list, const Symbol& at) { return list[position(at)]; }
bool contains(const Symbols& list, const Symbol& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}
Symbols completed(const Symbols& requested, const Symbol& count) { return completed_sizes(requested, count); }
Symbol len(const Symbols& list) { return list.rank(); }
Symbols integer_list(const Symbol& item) { return {item}; }
Symbols integer_list(const Symbol& first, const Symbol& second) { return {first, second}; }
Symbols range(const Symbol& start, const Symbol& stop, const Symbol& step = 1) {
  Symbols items;
  for (const Integer each : range(Integer(start.value), Integer(stop.value), Integer(step.value)))
    items.push_back(static_cast<int64_t>(each));
  return items;
}
Symbols range(const Symbol& stop) { return range(0, stop); }
template <class... Items>
Symbols symbols(const Items&... items) {
  return {Symbol(items)...};
}

// A list that a program fills.
struct SymbolList : Symbols {
  using Symbols::Symbols;
  template <class List>
  List reserve_for(List&& source) {
    return std::forward<List>(source);
  }
};
Symbol len(const SymbolList& list) { return list.rank(); }
SymbolList joined(const Symbols& first, const Symbols& second) {
  SymbolList both;
  for (const Symbols& list : {first, second})
    for (const Symbol& each : list) both.push_back(each);
  return both;
}

struct SymbolicNumbers {
  using Size = Symbol;
  using Sizes = Symbols;
  using Step = Symbol;
  using Steps = Symbols;

  static Symbol before(const Symbol& step, const Symbol& size) { return step * size; }
  static Symbol last() { return 1; }
  static Symbol repeated(const Symbol&) { return 0; }
  static Symbol in_parts(const Symbol& step) { return Symbol(2) * step; }
  static Symbol one_part() { return 1; }
  static std::string text(const Symbols& steps) { return text_of(steps); }
  static std::string text(const Symbol& offset) { return offset.text; }
  static std::optional<Symbols> regrouped(const Symbols& sizes, const Symbols& steps, const Symbols& to) {
    return regrouped_strides<Symbols, Symbol>(sizes, steps, to);
  }
};

using SymbolicMap = IndexMap<SymbolicNumbers>;

// The arguments of a call with symbolic sizes.
class SymbolBody {
 public:
  using Map = SymbolicMap;
  using Integer = Symbol;
  using Integers = SymbolList;
  using Shape = Symbols;

  std::map<int, Symbol> numbers;
  std::map<int, Symbols> lists;
  SymbolicMap input;

  const SymbolicMap& map(int) const { return input; }
  const SymbolicMap& tensor(int) const { return input; }
  bool is_given(int argument) const { return numbers.contains(argument); }
  Symbol integer(int argument) const { return numbers.at(argument); }
  Symbols integers(int argument) const { return lists.at(argument); }
};

const Symbol b("b", 4), c("c", 5);

// Returns a call of which the tensor is contiguous, with sizes [b, 6, c].
SymbolBody call(std::map<int, Symbol> numbers, std::map<int, Symbols> lists = {}) {
  const SymbolicMap input{symbols(b, 6, c), symbols(Symbol(6) * c, c, 1), 0, OF_FLOAT32};
  return {std::move(numbers), std::move(lists), input};
}

// Returns the sizes, the strides and the offset of a view in words.
std::string text(const SymbolicMap& map) {
  return text_of(map.sizes) + " by " + text_of(map.steps) + " from " + map.offset.text;
}

TEST(SymbolicSizes, OfViews) {
  EXPECT_EQ(text(transpose_map(call({{1, 0}, {2, 2}}))), "[c, 6, b] by [1, c, 6*c] from 0");
  EXPECT_EQ(text(permute_map(call({}, {{1, symbols(1, 2, 0)}}))), "[6, c, b] by [c, 1, 6*c] from 0");
  EXPECT_EQ(text(unsqueeze_map(call({{1, 1}}))), "[b, 1, 6, c] by [6*c, c*6, c, 1] from 0");
  EXPECT_EQ(text(expand_map(call({}, {{1, symbols(3, b, -1, c)}}))), "[3, b, 6, c] by [0, 6*c, c, 1] from 0");
  EXPECT_EQ(text(select_map(call({{1, 2}, {2, -1}}))), "[b, 6] by [6*c, c] from -1 + c");
  EXPECT_EQ(text(narrow_map(call({{1, 0}, {2, 1}, {3, b - 1}}))), "[b - 1, 6, c] by [6*c, c, 1] from 6*c");
  EXPECT_EQ(text(slice_map(call({{1, 1}, {2, 1}, {4, 2}}))), "[b, 3, c] by [6*c, c*2, 1] from c");
  EXPECT_EQ(text(squeeze_map(call({}))), "[b, 6, c] by [6*c, c, 1] from 0");
}

TEST(SymbolicSizes, OfSlices) {
  const SymbolicMap every_second = slice_map(call({{1, 0}, {2, 1}, {4, 2}}));
  EXPECT_EQ(every_second.sizes[0].text, "max(ceil_div(b - max(0, min(1, b)), 2), 0)");
  EXPECT_EQ(every_second.sizes[0].value, 2);
  const SymbolicMap diagonals = diagonal_map(call({{1, 0}, {2, 0}, {3, 2}}));
  EXPECT_EQ(diagonals.sizes[1].value, 4);
  EXPECT_EQ(diagonals.steps[1].text, "6*c + 1");
}

TEST(SymbolicSizes, OfChangesOfShape) {
  EXPECT_EQ(text(flatten_map(call({{1, 1}, {2, 2}}))), "[b, 6*c] by [6*c, 1] from 0");
  EXPECT_EQ(text(reshape_map(call({}, {{1, symbols(b, 2, -1)}}))),
            "[b, 2, floordiv(b*6*c, b*2)] by [floordiv(b*6*c, b*2)*2, floordiv(b*6*c, b*2), 1] from 0");
}

TEST(SymbolicSizes, OfGenerators) {
  EXPECT_EQ(text_of(zeros_like_sizes(call({}))), "[b, 6, c]");
  EXPECT_EQ(text_of(eye_sizes(call({{0, b}}))), "[b, b]");
  EXPECT_EQ(text_of(eye_sizes(call({{0, b}, {1, c}}))), "[b, c]");
  EXPECT_EQ(text_of(linspace_sizes(call({{2, b}}))), "[b]");
}

}  // namespace
}  // namespace oneflow
