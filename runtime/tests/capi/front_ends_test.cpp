// Tests what front ends decide alike.
#include <gtest/gtest.h>
#include <oneflow/front_end.h>

#include <numeric>
#include <string>
#include <vector>

namespace {

// A tensor of zeros of one dimension.
class Zeros {
 public:
  explicit Zeros(int64_t count) {
    of_value argument{OF_VALUE_INT_LIST, 1, {}}, result{};
    argument.as.integers = &count;
    EXPECT_EQ(of_call(of_op_find("zeros"), &argument, 1, &result, 1), OF_OK) << of_last_error();
    tensor_ = result.as.tensor;
  }
  ~Zeros() { of_tensor_release(tensor_); }
  of_value value() const {
    of_value value{OF_VALUE_TENSOR, 0, {}};
    value.as.tensor = tensor_;
    return value;
  }
  of_tensor get() const { return tensor_; }

 private:
  of_tensor tensor_ = nullptr;
};

bool is_long(const char* op, std::vector<of_value> arguments) {
  return of_call_is_long(op ? of_op_find(op) : nullptr, arguments.data(), arguments.size());
}

of_value integers(const std::vector<int64_t>& list) {
  of_value value{OF_VALUE_INT_LIST, static_cast<int32_t>(list.size()), {}};
  value.as.integers = list.data();
  return value;
}

TEST(FrontEndTest, CallsAreLongByTheirOperandsTogetherOrByTheirProduct) {
  const Zeros small(400), half(OF_LONG_WORK / 2), large(OF_LONG_WORK);
  EXPECT_FALSE(is_long("add", {small.value(), small.value()}));
  EXPECT_TRUE(is_long("add", {half.value(), half.value()}));
  EXPECT_TRUE(is_long("neg", {large.value()}));
  EXPECT_FALSE(is_long("select", {large.value()})) << "a view";
  of_tensor operands[] = {small.get(), small.get(), small.get()};
  of_value list{OF_VALUE_TENSOR_LIST, 3, {}};
  list.as.tensors = operands;
  EXPECT_TRUE(is_long("einsum", {list})) << "an outer product";
  EXPECT_TRUE(is_long(nullptr, {list})) << "an expression";
  list.count = 1;
  EXPECT_FALSE(is_long("einsum", {list}));
}

TEST(FrontEndTest, CallsWithoutTensorsAreLongByTheirNumbers) {
  const std::vector<int64_t> few = {10, 10}, many = {1000, 1000};
  EXPECT_FALSE(is_long("rand", {integers(few)}));
  EXPECT_TRUE(is_long("rand", {integers(many)}));
  of_value end{OF_VALUE_INT, 0, {}};
  end.as.integer = 1 << 20;
  EXPECT_TRUE(is_long("arange", {end}));
  EXPECT_FALSE(of_call_is_long(of_op_find("zeros"), nullptr, 0));
}

TEST(FrontEndTest, RefusalsRankByStageThenByHowFarTheyGot) {
  const int32_t ascending[] = {
      of_refusal_rank(OF_REFUSAL_TOO_MANY, 1, false), of_refusal_rank(OF_REFUSAL_TOO_MANY, 30, false),
      of_refusal_rank(OF_REFUSAL_NAME, 0, false),     of_refusal_rank(OF_REFUSAL_NAME, 0, true),
      of_refusal_rank(OF_REFUSAL_ABSENT, 1, false),   of_refusal_rank(OF_REFUSAL_VALUE, 0, false),
      of_refusal_rank(OF_REFUSAL_VALUE, 0, true),     of_refusal_rank(OF_REFUSAL_VALUE, 1, false)};
  for (size_t i = 1; i < std::size(ascending); ++i) EXPECT_LT(ascending[i - 1], ascending[i]) << i;
  EXPECT_GE(ascending[0], 0);
}

TEST(FrontEndTest, NamesAreNearIfAThirdOfTheirBytesDiffers) {
  const char* names[] = {"dim", "keepdim", "dtype", nullptr};
  const auto nearest = [&](const char* word) { return of_nearest_name(word, names, 4); };
  EXPECT_EQ(nearest("dims"), 0);
  EXPECT_EQ(nearest("keepdims"), 1);
  EXPECT_EQ(nearest("dtpye"), 2);
  EXPECT_EQ(nearest("type-d"), -1);
  EXPECT_EQ(nearest("dtyp"), 2);
  EXPECT_EQ(nearest(""), -1);
  EXPECT_EQ(nearest(nullptr), -1);
  EXPECT_EQ(nearest(std::string(100'000, 'd').c_str()), -1);
  const char* letters[] = {"k", "p", "kind"};
  for (const char* word : {"n", "", "kin_"}) EXPECT_EQ(of_nearest_name(word, letters, 3), word[0] == 'k' ? 2 : -1);
  EXPECT_EQ(of_nearest_name("kk", letters, 3), 0);
  EXPECT_EQ(of_nearest_name("dim", nullptr, 3), -1);
  EXPECT_EQ(of_nearest_name("dim", names, 0), -1);
}

TEST(FrontEndTest, AnErrorBeginsWithTheFunctionThatWasCalled) {
  of_fail(OF_SHAPE_ERROR, "clamp: min: 2");
  of_error_set_caller("clip_");
  EXPECT_STREQ(of_last_error(), "clip_: min: 2");
  of_error_set_caller(nullptr);
  EXPECT_STREQ(of_last_error(), "clip_: min: 2");
  of_fail(OF_OUT_OF_MEMORY, "out of host memory");
  of_error_set_caller("clip");
  EXPECT_STREQ(of_last_error(), "out of host memory");
}

TEST(FrontEndTest, TheTermOfTheMostAndLargestLabelsFits) {
  char term[OF_TERM_SIZE];
  std::vector<int64_t> labels(OF_MAX_LABELS, INT32_MAX);
  ASSERT_EQ(of_label_term("einsum", 0, labels.data(), labels.size(), term), OF_OK);
  EXPECT_EQ(std::string(term).size(), OF_MAX_LABELS * 11 + 1);
  labels.push_back(0);
  EXPECT_EQ(of_label_term("einsum", -1, labels.data(), labels.size(), term), OF_SHAPE_ERROR);
  EXPECT_STREQ(of_last_error(), "einsum: labels of the result must be at most 32 and '...', got 34");
  const int64_t some[] = {3, OF_LABEL_ELLIPSIS, 0};
  ASSERT_EQ(of_label_term("einsum", 0, some, 3, term), OF_OK);
  EXPECT_STREQ(term, "[3,...,0]");
  ASSERT_EQ(of_label_term("einsum", 0, nullptr, 0, term), OF_OK);
  EXPECT_STREQ(term, "[]");
  EXPECT_EQ(of_label_term("einsum", 0, nullptr, 1, term), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_label_term("einsum", 0, some, 3, nullptr), OF_INVALID_ARGUMENT);
}

std::string taken(char* text) {
  const std::string copy(text);
  of_free(text);
  return copy;
}

TEST(FrontEndTest, TextsAreMeasuredCutAndMadePrintable) {
  EXPECT_EQ(of_text_columns("abc"), 3);
  EXPECT_EQ(of_text_columns("\u8868\u793a"), 4);  // wide characters
  EXPECT_EQ(of_text_columns("a\n"), 5);           // a\x0a
  char* text = nullptr;
  ASSERT_EQ(of_text_cut("abcdef", 6, &text), OF_OK);
  EXPECT_EQ(taken(text), "abcdef");
  ASSERT_EQ(of_text_cut("abcdef", 5, &text), OF_OK);
  EXPECT_EQ(taken(text), "abcd\u2026");
  ASSERT_EQ(of_text_printable("a\n\u200b", &text), OF_OK);
  EXPECT_EQ(taken(text), "a\\x0a\\u{200b}");
  EXPECT_EQ(of_text_cut(nullptr, 5, &text), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_text_printable("a", nullptr), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_text_columns(nullptr), 0);
}

}  // namespace
