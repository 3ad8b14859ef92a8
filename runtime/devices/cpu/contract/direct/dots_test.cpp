#include "contract/direct/dots.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>

#include "contract/kernels.h"
#include "contract/test_problems.h"

namespace oneflow::cpu {
namespace {

std::unique_ptr<Solution> solve_interleaved(const Problem& problem) {
  const auto interleaved = find_interleaved(problem);
  return interleaved ? make_interleaved_dots(*interleaved) : nullptr;
}

// ------------------------------------------------------------------------------------------------ contiguous depths

TEST(Dots, LengthsFromOneVectorToManyPieces) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t depth : {2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 255, 256, 300})
      expect_solved({"ik,k->i", {{'i', 19}, {'k', depth}}, dtype}, make_dots);
    for (const int64_t depth : {1023, 1024, 1043, 2048, 2051, 2083, 4097, 40000})
      expect_solved({"ik,k->i", {{'i', 6}, {'k', depth}}, dtype}, make_dots);
    for (const int64_t depth : {32768, 32769, 100003}) expect_solved({"k,k->", {{'k', depth}}, dtype}, make_dots);
  }
}

TEST(Dots, NumbersOfOutputs) {
  for (const of_dtype dtype : kKernelDtypes)
    for (const int64_t rows : {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 256, 257, 600})
      expect_solved({"ik,k->i", {{'i', rows}, {'k', 37}}, dtype}, make_dots);
  expect_solved({"ik,k->i", {{'i', 20000}, {'k', 37}}}, make_dots);
  expect_solved({"bk,bk->b", {{'b', 700}, {'k', 50}}}, make_dots);
}

TEST(Dots, RowsColumnsAndBatches) {
  const std::map<char, int64_t> sizes{{'b', 5}, {'i', 7}, {'j', 6}, {'h', 3}, {'k', 45}};
  for (const of_dtype dtype : kKernelDtypes) {
    expect_solved({"ik,jk->ij", sizes, dtype}, make_dots);
    expect_solved({"bik,bjk->bij", sizes, dtype}, make_dots);
    expect_solved({"ibk,jbk->jib", sizes, dtype}, make_dots);
    expect_solved({"bhik,hbjk->jhib", sizes, dtype}, make_dots);
  }
}

TEST(Dots, PiecesOfSeveralOutputs) {
  for (const of_dtype dtype : kKernelDtypes)
    expect_solved({"bik,bk->ib", {{'b', 2}, {'i', 3}, {'k', 70001}}, dtype}, make_dots);
}

TEST(Dots, LayoutsOfTheOperands) {
  const TestContraction plain("bik,bk->bi", {{'b', 3}, {'i', 11}, {'k', 83}});
  expect_solved(TestContraction(plain).lay_out(kA, {"", 5}).lay_out(kB, {"", 2}), make_dots);
  expect_solved(TestContraction(plain).lay_out(kA, {"ibk", 1}), make_dots);
  expect_solved(TestContraction(plain).lay_out(kC, {"ib"}), make_dots);
  expect_solved(TestContraction(plain).lay_out(kC, {"bi", 4, 3}), make_dots);
  expect_solved(TestContraction(plain).lay_out(kC, {"bi", 4, -2}), make_dots);
}

// ------------------------------------------------------------------------------------------------ interleaved

TEST(InterleavedDots, InOneOperand) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t number : {2, 3, 4, 5, 6, 7, 8}) {
      for (const int64_t depth : {24, 25, 31, 32, 33, 47, 64, 100})
        expect_solved({"k,kj->j", {{'j', number}, {'k', depth}}, dtype}, solve_interleaved);
      expect_solved({"ikj,k->ij", {{'i', 9}, {'j', number}, {'k', 41}}, dtype}, solve_interleaved);
    }
  }
}

TEST(InterleavedDots, InBothOperands) {
  for (const of_dtype dtype : kKernelDtypes)
    for (const int64_t number : {2, 3, 4, 5, 6, 7, 8})
      for (const int64_t depth : {24, 25, 33, 63, 64, 95})
        expect_solved({"kj,kj->j", {{'j', number}, {'k', depth}}, dtype}, solve_interleaved);
}

TEST(InterleavedDots, Pieces) {
  for (const of_dtype dtype : kKernelDtypes) {
    expect_solved({"k,kj->j", {{'j', 3}, {'k', 30011}}, dtype}, solve_interleaved);
    expect_solved({"bkj,bkj->bj", {{'b', 2}, {'j', 5}, {'k', 20003}}, dtype}, solve_interleaved);
  }
}

TEST(InterleavedDots, BatchesRowsAndLayoutsOfC) {
  const std::map<char, int64_t> sizes{{'b', 5}, {'i', 7}, {'h', 2}, {'j', 3}, {'k', 45}};
  expect_solved({"bikj,bk->bij", sizes}, solve_interleaved);
  expect_solved({"bk,bikj->jib", sizes}, solve_interleaved);
  expect_solved({"ihk,kj->hij", {{'i', 7}, {'h', 2}, {'j', 3}, {'k', 45}}}, solve_interleaved);
  expect_solved(TestContraction("k,kj->j", sizes).lay_out(kC, {"j", 0, 4}), solve_interleaved);
  expect_solved(TestContraction("k,kj->j", sizes).lay_out(kC, {"j", 0, -1}), solve_interleaved);
}

TEST(InterleavedDots, RefusesWhatIsNotInterleaved) {
  const int64_t least = contract_kernels(OF_FLOAT32).min_interleaved_depth;
  expect_solved({"k,kj->j", {{'j', 3}, {'k', least}}}, solve_interleaved);
  expect_refused({"k,kj->j", {{'j', 3}, {'k', least - 1}}}, solve_interleaved);
  expect_refused({"k,kj->j", {{'j', 9}, {'k', 100}}}, solve_interleaved);
  expect_refused({"k,jk->j", {{'j', 3}, {'k', 100}}}, solve_interleaved);
  expect_refused({"kl,lkj->j", {{'j', 3}, {'k', 100}, {'l', 5}}}, solve_interleaved);
  expect_refused({"ik,hkj->ihj", {{'i', 3}, {'h', 3}, {'j', 3}, {'k', 100}}}, solve_interleaved);
  expect_refused({"ik,kj->ij", {{'i', 1}, {'j', 1}, {'k', 100}}}, solve_interleaved);
  const TestContraction plain("k,kj->j", {{'j', 3}, {'k', 100}});
  expect_refused(TestContraction(plain).lay_out(kB, {"kj", 1}), solve_interleaved);
  expect_refused(TestContraction(plain).lay_out(kA, {"k", 0, 2}), solve_interleaved);
}

// ------------------------------------------------------------------------------------------------ pairs

TEST(PairDots, Lengths) {
  for (const of_dtype dtype : kKernelDtypes)
    for (const int64_t depth : {2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 100})
      expect_solved({"kx,ky->xy", {{'x', 2}, {'y', 2}, {'k', depth}}, dtype}, offer_pair_dots);
}

TEST(PairDots, RowsColumnsAndBatches) {
  const std::map<char, int64_t> sizes{{'x', 2}, {'y', 2}, {'k', 37}, {'i', 300}, {'j', 5}, {'b', 11}};
  for (const of_dtype dtype : kKernelDtypes) {
    expect_solved({"ikx,ky->ixy", sizes, dtype}, offer_pair_dots);
    expect_solved({"kx,jky->xjy", sizes, dtype}, offer_pair_dots);
    expect_solved({"bkx,bky->bxy", sizes, dtype}, offer_pair_dots);
    expect_solved({"bikx,bky->yibx", sizes, dtype}, offer_pair_dots);
  }
}

TEST(PairDots, LayoutsOfC) {
  const TestContraction plain("ikx,ky->ixy", {{'x', 2}, {'y', 2}, {'k', 37}, {'i', 6}});
  for (const char* order : {"iyx", "xiy", "yix", "xyi"})
    expect_solved(TestContraction(plain).lay_out(kC, {order}), offer_pair_dots);
  expect_solved(TestContraction(plain).lay_out(kC, {"ixy", 3, 2}), offer_pair_dots);
}

TEST(PairDots, RefusesOtherLayoutsAndReuse) {
  expect_refused({"ikx,jky->ixjy", {{'x', 2}, {'y', 2}, {'k', 37}, {'i', 2}, {'j', 2}}}, offer_pair_dots);
  expect_refused({"kx,ky->xy", {{'x', 3}, {'y', 3}, {'k', 37}}}, offer_pair_dots);
  expect_refused({"kx,yk->xy", {{'x', 2}, {'y', 2}, {'k', 37}}}, offer_pair_dots);
  expect_refused({"kx,kx->x", {{'x', 2}, {'k', 37}}}, offer_pair_dots);
  expect_refused({"klx,lky->xy", {{'x', 2}, {'y', 2}, {'k', 37}, {'l', 3}}}, offer_pair_dots);
  expect_refused({"x,y->xy", {{'x', 2}, {'y', 2}}}, offer_pair_dots);
  const TestContraction plain("kx,ky->xy", {{'x', 2}, {'y', 2}, {'k', 37}});
  expect_refused(TestContraction(plain).lay_out(kA, {"", 1}), offer_pair_dots);
  expect_refused(TestContraction(plain).lay_out(kB, {"", 1}), offer_pair_dots);
}

// ------------------------------------------------------------------------------------------------ copied

constexpr of_dtype kDtypes[] = {OF_FLOAT32, OF_FLOAT64, OF_FLOAT16, OF_BFLOAT16, OF_INT8,
                                OF_INT16,   OF_INT32,   OF_INT64,   OF_UINT8,    OF_BOOL};

TEST(CopiedDots, ConvertsEveryDtype) {
  for (const of_dtype dtype : kDtypes) {
    for (const int64_t depth : {32, 45, 100, 2047, 2048, 2049})
      expect_solved({"ik,k->i", {{'i', 5}, {'k', depth}}, dtype}, make_copied_dots);
    expect_solved({"ki,kj->ij", {{'i', 3}, {'j', 4}, {'k', 77}}, dtype}, make_copied_dots);
  }
}

TEST(CopiedDots, DepthOfSeveralDimensions) {
  for (const of_dtype dtype : {OF_FLOAT32, OF_FLOAT64, OF_BFLOAT16}) {
    expect_solved({"kl,lk->", {{'k', 37}, {'l', 50}}, dtype}, make_copied_dots);
    expect_solved({"kli,lkj->ij", {{'k', 37}, {'l', 50}, {'i', 2}, {'j', 3}}, dtype}, make_copied_dots);
    expect_solved({"klm,mlk->", {{'k', 9}, {'l', 20}, {'m', 31}}, dtype}, make_copied_dots);
    expect_solved({"kl,lk->", {{'k', 300}, {'l', 250}}, dtype}, make_copied_dots);
  }
}

TEST(CopiedDots, LongDepthsAndBatches) {
  for (const of_dtype dtype : {OF_FLOAT32, OF_INT64, OF_BFLOAT16}) {
    expect_solved({"ki,k->i", {{'i', 2}, {'k', 90001}}, dtype}, make_copied_dots);
    expect_solved({"bki,bk->bi", {{'b', 70}, {'i', 3}, {'k', 45}}, dtype}, make_copied_dots);
    expect_solved({"kbi,kb->ib", {{'b', 3}, {'i', 3}, {'k', 5000}}, dtype}, make_copied_dots);
  }
}

TEST(CopiedDots, LayoutsOfTheOperands) {
  const TestContraction plain("ik,jk->ij", {{'i', 3}, {'j', 4}, {'k', 61}});
  expect_solved(TestContraction(plain).lay_out(kA, {"", 2, 3}).lay_out(kB, {"", 1}), make_copied_dots);
  expect_solved(TestContraction(plain).lay_out(kA, {"", 0, -1}).lay_out(kB, {"kj", 1, -2}), make_copied_dots);
  expect_solved(TestContraction(plain).lay_out(kC, {"ji", 2, 2}), make_copied_dots);
}

}  // namespace
}  // namespace oneflow::cpu
