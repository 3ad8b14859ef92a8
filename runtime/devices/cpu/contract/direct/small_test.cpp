#include "contract/direct/small.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "contract/kernels.h"
#include "contract/test_problems.h"

namespace oneflow::cpu {
namespace {

void expect_small(const TestContraction& contraction) { expect_solved(contraction, offer_small); }
void expect_not_small(const TestContraction& contraction) { expect_refused(contraction, offer_small); }

TEST(Small, RegisterTilesAndTheirEdges) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t rows : {3, 4, 5, 7, 8, 9, 12, 15, 17})
      for (const int64_t columns : {3, 4, 5, 8, 15, 16, 17, 32, 33, 47, 48, 49, 65, 100})
        expect_small({"ik,kj->ij", {{'i', rows}, {'j', columns}, {'k', 13}}, dtype});
  }
}

TEST(Small, BatchesOfTinyMatrices) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t size : {3, 4, 6, 8, 11, 16})
      expect_small({"bik,bkj->bij", {{'b', 200}, {'i', size}, {'j', size}, {'k', size}}, dtype});
    expect_small({"bcik,bckj->bcij", {{'b', 3}, {'c', 5}, {'i', 5}, {'j', 9}, {'k', 2}}, dtype});
    expect_small({"bik,kj->bij", {{'b', 30}, {'i', 5}, {'j', 9}, {'k', 7}}, dtype});
  }
}

TEST(Small, VectorsMayBeOfEitherOperand) {
  for (const of_dtype dtype : kKernelDtypes) {
    expect_small({"ki,kj->ji", {{'i', 21}, {'j', 10}, {'k', 12}}, dtype});
    expect_small({"bki,bkj->bji", {{'b', 4}, {'i', 21}, {'j', 10}, {'k', 12}}, dtype});
  }
}

TEST(Small, PacksWhatIsStridedAlongTheVectors) {
  for (const of_dtype dtype : kKernelDtypes) {
    expect_small({"ik,jk->ij", {{'i', 19}, {'j', 37}, {'k', 12}}, dtype});
    expect_small({"ik,kj->ji", {{'i', 19}, {'j', 37}, {'k', 12}}, dtype});
    expect_small({"bik,bjk->bij", {{'b', 50}, {'i', 5}, {'j', 7}, {'k', 6}}, dtype});
  }
}

TEST(Small, TallAndSkinnyMatrices) {
  for (const of_dtype dtype : kKernelDtypes) {
    expect_small({"ik,kj->ij", {{'i', 5001}, {'j', 10}, {'k', 9}}, dtype});
    expect_small({"ki,jk->ji", {{'i', 5001}, {'j', 10}, {'k', 9}}, dtype});
  }
}

TEST(Small, LongVectorsForFewRowsInPieces) {
  for (const of_dtype dtype : kKernelDtypes) {
    expect_small({"ik,kj->ij", {{'i', 10}, {'j', 509}, {'k', 203}}, dtype});
    expect_small({"ik,kj->ij", {{'i', 64}, {'j', 1030}, {'k', 40}}, dtype});
    expect_small({"ki,kj->ji", {{'i', 3001}, {'j', 7}, {'k', 99}}, dtype});
  }
}

TEST(Small, LongVectorsForManyRowsOfAShallowSum) {
  for (const of_dtype dtype : kKernelDtypes) {
    expect_small({"ik,kj->ij", {{'i', 100}, {'j', 515}, {'k', 30}}, dtype});
    expect_small({"ik,kj->ij", {{'i', 150}, {'j', 1001}, {'k', 32}}, dtype});
  }
}

TEST(Small, DeepSumsInPieces) {
  for (const of_dtype dtype : kKernelDtypes) {
    expect_small({"ik,kj->ij", {{'i', 30}, {'j', 60}, {'k', 1001}}, dtype});
    expect_small({"ik,jk->ij", {{'i', 30}, {'j', 60}, {'k', 1001}}, dtype});
    expect_small({"ikl,kjl->ij", {{'i', 10}, {'j', 20}, {'k', 70}, {'l', 30}}, dtype});
    expect_small({"ilk,kjl->ij", {{'i', 10}, {'j', 20}, {'k', 70}, {'l', 30}}, dtype});
  }
}

// Pieces of both the vectors and the depth need vectors of a whole cache line.
TEST(Small, PiecesOfBothTheVectorsAndTheDepth) {
  for (const of_dtype dtype : kKernelDtypes) {
    const ContractKernels& kernels = contract_kernels(dtype);
    const TestContraction in_place("ik,kj->ij", {{'i', 111}, {'j', 120}, {'k', 100}}, dtype);
    const TestContraction packed("ik,kj->ij", {{'i', 140}, {'j', 120}, {'k', 130}}, dtype);
    const TestContraction cut("ik,jk->ij", {{'i', 90}, {'j', 120}, {'k', 600}}, dtype);
    for (const TestContraction& contraction : {in_place, packed, cut})
      kernels.lane_count* kernels.size >= 64 ? expect_small(contraction) : expect_not_small(contraction);
  }
}

TEST(Small, OneOrTwoRowsOfAMatrixThatNoCacheHolds) {
  for (const int64_t rows : {1, 2}) {
    expect_small({"ik,kj->ij", {{'i', rows}, {'j', 1009}, {'k', 600}}});
    expect_small({"ik,kj->ij", {{'i', rows}, {'j', 505}, {'k', 600}}, OF_FLOAT64});
    expect_not_small({"ik,kj->ij", {{'i', rows}, {'j', 500}, {'k', 1000}}});
  }
}

// The products of one task share B, of which each packs all pieces of the depth.
TEST(Small, PacksPiecesOfADeepSumForEachProduct) {
  for (const int64_t depth : {411, 412}) expect_small({"abk,jk->baj", {{'a', 3}, {'b', 3}, {'j', 20}, {'k', depth}}});
  expect_small({"abk,jk->baj", {{'a', 3}, {'b', 3}, {'j', 20}, {'k', 207}}, OF_FLOAT64});
}

TEST(Small, LayoutsOfTheOperands) {
  for (const of_dtype dtype : kKernelDtypes) {
    const TestContraction plain("ik,kj->ij", {{'i', 11}, {'j', 21}, {'k', 13}}, dtype);
    expect_small(TestContraction(plain).lay_out(kA, {"", 3}).lay_out(kB, {"", 5}).lay_out(kC, {"", 2}));
    expect_small(TestContraction(plain).lay_out(kA, {"", 0, 2}).lay_out(kB, {"", 0, 3}));
    expect_small(TestContraction(plain).lay_out(kA, {"ki", 1}).lay_out(kC, {"", 100}));
    expect_small(TestContraction(plain).lay_out(kA, {"", 0, -1}).lay_out(kB, {"", 0, -1}));
  }
}

TEST(Small, SeveralDimensionsOfEachRole) {
  const std::map<char, int64_t> sizes{{'a', 3}, {'b', 4}, {'c', 5}, {'d', 6}, {'k', 7}, {'l', 2}, {'n', 3}, {'m', 2}};
  for (const of_dtype dtype : kKernelDtypes) {
    expect_small({"akbl,lckd->bcad", sizes, dtype});
    expect_small({"nakmbl,nlcmkd->nmbcad", sizes, dtype});
    expect_small({"nakmbl,mlcnkd->mdbcna", sizes, dtype});
  }
}

TEST(Small, RefusesThinProducts) {
  expect_not_small({"i,j->ij", {{'i', 10}, {'j', 10}}});
  expect_not_small({"ik,kj->ij", {{'i', 2}, {'j', 10}, {'k', 10}}});
  expect_not_small({"ik,kj->ij", {{'i', 10}, {'j', 2}, {'k', 10}}});
  expect_not_small({"ik,k->i", {{'i', 10}, {'k', 10}}});
}

TEST(Small, RefusesLargeProducts) {
  expect_not_small({"ik,kj->ij", {{'i', 300}, {'j', 300}, {'k', 300}}});
  expect_not_small({"ik,kj->ij", {{'i', 1000}, {'j', 1000}, {'k', 1000}}});
  expect_not_small({"ik,kj->ij", {{'i', 70}, {'j', 1000}, {'k', 5000}}});
}

TEST(Small, RefusesWhereCIsNotContiguous) {
  const TestContraction plain("ik,kj->ij", {{'i', 11}, {'j', 21}, {'k', 13}});
  expect_not_small(TestContraction(plain).lay_out(kC, {"", 0, 2}));
  expect_not_small(TestContraction(plain).lay_out(kC, {"", 0, -1}));
  expect_not_small({"bik,bkj->ijb", {{'b', 10}, {'i', 11}, {'j', 21}, {'k', 13}}});
}

TEST(Small, RefusesToPackTooOften) {
  const auto product = [](int64_t size) {  // packs B once for each index i
    return TestContraction("aik,kj->aij", {{'a', size}, {'i', size}, {'j', 10}, {'k', 7}})
        .lay_out(kB, {"", 0, 2})
        .lay_out(kC, {"iaj"});
  };
  expect_small(product(8));
  expect_not_small(product(9));
}

TEST(Small, RefusesVectorsOfAFewElementsForLargeProducts) {
  const bool is_narrow = contract_kernels(OF_FLOAT32).lane_count >= 16;
  const TestContraction few("ik,kcj->cij", {{'i', 100}, {'c', 16}, {'j', 4}, {'k', 10}});
  const TestContraction many("ik,kcj->cij", {{'i', 110}, {'c', 16}, {'j', 4}, {'k', 10}});
  expect_small(few);
  is_narrow ? expect_not_small(many) : expect_small(many);
}

// A piece of the depth takes its last dimension first, which is strided in A.
TEST(Small, RefusesDeepSumsOfALargeOperandInAnotherOrder) {
  const std::map<char, int64_t> sizes{{'i', 20}, {'j', 60}, {'k', 70}, {'l', 100}};
  EXPECT_NE(solve_by(offer_small, TestContraction("ikl,kjl->ij", sizes, OF_FLOAT64).problem()), nullptr);
  expect_not_small({"ilk,kjl->ij", sizes, OF_FLOAT64});
}

TEST(Small, RefusesOperandsThatAreReadInShortRuns) {
  const TestContraction plain("bik,bkj->bij", {{'b', 10000}, {'i', 10}, {'j', 10}, {'k', 10}});
  expect_not_small(TestContraction(plain).lay_out(kA, {"ikb"}));
  expect_not_small(TestContraction(plain).lay_out(kB, {"kjb"}));
  expect_not_small(TestContraction(plain).lay_out(kC, {"ibj"}));
  EXPECT_NE(solve_by(offer_small, plain.problem()), nullptr);
  const TestContraction large_a("ik,kj->ij", {{'i', 100}, {'j', 10}, {'k', 100}});
  expect_small(TestContraction(large_a).lay_out(kA, {"", 0, 2}));
  expect_not_small(TestContraction(large_a).lay_out(kA, {"", 0, 3}));
}

}  // namespace
}  // namespace oneflow::cpu
