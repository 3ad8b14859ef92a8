#include "parallel/processes/group.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace oneflow::processes {
namespace {

TEST(Group, HasACanonicalText) {
  EXPECT_EQ(Group::of({0}).text(), "0");
  EXPECT_EQ(Group::of({0, 1, 2, 3}).text(), "0-3");
  EXPECT_EQ(Group::of({0, 2, 4, 6}).text(), "0-6:2");
  EXPECT_EQ(Group::of({3, 2, 1}).text(), "3-1");
  EXPECT_EQ(Group::of({5, 1}).text(), "5,1");
  EXPECT_EQ(Group::of({0, 1, 2, 8, 10, 12, 7}).text(), "0-2,8-12:2,7");
}

TEST(Group, IsFoundByItsText) {
  for (const char* text : {"0", "0-3", "0-6:2", "3-1", "5,1", "0-2,8-12:2,7"})
    EXPECT_EQ(Group::parse(text).text(), text);
  EXPECT_EQ(&Group::parse("0,1,2,3"), &Group::of({0, 1, 2, 3}));
  EXPECT_EQ(&Group::parse("0-7:2"), &Group::of({0, 2, 4, 6}));
  EXPECT_NE(Group::parse("0,1").id(), Group::parse("1,0").id());
}

TEST(Group, RejectsOtherTexts) {
  for (const char* text : {"", "a", "-1", "0-", "0-3:0", "0,", ",0", "0 1", "0-3:", "4294967296", "0-4294967295"})
    EXPECT_THROW(Group::parse(text), Error) << text;
  EXPECT_THROW(Group::of({}), Error);
  EXPECT_THROW(Group::of({1, 2, 1}), Error);
}

TEST(Group, KnowsPositions) {
  EXPECT_EQ(Group::of({4, 2}).position_of(2), 1);
  EXPECT_EQ(Group::of({4, 2}).position_of(3), std::nullopt);
}

}  // namespace
}  // namespace oneflow::processes
