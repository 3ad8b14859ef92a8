#include "contract/rewrite/long.h"

#include <gtest/gtest.h>

#include <map>

#include "contract/test_problems.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

class LongDepth : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(threads_); }

 private:
  const int threads_ = thread_count();
};
INSTANTIATE_TEST_SUITE_P(Threads, LongDepth, testing::Values(1, 3));

constexpr of_dtype kDtypes[] = {OF_FLOAT32, OF_FLOAT64, OF_INT64};

TEST_P(LongDepth, TallMatricesTimesTheirTransposes) {
  for (const of_dtype dtype : kDtypes) {
    // Depths that are a multiple of the pieces, and not.
    for (const int64_t k : {20480, 20481, 30011}) {
      const std::map<char, int64_t> sizes{{'i', 8}, {'j', 9}, {'k', k}};
      expect_solved({"ki,kj->ij", sizes, dtype}, offer_pieces);
      expect_solved({"ki,kj->ji", sizes, dtype}, offer_pieces);
      expect_solved(TestContraction("ki,kj->ij", sizes, dtype).lay_out(kA, {"ki", 3}).lay_out(kC, {"ij", 5}),
                    offer_pieces);
    }
    expect_solved({"ki,kj->ij", {{'i', 24}, {'j', 33}, {'k', 3003}}, dtype}, offer_pieces);
  }
}

// A thin product along contiguous columns is long, too, but not a dot product.
TEST_P(LongDepth, VectorsTimesTallMatrices) {
  for (const of_dtype dtype : kDtypes) {
    expect_solved({"k,kj->j", {{'j', 40}, {'k', 40007}}, dtype}, offer_pieces);
    expect_solved({"ki,kj->ij", {{'i', 2}, {'j', 12}, {'k', 70001}}, dtype}, offer_pieces);
  }
}

TEST_P(LongDepth, BatchesAndSeveralDimensions) {
  for (const of_dtype dtype : kDtypes) {
    std::map<char, int64_t> sizes{{'b', 3}, {'i', 6}, {'j', 7}, {'k', 20011}, {'p', 4}, {'c', 2}, {'d', 3}};
    for (const char* equation : {"bki,bkj->bij", "pki,pkj->ij", "kpi,kpj->ij", "kci,kj->cij", "kci,kj->ijc"})
      expect_solved({equation, sizes, dtype}, offer_pieces);
    sizes['i'] = 32;
    sizes['j'] = 8;
    sizes['k'] = 4001;
    for (const char* equation : {"bki,kbj->bij", "kpi,pkj->ij", "kci,kdj->cdij"})
      expect_solved({equation, sizes, dtype}, offer_pieces);
  }
}

TEST_P(LongDepth, RefusesOtherProblems) {
  const std::map<char, int64_t> sizes{{'i', 8}, {'j', 9}, {'k', 30000}};
  expect_refused(TestContraction("ki,kj->ij", sizes).scale(2, 0), offer_pieces);
  expect_refused(TestContraction("ki,kj->ij", sizes).scale(1, 1), offer_pieces);
  expect_refused({"ki,kj->ij", sizes, OF_FLOAT16}, offer_pieces);
  expect_refused({"ki,kj->ij", {{'i', 65}, {'j', 64}, {'k', 1000}}}, offer_pieces);  // a large C
  expect_refused({"ki,kj->ij", {{'i', 8}, {'j', 9}, {'k', 255}}}, offer_pieces);     // a short depth
  expect_refused({"ki,kj->ij", {{'i', 3}, {'j', 3}, {'k', 20000}}}, offer_pieces);   // little work
  // Dot products of contiguous vectors are cut into pieces elsewhere.
  expect_refused({"k,k->", {{'k', 10000000}}}, offer_pieces);
  expect_refused({"ik,k->i", {{'i', 40}, {'k', 100000}}}, offer_pieces);
}

}  // namespace
}  // namespace oneflow::cpu
