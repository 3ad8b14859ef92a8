#include "base/characters.h"

#include <gtest/gtest.h>

namespace oneflow {
namespace {

using namespace std::string_view_literals;

TEST(CharactersTest, UnprintableCharactersAreEscaped) {
  EXPECT_EQ(printable("größe 日"), "größe 日");
  EXPECT_EQ(printable("a\0b\n\x7f"sv), "a\\x00b\\x0a\\x7f");
  EXPECT_EQ(printable("a\xff\xc3"), "a\\xff\\xc3");         // invalid UTF-8
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a UTF-16 surrogate
  EXPECT_EQ(printable("i\u200b"), "i\\u{200b}");
  EXPECT_EQ(printable(""), "");
}

TEST(CharactersTest, LongStringsAreCut) {
  const std::string line(80, 'x');
  EXPECT_EQ(printable(line), line);
  EXPECT_EQ(printable(line + "x"), line + "…");
  EXPECT_EQ(printable(line + "\xff"), line + "…");
}

}  // namespace
}  // namespace oneflow
