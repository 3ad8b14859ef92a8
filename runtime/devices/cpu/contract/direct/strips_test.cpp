#include "contract/direct/strips.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "contract/kernels.h"
#include "contract/test_problems.h"
#include "simd/non_temporal.h"

namespace oneflow::cpu {
namespace {

// Strips are one vector wide, and taken only where a vector has enough lanes: for transposed sums, and for sums in the
// order of C.
bool takes_transposed(of_dtype dtype) { return contract_kernels(dtype).lane_count >= 8; }
bool takes_in_order(of_dtype dtype) { return contract_kernels(dtype).lane_count >= 16; }

void expect_strips(bool takes, const TestContraction& contraction) {
  takes ? expect_solved(contraction, solve_in_strips) : expect_refused(contraction, solve_in_strips);
}

// ------------------------------------------------------------------------------------------------ C along the columns

TEST(Strips, TransposesSumsToColumns) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t columns : {3, 4, 7, 8, 12, 13, 16, 17, 24, 25, 31, 48})
      expect_strips(takes_transposed(dtype), {"ki,kj->ij", {{'i', 1007}, {'j', columns}, {'k', 45}}, dtype});
    for (const int64_t rows : {960, 961, 975, 976, 977, 1024, 1031})
      expect_strips(takes_transposed(dtype), {"ki,kj->ij", {{'i', rows}, {'j', 10}, {'k', 20}}, dtype});
  }
}

TEST(Strips, SmallOperandInEitherOrder) {
  for (const of_dtype dtype : kKernelDtypes) {
    expect_strips(takes_transposed(dtype), {"ki,jk->ij", {{'i', 1007}, {'j', 11}, {'k', 45}}, dtype});
    expect_strips(takes_transposed(dtype), {"ik,kj->ji", {{'j', 1007}, {'i', 11}, {'k', 45}}, dtype});
    expect_strips(takes_transposed(dtype), {"ki,kj->ji", {{'j', 1007}, {'i', 11}, {'k', 45}}, dtype});
  }
}

TEST(Strips, SeveralContiguousDimensions) {
  for (const of_dtype dtype : kKernelDtypes)
    expect_strips(takes_transposed(dtype), {"kab,kj->baj", {{'a', 31}, {'b', 37}, {'j', 11}, {'k', 30}}, dtype});
}

TEST(Strips, BatchesAndOtherDimensions) {
  const std::map<char, int64_t> sizes{{'b', 3}, {'a', 7}, {'i', 200}, {'j', 9}, {'k', 21}, {'l', 2}};
  for (const of_dtype dtype : kKernelDtypes) {
    expect_strips(takes_transposed(dtype), {"bkai,bkj->baij", sizes, dtype});
    expect_strips(takes_transposed(dtype), {"akbi,kjb->biaj", sizes, dtype});
    expect_strips(takes_transposed(dtype), {"kali,lkj->aij", sizes, dtype});
  }
}

TEST(Strips, MoreRowsThanOneTask) {
  if (takes_transposed(OF_FLOAT32)) expect_solved({"ki,kj->ij", {{'i', 20011}, {'j', 8}, {'k', 17}}}, solve_in_strips);
}

// C is larger than the caches, so that it is written with non-temporal stores.
TEST(Strips, NonTemporalStores) {
  if (!takes_transposed(OF_FLOAT32)) GTEST_SKIP() << "the vectors of this instruction set have too few lanes";
  const int64_t rows = non_temporal_tile_bytes() / 64 + 3;
  expect_solved({"ki,kj->ij", {{'i', rows}, {'j', 16}, {'k', 8}}}, solve_in_strips);
}

TEST(Strips, LayoutsOfTheOperands) {
  for (const of_dtype dtype : kKernelDtypes) {
    const TestContraction plain("ki,kj->ij", {{'i', 1007}, {'j', 13}, {'k', 45}}, dtype);
    const bool takes = takes_transposed(dtype);
    expect_strips(takes, TestContraction(plain).lay_out(kA, {"", 9}).lay_out(kB, {"", 2}).lay_out(kC, {"", 3}));
    expect_strips(takes, TestContraction(plain).lay_out(kB, {"", 0, 3}));
    expect_strips(takes, TestContraction(plain).lay_out(kB, {"jk", 0, -1}));
  }
}

// ------------------------------------------------------------------------------------------------ C along the vectors

TEST(Strips, StoresSumsInTheOrderOfC) {
  for (const of_dtype dtype : {OF_FLOAT32, OF_INT32, OF_FLOAT64}) {
    const int64_t size = dtype == OF_FLOAT64 ? 8 : 4;
    const int64_t rows = (int64_t{4} << 20) / size / 33;  // a little less than the fewest
    const TestContraction large("ki,kj->ji", {{'i', rows + 6}, {'j', 5}, {'k', 33}}, dtype);
    expect_strips(takes_in_order(dtype), large);
    expect_strips(takes_in_order(dtype), TestContraction(large).lay_out(kC, {"", 4}).lay_out(kA, {"", 13}));
    expect_strips(takes_in_order(dtype), {"ik,kj->ij", {{'j', rows + 6}, {'i', 5}, {'k', 33}}, dtype});
    expect_refused({"ki,kj->ji", {{'i', rows}, {'j', 5}, {'k', 33}}, dtype}, solve_in_strips);
  }
}

// ------------------------------------------------------------------------------------------------ C along an outer
// dimension

TEST(Strips, TransposesSumsOfSeveralStrips) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t outer : {8, 9, 15, 16, 17, 37})
      expect_solved({"kai,kj->jia", {{'a', outer}, {'i', 131}, {'j', 5}, {'k', 21}}, dtype}, solve_in_strips);
    for (const int64_t columns : {3, 4, 13, 25, 96})
      expect_solved({"kai,kj->ija", {{'a', 20}, {'i', 67}, {'j', columns}, {'k', 16}}, dtype}, solve_in_strips);
    for (const int64_t contiguous : {32, 33, 63, 64, 90})
      expect_solved({"kai,kj->jia", {{'a', 50}, {'i', contiguous}, {'j', 4}, {'k', 13}}, dtype}, solve_in_strips);
  }
}

TEST(Strips, OuterDimensionInBatchesAndWithOthers) {
  const std::map<char, int64_t> sizes{{'b', 3}, {'a', 11}, {'h', 5}, {'i', 100}, {'j', 4}, {'k', 9}};
  for (const of_dtype dtype : kKernelDtypes) {
    expect_solved({"bkahi,bkj->bjhia", sizes, dtype}, solve_in_strips);
    expect_solved({"kj,hkai->ihja", sizes, dtype}, solve_in_strips);
  }
}

// The operand reaches over more pages than the processor has address translations for: all vectors come first.
TEST(Strips, OuterDimensionOnManyPages) {
  for (const of_dtype dtype : {OF_FLOAT32, OF_FLOAT64}) {
    expect_solved({"kai,kj->jia", {{'a', 17}, {'i', 1103}, {'j', 3}, {'k', 100}}, dtype}, solve_in_strips);
    expect_solved({"aki,kj->jia", {{'a', 16}, {'i', 1300}, {'j', 3}, {'k', 97}}, dtype}, solve_in_strips);
  }
}

// ------------------------------------------------------------------------------------------------ refusals

// A contraction whose C is contiguous along an outer dimension, which all instruction sets take.
TestContraction outer(const std::map<char, int64_t>& changes = {}, of_dtype dtype = OF_FLOAT32) {
  std::map<char, int64_t> sizes{{'a', 40}, {'i', 50}, {'j', 5}, {'k', 20}};
  for (const auto& [label, size] : changes) sizes[label] = size;
  return {"kai,kj->jia", sizes, dtype};
}

TEST(Strips, RefusesOtherForms) {
  expect_solved(outer(), solve_in_strips);
  expect_refused(outer().scale(2, 0), solve_in_strips);
  expect_refused(outer().scale(1, 1), solve_in_strips);
  expect_refused(outer().add_bias(), solve_in_strips);
  for (const of_dtype dtype : {OF_FLOAT16, OF_BFLOAT16, OF_INT8, OF_BOOL})
    expect_refused(outer({}, dtype), solve_in_strips);
}

TEST(Strips, RefusesSizesOutsideItsLimits) {
  expect_refused(outer({{'j', 2}}), solve_in_strips);
  expect_refused(outer({{'j', 97}}), solve_in_strips);
  expect_refused(outer({{'k', 7}, {'a', 400}}), solve_in_strips);
  expect_refused(outer({{'k', 1025}}), solve_in_strips);
  expect_solved(outer({{'k', 1024}, {'j', 4}}), solve_in_strips);
  expect_refused(outer({{'k', 1024}, {'j', 65}}), solve_in_strips);
  expect_refused(outer({{'a', 7}, {'i', 300}}), solve_in_strips);
  expect_refused(outer({{'i', 7}, {'a', 400}}), solve_in_strips);
  expect_refused(outer({{'a', 8}, {'i', 100}}), solve_in_strips);
}

TEST(Strips, RefusesOtherLayouts) {
  expect_refused(TestContraction("ik,kj->ij", {{'i', 5000}, {'j', 10}, {'k', 30}}), solve_in_strips);
  expect_refused(outer().lay_out(kA, {"", 0, 2}), solve_in_strips);
  expect_refused(outer().lay_out(kC, {"", 0, 2}), solve_in_strips);
  expect_refused(outer().lay_out(kC, {"", 0, -1}), solve_in_strips);
}

TEST(Strips, RefusesColumnsThatAreTooManyOrTooFew) {
  const auto columns = [](int64_t count, int64_t depth) {
    return TestContraction("ki,kj->ij", {{'i', 3000}, {'j', count}, {'k', depth}});
  };
  expect_strips(takes_transposed(OF_FLOAT32), columns(48, 45));
  expect_refused(columns(49, 45), solve_in_strips);
  expect_strips(takes_transposed(OF_FLOAT32), columns(8, 16));
  expect_refused(columns(8, 15), solve_in_strips);
}

// The rows of the large operand begin 128 KiB apart: they share few sets of a cache, which a second panel of columns
// would read again.
TEST(Strips, RefusesToReadSharedCacheSetsTwice) {
  if (!takes_transposed(OF_FLOAT32)) GTEST_SKIP() << "the vectors of this instruction set have too few lanes";
  const auto product = [](int64_t rows, int64_t columns) {
    return TestContraction("ki,kj->ij", {{'i', rows}, {'j', columns}, {'k', 40}}).problem();
  };
  EXPECT_EQ(solve_in_strips(product(32768, 25)), nullptr);
  EXPECT_NE(solve_in_strips(product(32768, 12)), nullptr);
  EXPECT_NE(solve_in_strips(product(32784, 25)), nullptr);
}

}  // namespace
}  // namespace oneflow::cpu
