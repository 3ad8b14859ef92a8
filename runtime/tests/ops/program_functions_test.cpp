// Tests the functions that programs in records call: integers that do not overflow, ranges, lists.
#include "ops/program_functions.h"

#include <gtest/gtest.h>

#include <limits>

namespace oneflow {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

std::vector<int64_t> items(const Range& range) {
  std::vector<int64_t> found;
  for (const Integer each : range) found.push_back(each);
  EXPECT_EQ(found.size(), range.size());
  return found;
}

std::vector<int64_t> items(const Integers& list) { return {list.begin(), list.end()}; }

// Returns the status and the text of the error that `call` throws.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(status_name(error.status())) + ": " + error.text();
  }
  return "no error";
}

TEST(Integer, ThrowsInsteadOfOverflowing) {
  const Integer most = kMost, least = kLeast;
  for (const std::string& text :
       {error_of([&] { return most + 1; }), error_of([&] { return 1 + most; }), error_of([&] { return least - 1; }),
        error_of([&] { return -2 - most; }), error_of([&] { return most * 2; }), error_of([&] { return -least; }),
        error_of([&] { return floordiv(least, -1); }), error_of([&] { return most + most; })})
    EXPECT_EQ(text, "InvalidArgument: the arguments are so large that a size or a position overflows");
  EXPECT_EQ(most + least, -1);
  EXPECT_EQ(most - 1 + 1, most);
}

TEST(Integer, DividesAsPythonDoes) {
  for (int64_t a = -7; a <= 7; ++a) {
    for (int64_t b = -3; b <= 3; ++b) {
      if (b == 0) continue;
      const int64_t quotient = floordiv(a, b), rest = remainder(a, b);
      EXPECT_EQ(quotient * b + rest, a);
      EXPECT_TRUE(rest == 0 || (rest < 0) == (b < 0)) << a << " " << b;
      EXPECT_LT(std::abs(rest), std::abs(b));
      EXPECT_EQ(ceil_div(a, b), quotient + (rest != 0)) << a << " " << b;
    }
  }
  EXPECT_EQ(remainder(kLeast, -1), 0);
  EXPECT_EQ(error_of([] { return floordiv(1, 0); }), "InvalidArgument: a size cannot be divided by 0");
  EXPECT_EQ(error_of([] { return remainder(1, 0); }), "InvalidArgument: a size cannot be divided by 0");
}

TEST(Range, HasTheItemsOfPythonsRange) {
  EXPECT_EQ(items(range(3)), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(items(range(0)), std::vector<int64_t>{});
  EXPECT_EQ(items(range(-2)), std::vector<int64_t>{});
  EXPECT_EQ(items(range(1, 8, 3)), (std::vector<int64_t>{1, 4, 7}));
  EXPECT_EQ(items(range(1, 7, 3)), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(items(range(3, 0, -2)), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(items(range(0, 3, -1)), std::vector<int64_t>{});
  EXPECT_EQ(items(range(0, 5, kMost)), std::vector<int64_t>{0});
  EXPECT_EQ(items(range(kMost - 1, kMost)), std::vector<int64_t>{kMost - 1});
  EXPECT_EQ(error_of([] { return range(0, 1, 0); }), "InvalidArgument: the step of a range must not be zero");
}

TEST(Lists, AreSummedJoinedAndCompared) {
  const Shape list{2, 0, 3};
  EXPECT_EQ(total(list), 5);
  EXPECT_EQ(total(Shape{}), 0);
  EXPECT_EQ(items(starts(list)), (std::vector<int64_t>{0, 2, 2}));
  EXPECT_EQ(items(joined(list, Shape{7})), (std::vector<int64_t>{2, 0, 3, 7}));
  EXPECT_TRUE(same(list, Shape{2, 0, 3}));
  EXPECT_FALSE(same(list, Shape{2, 0}));
  EXPECT_EQ(item(list, 2), 3);
  EXPECT_EQ(error_of([&] { return item(list, 3); }),
            "IndexOutOfRange: position 3 is out of range for a list of 3 items");
  EXPECT_EQ(error_of([&] { return item(list, -1); }),
            "IndexOutOfRange: position -1 is out of range for a list of 3 items");
  EXPECT_EQ(error_of([] {
              return total(Shape{kMost, 1});
            }),
            "InvalidArgument: the arguments are so large that a size or a position overflows");
}

TEST(FailWith, ReplacesEachPlaceholder) {
  const Shape list{1, 2};
  EXPECT_EQ(error_of([&] { fail_with(OF_SHAPE_ERROR, "got {} and {}, {}", Integer(-4), list, OF_FLOAT16); }),
            "ShapeError: got -4 and [1, 2], float16");
  EXPECT_EQ(error_of([] { fail_with(OF_INVALID_ARGUMENT, "got {} and '{}'", -0.5, std::string_view("a\n")); }),
            "InvalidArgument: got -0.5 and 'a\\x0a'");
  EXPECT_EQ(error_of([] { fail_with(OF_INTERNAL_ERROR, "nothing to replace"); }), "InternalError: nothing to replace");
}

}  // namespace
}  // namespace oneflow
