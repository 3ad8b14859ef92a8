// Tests that tokens open what they are for, and nothing else.
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

class Tokens : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    a = make_endpoint("a", GetParam());
    b = make_endpoint("b", GetParam());
    to_b = connect(a.get(), cn_endpoint_address(b.get()));
    ASSERT_NE(to_b, nullptr);
    memory = expose(there, CN_READ | CN_WRITE);
  }
  void TearDown() override { cn_memory_release(memory); }
  cn_memory* expose(std::vector<uint8_t>& bytes, uint32_t rights) {
    cn_memory* result = nullptr;
    EXPECT_EQ(cn_memory_register(b.get(), bytes.data(), bytes.size(), rights, &result), CN_OK) << cn_error();
    return result;
  }
  static cn_token token_of(cn_memory* of, uint32_t rights) {
    cn_token token{};
    EXPECT_EQ(cn_memory_token(of, rights, &token), CN_OK) << cn_error();
    return token;
  }
  cn_status read(const cn_token& token, uint64_t offset, size_t size) {
    return complete([&](cn_operation** op) { return cn_read(to_b, &token, offset, here.data(), size, nullptr, op); });
  }
  cn_status write(const cn_token& token, uint64_t offset, size_t size) {
    return complete([&](cn_operation** op) { return cn_write(to_b, &token, offset, here.data(), size, nullptr, op); });
  }

  std::vector<uint8_t> there = std::vector<uint8_t>(300'000, 1), here = std::vector<uint8_t>(300'000, 2);
  EndpointHandle a, b;
  cn_peer* to_b = nullptr;
  cn_memory* memory = nullptr;
};

TEST_P(Tokens, EveryChangedByteCloses) {
  const cn_token right = token_of(memory, CN_READ);
  ASSERT_EQ(read(right, 0, 10), CN_OK);
  std::mt19937 random(5);
  for (size_t i = 0; i < CN_TOKEN_SIZE; ++i) {
    cn_token wrong = right;
    wrong.bytes[i] ^= static_cast<uint8_t>(1u << (random() % 8));
    EXPECT_EQ(read(wrong, 0, 10), CN_DENIED) << i;
    EXPECT_EQ(write(wrong, 0, 10), CN_DENIED) << i;
  }
  EXPECT_EQ(there, std::vector<uint8_t>(300'000, 1));
}

TEST_P(Tokens, RightsAreThoseOfTheToken) {
  const cn_token can_read = token_of(memory, CN_READ), can_write = token_of(memory, CN_WRITE);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100'000}}) {
    EXPECT_EQ(read(can_read, 0, size), CN_OK);
    EXPECT_EQ(write(can_read, 0, size), CN_DENIED);
    EXPECT_EQ(read(can_write, 0, size), CN_DENIED);
    EXPECT_EQ(write(can_write, 0, size), CN_OK);
  }
  std::vector<uint8_t> bytes(10);
  cn_memory* const only = expose(bytes, CN_READ);
  cn_token token;
  EXPECT_EQ(cn_memory_token(only, CN_READ | CN_WRITE, &token), CN_INVALID_ARGUMENT);
  EXPECT_EQ(cn_memory_token(only, 0, &token), CN_INVALID_ARGUMENT);
  cn_memory_release(only);
}

TEST_P(Tokens, StaleTokensAreDenied) {
  std::vector<uint8_t> bytes(1000, 4);
  cn_memory* const first = expose(bytes, CN_READ);
  const cn_token stale = token_of(first, CN_READ);
  EXPECT_EQ(read(stale, 0, 1000), CN_OK);
  cn_memory_release(first);
  EXPECT_EQ(read(stale, 0, 1000), CN_DENIED);
  cn_memory* const second = expose(bytes, CN_READ);
  EXPECT_EQ(read(stale, 0, 1000), CN_DENIED);
  cn_memory_release(second);
}

TEST_P(Tokens, RangesAreChecked) {
  const cn_token token = token_of(memory, CN_READ | CN_WRITE);
  constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(read(token, 0, 300'000), CN_OK);
  EXPECT_EQ(read(token, 300'000, 0), CN_OK);
  EXPECT_EQ(write(token, 300'000, 0), CN_OK);
  EXPECT_EQ(read(token, 300'001, 0), CN_OUT_OF_RANGE);
  for (const auto& [offset, size] : {std::pair<uint64_t, size_t>{1, 300'000},
                                     {300'000, 1},
                                     {kHuge, 1},
                                     {kHuge - 9, 10},
                                     {kHuge - 99'999, 100'000},
                                     {299'999, 2}}) {
    EXPECT_EQ(read(token, offset, size), CN_OUT_OF_RANGE) << offset << " " << size;
    EXPECT_EQ(write(token, offset, size), CN_OUT_OF_RANGE) << offset << " " << size;
  }
  EXPECT_EQ(there, std::vector<uint8_t>(300'000, 1));
}

TEST_P(Tokens, TheSizeIsInTheToken) {
  const cn_token token = token_of(memory, CN_READ);
  EXPECT_EQ(cn_token_size(&token), 300'000u);
}

TEST_P(Tokens, TokensOfOtherEndpointsAreDenied) {
  std::vector<uint8_t> bytes(1000);
  cn_memory* other = nullptr;
  ASSERT_EQ(cn_memory_register(a.get(), bytes.data(), bytes.size(), CN_READ, &other), CN_OK);
  EXPECT_EQ(read(token_of(other, CN_READ), 0, 10), CN_DENIED);
  cn_memory_release(other);
}

INSTANTIATE_TEST_SUITE_P(Transports, Tokens, testing::Values("memory", "shared", "unix", "tcp"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace commnet::tests
