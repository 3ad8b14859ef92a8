#include "contract/direct/lines.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "contract/test_problems.h"

namespace oneflow::cpu {
namespace {

TEST(Lines, MultipliesByFewContiguousLines) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t lines : {4, 5, 16, 39})
      for (const int64_t few : {3, 4, 5, 8, 11})
        for (const int64_t depth : {88, 95, 128, 161})
          expect_solved({"ik,jk->ij", {{'i', lines}, {'j', few}, {'k', depth}}, dtype}, offer_lines);
  }
}

TEST(Lines, MultipliesByFewStridedLines) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t few : {3, 4, 7, 16})
      for (const int64_t depth : {256, 261, 288})
        expect_solved({"ik,kj->ij", {{'i', 21}, {'j', few}, {'k', depth}}, dtype}, offer_lines);
  }
}

TEST(Lines, SmallOperandMayHaveMoreLines) {
  expect_solved({"ik,kj->ij", {{'i', 5}, {'j', 7}, {'k', 115}}}, offer_lines);
  expect_refused({"ik,kj->ij", {{'i', 5}, {'j', 8}, {'k', 1000}}}, offer_lines);
}

TEST(Lines, LargeOperandMayBeB) {
  for (const of_dtype dtype : kKernelDtypes) {
    expect_solved({"ik,jk->ij", {{'i', 3}, {'j', 50}, {'k', 33}}, dtype}, offer_lines);
    expect_solved({"ki,jk->ij", {{'i', 3}, {'j', 50}, {'k', 51}}, dtype}, offer_lines);
  }
}

TEST(Lines, DepthOfSeveralPieces) {
  for (const of_dtype dtype : kKernelDtypes)
    for (const int64_t depth : {1024, 1025, 2500, 4099})
      expect_solved({"ik,jk->ij", {{'i', 6}, {'j', 5}, {'k', depth}}, dtype}, offer_lines);
}

TEST(Lines, MoreLinesThanOneTask) {
  expect_solved({"ik,jk->ij", {{'i', 3001}, {'j', 3}, {'k', 40}}}, offer_lines);
  expect_solved({"bik,bjk->bij", {{'b', 2}, {'i', 1500}, {'j', 3}, {'k', 40}}}, offer_lines);
}

TEST(Lines, Batches) {
  expect_solved({"bik,bjk->bij", {{'b', 3}, {'i', 10}, {'j', 5}, {'k', 47}}}, offer_lines);
  expect_solved({"bik,bkj->bij", {{'b', 3}, {'i', 10}, {'j', 3}, {'k', 50}}}, offer_lines);
  expect_solved({"bcik,cbjk->cbij", {{'b', 3}, {'c', 2}, {'i', 10}, {'j', 5}, {'k', 47}}}, offer_lines);
}

TEST(Lines, SeveralDimensionsOfRowsAndColumns) {
  const std::map<char, int64_t> sizes{{'a', 6}, {'b', 5}, {'c', 2}, {'d', 3}, {'k', 60}};
  expect_solved({"abk,cdk->acbd", sizes}, offer_lines);
  expect_solved({"abk,cdk->dbac", sizes}, offer_lines);
  expect_solved({"bak,dkc->abcd", {{'a', 6}, {'b', 5}, {'c', 2}, {'d', 3}, {'k', 100}}}, offer_lines);
}

TEST(Lines, LayoutsOfTheOperands) {
  for (const of_dtype dtype : kKernelDtypes) {
    const TestContraction plain("ik,jk->ij", {{'i', 13}, {'j', 5}, {'k', 77}}, dtype);
    expect_solved(TestContraction(plain).lay_out(kA, {"", 3}).lay_out(kB, {"", 1}), offer_lines);
    expect_solved(TestContraction(plain).lay_out(kC, {"ji"}), offer_lines);
    expect_solved(TestContraction(plain).lay_out(kC, {"ij", 5, 3}), offer_lines);
    expect_solved(TestContraction(plain).lay_out(kC, {"ij", 0, -1}), offer_lines);
  }
  const TestContraction strided("ik,jk->ij", {{'i', 13}, {'j', 4}, {'k', 77}});
  expect_solved(TestContraction(strided).lay_out(kB, {"kj", 2}), offer_lines);
  expect_solved(TestContraction(strided).lay_out(kB, {"jk", 0, 2}), offer_lines);
  expect_solved(TestContraction(strided).lay_out(kB, {"jk", 0, -1}), offer_lines);
}

TEST(Lines, RefusesOtherForms) {
  const TestContraction plain("ik,jk->ij", {{'i', 40}, {'j', 8}, {'k', 100}});
  expect_refused(TestContraction(plain).scale(2, 0), offer_lines);
  expect_refused(TestContraction(plain).scale(1, 1), offer_lines);
  expect_refused(TestContraction(plain).add_bias(), offer_lines);
  for (const of_dtype dtype : {OF_FLOAT16, OF_BFLOAT16, OF_INT8, OF_BOOL})
    expect_refused({"ik,jk->ij", {{'i', 40}, {'j', 8}, {'k', 100}}, dtype}, offer_lines);
}

TEST(Lines, RefusesStridedAndSeveralDepths) {
  expect_refused({"ki,kj->ij", {{'i', 40}, {'j', 8}, {'k', 100}}}, offer_lines);
  expect_refused({"ikl,jlk->ij", {{'i', 40}, {'j', 8}, {'k', 10}, {'l', 20}}}, offer_lines);
  expect_refused({"i,j->ij", {{'i', 40}, {'j', 8}}}, offer_lines);
  const TestContraction plain("ik,jk->ij", {{'i', 40}, {'j', 8}, {'k', 100}});
  expect_refused(TestContraction(plain).lay_out(kA, {"", 0, 2}).lay_out(kB, {"", 0, 2}), offer_lines);
}

TEST(Lines, RefusesWhereTheSmallOperandIsUsedTooSeldom) {
  expect_refused({"ik,jk->ij", {{'i', 40}, {'j', 1}, {'k', 100}}}, offer_lines);
  expect_solved({"ik,jk->ij", {{'i', 16}, {'j', 2}, {'k', 100}}}, offer_lines);
  expect_refused({"ik,jk->ij", {{'i', 15}, {'j', 2}, {'k', 100}}}, offer_lines);
  expect_refused({"ik,jk->ij", {{'i', 3}, {'j', 3}, {'k', 100}}}, offer_lines);
}

TEST(Lines, RefusesLargeSmallOperandsAndShortDepths) {
  expect_solved({"ik,jk->ij", {{'i', 70}, {'j', 64}, {'k', 512}}}, offer_lines);
  expect_refused({"ik,jk->ij", {{'i', 70}, {'j', 64}, {'k', 511}}}, offer_lines);
  expect_refused({"ik,jk->ij", {{'i', 70}, {'j', 65}, {'k', 1000}}}, offer_lines);
  expect_refused({"ik,jk->ij", {{'i', 70}, {'j', 64}, {'k', 4097}}}, offer_lines);
  expect_refused({"ik,kj->ij", {{'i', 70}, {'j', 16}, {'k', 255}}}, offer_lines);
  expect_refused({"ik,kj->ij", {{'i', 70}, {'j', 17}, {'k', 1000}}}, offer_lines);
}

}  // namespace
}  // namespace oneflow::cpu
