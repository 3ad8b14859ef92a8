// Tests the search for expressions of sizes.
#include "graph/program/size_expression.h"

#include <gtest/gtest.h>

namespace oneflow::graph {
namespace {

std::vector<SampledSize> sampled_sizes() {
  std::vector<SampledSize> sizes = {{{kNoValue, 0}, {}}, {{kNoValue, 1}, {}}};
  for (int64_t run = 0; run < 64; ++run) {
    const int64_t far = run < 32 ? 0 : 32 * (1 + run % 32);
    sizes[0].samples.push_back(16 + run % 32 + far);
    sizes[1].samples.push_back(16 + run * 3 % 32 + far);
  }
  return sizes;
}
const std::vector<SampledSize> kSizes = sampled_sizes();

int64_t value_of(const SizeExpression& expression, size_t run) {
  return evaluate(expression, [&](const Atom& atom) { return kSizes[static_cast<size_t>(atom.number)].samples[run]; });
}

// Returns the expression that is found for a function of two sizes, and checks it for all runs.
template <class Function>
std::optional<SizeExpression> find(Function function) {
  std::vector<int64_t> samples;
  for (size_t run = 0; run < kSizes[0].samples.size(); ++run)
    samples.push_back(function(kSizes[0].samples[run], kSizes[1].samples[run]));
  const std::optional<SizeExpression> found = fit(samples, kSizes);
  for (size_t run = 0; found && run < samples.size(); ++run) EXPECT_EQ(value_of(*found, run), samples[run]);
  return found;
}

SizeExpression of_first(int64_t factor, int64_t constant, int64_t divisor) {
  return {constant, {{factor, {{kNoValue, 0}}}}, divisor};
}

TEST(SizeExpression, ConstantsAndSizes) {
  EXPECT_EQ(find([](int64_t, int64_t) { return -3; }), (SizeExpression{-3, {}, 1}));
  EXPECT_EQ(find([](int64_t a, int64_t) { return a; }), of_first(1, 0, 1));
  EXPECT_EQ(find([](int64_t a, int64_t) { return 5 - 2 * a; }), of_first(-2, 5, 1));
}

TEST(SizeExpression, QuotientsAreRounded) {
  for (const int64_t divisor : {2, 3, 4, 5, 7, 8})
    for (const int64_t added : {int64_t{0}, divisor - 1, int64_t{2}, int64_t{-3}}) {
      const auto found = find([=](int64_t a, int64_t) { return floor_quotient(a + added, divisor); });
      ASSERT_TRUE(found);
      for (int64_t size = 1; size < 200; ++size)
        EXPECT_EQ(evaluate(*found, [&](const Atom&) { return size; }), floor_quotient(size + added, divisor))
            << size << " + " << added << " by " << divisor;
    }
}

TEST(SizeExpression, ProductsAndSums) {
  EXPECT_TRUE(find([](int64_t a, int64_t b) { return a * b; }));
  EXPECT_TRUE(find([](int64_t a, int64_t b) { return 3 * a * b + 1; }));
  EXPECT_TRUE(find([](int64_t a, int64_t b) { return 2 * a - 3 * b + 7; }));
  EXPECT_TRUE(find([](int64_t a, int64_t b) { return a * a * b; }));
  EXPECT_TRUE(find([](int64_t a, int64_t b) { return a * b / 2; }));
}

TEST(SizeExpression, OthersAreNotFound) {
  EXPECT_FALSE(find([](int64_t a, int64_t) { return int64_t{1} << (a / 2 % 62); }));
  EXPECT_FALSE(find([](int64_t a, int64_t) { return a > 20 ? 1 : 0; }));
}

TEST(SizeExpression, OverflowIsAnError) {
  EXPECT_ANY_THROW(evaluate(of_first(INT64_MAX, 0, 1), [](const Atom&) { return 2; }));
  EXPECT_ANY_THROW(evaluate(of_first(1, INT64_MAX, 1), [](const Atom&) { return 2; }));
  EXPECT_EQ(evaluate(of_first(-1, 0, 2), [](const Atom&) { return 3; }), -2);
}

}  // namespace
}  // namespace oneflow::graph
