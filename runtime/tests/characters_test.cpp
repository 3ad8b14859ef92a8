#include "base/characters.h"

#include <gtest/gtest.h>

namespace oneflow {
namespace {

using namespace std::string_view_literals;

TEST(CharactersTest, WhatCannotBePrintedIsEscaped) {
  EXPECT_EQ(printable("größe 日"), "größe 日");
  EXPECT_EQ(printable("a\0b\n\x7f"sv), "a\\x00b\\x0a\\x7f");
  EXPECT_EQ(printable("a\xff\xc3"), "a\\xff\\xc3");         // no UTF-8
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair of UTF-16
  EXPECT_EQ(printable("i\u200b"), "i\\u{200b}");
  EXPECT_EQ(printable(""), "");
}

TEST(CharactersTest, LongTextsAreCut) {
  const std::string line(80, 'x');
  EXPECT_EQ(printable(line), line);
  EXPECT_EQ(printable(line + "x"), line + "…");
  EXPECT_EQ(printable(line + "\xff"), line + "…");
}

}  // namespace
}  // namespace oneflow
