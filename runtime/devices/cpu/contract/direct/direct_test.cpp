#include "contract/direct/direct.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "contract/kernels.h"
#include "contract/test_problems.h"
#include "simd/non_temporal.h"

namespace oneflow::cpu {
namespace {

bool has_register_products(of_dtype dtype) { return contract_kernels(dtype).register_product != nullptr; }

// ------------------------------------------------------------------------------------------------ without a sum

TEST(Direct, OuterProducts) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t columns : {2, 3, 4, 7, 8, 15, 16, 17, 33, 100})
      expect_solved({"i,j->ij", {{'i', 23}, {'j', columns}}, dtype}, offer_directly);
    expect_solved({"i,j->ji", {{'i', 70}, {'j', 41}}, dtype}, offer_directly);
    expect_solved({"bi,bj->bij", {{'b', 5}, {'i', 7}, {'j', 9}}, dtype}, offer_directly);
    expect_solved({"i,j->ij", {{'i', 3}, {'j', 9001}}, dtype}, offer_directly);
    expect_solved({",->", {}, dtype}, offer_directly);
  }
}

TEST(Direct, ElementwiseProducts) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t size : {2, 5, 16, 31, 1000, 20001})
      expect_solved({"i,i->i", {{'i', size}}, dtype}, offer_directly);
    expect_solved({"bi,b->bi", {{'b', 37}, {'i', 53}}, dtype}, offer_directly);
    expect_solved({"bi,i->ib", {{'b', 37}, {'i', 53}}, dtype}, offer_directly);
    expect_solved({"abc,ca->bca", {{'a', 9}, {'b', 20}, {'c', 35}}, dtype}, offer_directly);
  }
}

TEST(Direct, TransposesSquaresOfProducts) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t i : {2, 15, 16, 17, 40})
      for (const int64_t j : {16, 17, 31, 48})
        expect_solved({"ij,ij->ji", {{'i', i}, {'j', j}}, dtype}, offer_directly);
    expect_solved({"aij,aj->jai", {{'a', 3}, {'i', 50}, {'j', 61}}, dtype}, offer_directly);
    expect_solved({"ij,ij->ji", {{'i', 300}, {'j', 250}}, dtype}, offer_directly);
  }
}

// C is larger than the caches, so that it is written with non-temporal stores.
TEST(Direct, NonTemporalStores) {
  const int64_t elements = non_temporal_bytes() / 8;
  expect_solved({"i,j->ij", {{'i', elements / 1000 + 1}, {'j', 1000}}, OF_FLOAT64}, offer_directly);
  const int64_t tiled = non_temporal_tile_bytes() / 16;
  expect_solved({"ij,ij->ji", {{'i', 512}, {'j', tiled / 512 + 3}}, OF_FLOAT64}, offer_directly);
}

// ------------------------------------------------------------------------------------------------ with a sum

TEST(Direct, MatrixVectorProductsAlongContiguousRows) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t rows : {9, 15, 16, 17, 63, 64, 127, 128, 129, 255, 256, 257, 700})
      expect_solved({"ki,k->i", {{'i', rows}, {'k', 21}}, dtype}, offer_in_place);
    expect_solved({"ki,k->i", {{'i', 600}, {'k', 500}}, dtype}, offer_in_place);
    expect_solved({"bki,bk->bi", {{'b', 7}, {'i', 150}, {'k', 45}}, dtype}, offer_in_place);
    for (const int64_t columns : {9, 15, 18, 37, 66, 131, 259, 333})
      expect_solved({"k,kj->j", {{'j', columns}, {'k', 45}}, dtype}, offer_in_place);
  }
}

TEST(Direct, NonTemporalStoresOfSums) {
  expect_solved({"ki,k->i", {{'i', non_temporal_bytes() / 8 + 5}, {'k', 2}}, OF_FLOAT64}, offer_in_place);
}

TEST(Direct, TwoRowsThatShareTheirVectors) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t columns : {16, 63, 64, 65, 127, 128, 129, 256, 300})
      expect_solved({"ik,kj->ij", {{'i', 2}, {'j', columns}, {'k', 19}}, dtype}, offer_in_place);
    expect_solved({"ki,jk->ji", {{'i', 275}, {'j', 2}, {'k', 19}}, dtype}, offer_in_place);
    expect_solved({"bik,bkj->bij", {{'b', 3}, {'i', 2}, {'j', 275}, {'k', 19}}, dtype}, offer_in_place);
  }
}

// As in a convolution of each channel by itself, where all rows of a channel have the same factors; of the vectors of
// either operand, all elements are used or every second one.
TEST(Direct, RowsThatShareTheirFactors) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t rows : {1, 2, 7, 8, 9, 20})
      for (const int64_t columns : {3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 57, 130})
        for (const auto& [depth, step] : {std::pair{9, 1}, {9, 2}, {1, 2}}) {
          if (step > 1 && !contract_kernels(dtype).reads_every_second) continue;
          const std::map<char, int64_t> sizes{{'b', 5}, {'i', rows}, {'j', columns}, {'k', depth}};
          const TestLayout layout{"", 3, step};
          expect_solved(TestContraction("bkij,bk->bij", sizes, dtype).lay_out(kA, layout), offer_in_place);
          expect_solved(TestContraction("bk,bkij->bij", sizes, dtype).lay_out(kB, layout), offer_in_place);
        }
    if (!contract_kernels(dtype).reads_every_second) continue;
    for (const int64_t depth : {1, 9}) {
      const TestContraction own_factors("bkij,bki->bij", {{'b', 5}, {'i', 9}, {'j', 21}, {'k', depth}}, dtype);
      expect_solved(TestContraction(own_factors).lay_out(kA, {"", 1, 2}), offer_in_place);
    }
  }
}

TEST(Direct, ContiguousBatches) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t batch : {8, 9, 16, 31, 64, 600})
      expect_solved({"ikb,kjb->ijb", {{'b', batch}, {'i', 3}, {'j', 4}, {'k', 5}}, dtype}, offer_directly);
    expect_solved({"kb,kb->b", {{'b', 100}, {'k', 19}}, dtype}, offer_directly);
  }
}

TEST(Direct, TransposesSquaresOfSums) {
  for (const of_dtype dtype : kKernelDtypes) {
    for (const int64_t i : {15, 16, 33})
      for (const int64_t j : {16, 17, 31, 50})
        expect_solved({"kij,kij->ji", {{'i', i}, {'j', j}, {'k', 3}}, dtype}, offer_in_place);
  }
}

TEST(Direct, ProductsWithoutAContiguousDimension) {
  for (const of_dtype dtype : kKernelDtypes) {
    const TestContraction plain("ik,kj->ij", {{'i', 3}, {'j', 4}, {'k', 5}}, dtype);
    expect_solved(TestContraction(plain).lay_out(kA, {"", 0, 20}).lay_out(kB, {"", 0, 20}).lay_out(kC, {"", 0, 20}),
                  offer_directly);
    expect_solved(
        TestContraction("i,j->ij", {{'i', 9}, {'j', 7}}, dtype).lay_out(kA, {"", 0, 2}).lay_out(kB, {"", 0, -1}),
        offer_directly);
  }
}

// ------------------------------------------------------------------------------------------------ other strategies

TEST(Direct, DotProducts) {
  for (const of_dtype dtype : kKernelDtypes) {
    expect_solved({"ik,k->i", {{'i', 45}, {'k', 67}}, dtype}, offer_directly);
    expect_solved({"bk,bk->b", {{'b', 45}, {'k', 67}}, dtype}, offer_directly);
    expect_solved({"ikx,ky->ixy", {{'i', 45}, {'k', 67}, {'x', 2}, {'y', 2}}, dtype}, offer_in_place);
    expect_solved({"ikj,k->ij", {{'i', 45}, {'k', 67}, {'j', 3}}, dtype}, offer_in_place);
  }
}

TEST(Direct, DotProductsWithACopyOfTheSmallerOperand) {
  for (const of_dtype dtype : kKernelDtypes)
    expect_solved(TestContraction("ik,k->i", {{'i', 200}, {'k', 150}}, dtype).lay_out(kB, {"", 0, 7}), offer_directly);
}

TEST(Direct, DotProductsOfCopies) {
  for (const of_dtype dtype : {OF_FLOAT16, OF_BFLOAT16, OF_INT8, OF_BOOL}) {
    expect_solved({"ik,k->i", {{'i', 16}, {'k', 32}}, dtype}, offer_directly);
    expect_solved({"ik,kj->ij", {{'i', 2}, {'j', 8}, {'k', 100}}, dtype}, offer_directly);
    expect_refused({"ik,k->i", {{'i', 17}, {'k', 100}}, dtype}, offer_directly);
    expect_refused({"ik,k->i", {{'i', 16}, {'k', 31}}, dtype}, offer_directly);
    expect_refused({"ik,kj->ij", {{'i', 3}, {'j', 3}, {'k', 100}}, dtype}, offer_directly);
  }
  for (const of_dtype dtype : kKernelDtypes)
    expect_solved(TestContraction("ik,k->i", {{'i', 3}, {'k', 1000}}, dtype).lay_out(kA, {"", 0, 5}), offer_directly);
}

TEST(Direct, SmallProductsLinesAndPieces) {
  for (const of_dtype dtype : kKernelDtypes) {
    expect_solved({"bik,bkj->bij", {{'b', 100}, {'i', 9}, {'j', 10}, {'k', 11}}, dtype}, offer_directly);
    expect_solved({"ik,jk->ij", {{'i', 150}, {'j', 10}, {'k', 200}}, dtype}, offer_directly);
    expect_solved({"ki,kj->ij", {{'i', 5}, {'j', 6}, {'k', 50003}}, dtype}, offer_directly);
  }
}

// ------------------------------------------------------------------------------------------------ within registers

TEST(Direct, BatchesOfMatricesWithinRegisters) {
  for (const of_dtype dtype : kKernelDtypes) {
    const bool is_wide = contract_kernels(dtype).lane_count >= 16;
    for (const int64_t depth : {2, 3, 4, 5, 8}) {
      const TestContraction product("bik,bkj->bij", {{'b', 777}, {'i', 2}, {'j', 2}, {'k', depth}}, dtype);
      const bool fits = has_register_products(dtype) && 2 * depth <= contract_kernels(dtype).lane_count;
      EXPECT_EQ(fits_registers(product.problem()), fits) << product.description();
      if (fits) expect_solved(product, offer_directly);
    }
    for (const int64_t size : {3, 4}) {
      const TestContraction product("bik,bkj->bij", {{'b', 777}, {'i', size}, {'j', size}, {'k', size}}, dtype);
      EXPECT_EQ(fits_registers(product.problem()), has_register_products(dtype) && is_wide) << product.description();
      expect_solved(product, offer_directly);
    }
  }
}

TEST(Direct, LayoutsWithinRegisters) {
  for (const of_dtype dtype : {OF_FLOAT32, OF_INT32}) {
    const TestContraction plain("bik,bkj->bij", {{'b', 100}, {'i', 3}, {'j', 3}, {'k', 3}}, dtype);
    const TestContraction layouts[] = {
        TestContraction(plain).lay_out(kA, {"bki"}).lay_out(kC, {"bji"}),
        TestContraction(plain).lay_out(kA, {"", 2}).lay_out(kB, {"", 1}).lay_out(kC, {"", 2}),
        TestContraction(plain).lay_out(kB, {"bjk", 1}).lay_out(kC, {"", 1}),
    };
    for (const TestContraction& product : layouts) {
      EXPECT_EQ(fits_registers(product.problem()), has_register_products(dtype)) << product.description();
      expect_solved(product, offer_directly);
    }
    const TestContraction deeper("bik,bkj->bij", {{'b', 100}, {'i', 3}, {'j', 3}, {'k', 5}}, dtype);
    EXPECT_EQ(fits_registers(deeper.problem()), has_register_products(dtype));
    EXPECT_FALSE(fits_registers(TestContraction(deeper).lay_out(kC, {"", 4}).problem()));
    EXPECT_FALSE(fits_registers(TestContraction(plain).lay_out(kA, {"", 0, -1}).problem()));
  }
}

TEST(Direct, TallAndSkinnyMatricesWithinRegisters) {
  for (const int64_t columns : {2, 3, 4}) {
    for (const int64_t depth : {2, 3, 4}) {
      const TestContraction product("ik,kj->ij", {{'i', 2000}, {'j', columns}, {'k', depth}});
      EXPECT_EQ(fits_registers(product.problem()), has_register_products(OF_FLOAT32)) << product.description();
      if (has_register_products(OF_FLOAT32)) expect_solved(product, offer_directly);
    }
  }
  const bool fits = has_register_products(OF_FLOAT32);
  EXPECT_EQ(fits_registers(TestContraction("ik,kj->ij", {{'i', 2000}, {'j', 2}, {'k', 8}}).problem()), fits);
  EXPECT_EQ(fits_registers(TestContraction("ki,kj->ji", {{'i', 2}, {'j', 2000}, {'k', 2}}).problem()), false);
  EXPECT_FALSE(fits_registers(TestContraction("ik,kj->ij", {{'i', 2000}, {'j', 2}, {'k', 9}}).problem()));
  EXPECT_FALSE(fits_registers(TestContraction("ik,kj->ij", {{'i', 2000}, {'j', 5}, {'k', 3}}).problem()));
  EXPECT_FALSE(fits_registers(TestContraction("i,j->ij", {{'i', 2}, {'j', 2}}).problem()));
}

// ------------------------------------------------------------------------------------------------ refusals

TEST(Direct, RefusesOtherForms) {
  for (const auto solve : {offer_directly, offer_in_place}) {
    for (const TestContraction& plain :
         {TestContraction("i,j->ij", {{'i', 20}, {'j', 30}}), TestContraction("ik,k->i", {{'i', 20}, {'k', 30}}),
          TestContraction("ik,kj->ij", {{'i', 4}, {'j', 4}, {'k', 4}})}) {
      expect_solved(plain, solve);
      expect_refused(TestContraction(plain).scale(2, 0), solve);
      expect_refused(TestContraction(plain).scale(1, 1), solve);
      expect_refused(TestContraction(plain).add_bias(), solve);
    }
    expect_refused({"ik,kj->ij", {{'i', 4}, {'j', 4}, {'k', 0}}}, solve);
  }
}

TEST(Direct, RefusesWhatPackingIsFasterFor) {
  expect_refused({"ik,kj->ij", {{'i', 400}, {'j', 400}, {'k', 400}}}, offer_directly);
  expect_refused({"ik,kj->ij", {{'i', 3000}, {'j', 3000}, {'k', 3000}}}, offer_directly);
  expect_refused(TestContraction("ik,kj->ij", {{'i', 100}, {'j', 2}, {'k', 100}}).lay_out(kA, {"", 0, 2}),
                 offer_in_place);
  const TestContraction strided("ik,kj->ij", {{'i', 8}, {'j', 9}, {'k', 4}});
  expect_refused(TestContraction(strided).lay_out(kA, {"", 0, 200}).lay_out(kB, {"", 0, 200}).lay_out(kC, {"", 0, 200}),
                 offer_directly);
}

}  // namespace
}  // namespace oneflow::cpu
