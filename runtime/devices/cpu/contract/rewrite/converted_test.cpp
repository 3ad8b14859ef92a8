#include "contract/rewrite/converted.h"

#include <gtest/gtest.h>

#include <map>

#include "contract/kernels.h"
#include "contract/test_problems.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

class Converted : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(threads_); }

 private:
  const int threads_ = thread_count();
};
INSTANTIATE_TEST_SUITE_P(Threads, Converted, testing::Values(1, 3));

std::map<char, int64_t> cube(int64_t size) { return {{'i', size}, {'k', size}, {'j', size}, {'b', 5}}; }

TEST_P(Converted, SmallMatricesOfNarrowTypes) {
  for (const of_dtype dtype : {OF_FLOAT16, OF_INT8, OF_UINT8, OF_INT16, OF_UINT16}) {
    for (const int64_t size : {2, 3, 8, 15, 16, 17, 30})
      for (const char* equation : {"ik,kj->ij", "ki,kj->ij", "ik,jk->ij", "ik,kj->ji"})
        expect_solved({equation, cube(size), dtype}, offer_converted);
    for (const int64_t size : {2, 5, 8, 13})
      for (const char* equation : {"bik,bkj->bij", "bki,bkj->bij"})
        expect_solved({equation, cube(size), dtype}, offer_converted);
  }
}

// Operands of several conversion tasks.
TEST_P(Converted, MoreElementsThanOneTaskConverts) {
  expect_solved({"ik,kj->ij", {{'i', 300}, {'k', 200}, {'j', 12}}, OF_FLOAT16}, offer_converted);
  expect_solved({"i,j->ij", {{'i', 500}, {'j', 301}}, OF_FLOAT16}, offer_converted);
  expect_solved({"i,j->ij", {{'i', 500}, {'j', 301}}, OF_INT8}, offer_converted);
  expect_solved({"ik,k->i", {{'i', 500}, {'k', 301}}, OF_FLOAT16}, offer_converted);
}

TEST_P(Converted, OperandsOfAnyOrderWithoutGaps) {
  const std::map<char, int64_t> sizes{{'b', 6}, {'i', 7}, {'k', 9}, {'j', 8}};
  for (const char* order : {"bik", "bki", "ibk", "ikb", "kbi", "kib"})
    expect_solved(TestContraction("bik,bkj->bij", sizes, OF_FLOAT16).lay_out(kA, {order}), offer_converted);
  for (const char* order : {"bij", "bji", "ibj", "jib"})
    expect_solved(TestContraction("bik,bkj->bij", sizes, OF_FLOAT16).lay_out(kC, {order}), offer_converted);
}

TEST_P(Converted, Bfloat16WhereItIsNotMultipliedInPairs) {
  expect_solved({"ik,kj->ij", cube(16), OF_BFLOAT16}, offer_converted);
  const TestContraction larger("ik,kj->ij", cube(64), OF_BFLOAT16);
  if (contract_kernels(OF_BFLOAT16).depths_per_element > 1)
    expect_refused(larger, offer_converted);
  else
    expect_solved(larger, offer_converted);
}

TEST_P(Converted, RefusesOtherProblems) {
  for (const of_dtype dtype : {OF_FLOAT32, OF_FLOAT64, OF_INT32, OF_UINT64, OF_BOOL})
    expect_refused({"ik,kj->ij", cube(16), dtype}, offer_converted);
  expect_refused(TestContraction("ik,kj->ij", cube(16), OF_FLOAT16).scale(2, 0), offer_converted);
  expect_refused(TestContraction("ik,kj->ij", cube(16), OF_FLOAT16).scale(1, 1), offer_converted);
  expect_refused(TestContraction("ik,kj->ij", cube(16), OF_FLOAT16).add_bias(), offer_converted);
  for (const Operand operand : {kA, kB, kC}) {
    expect_refused(TestContraction("ik,kj->ij", cube(16), OF_FLOAT16).lay_out(operand, {"", 3}), offer_converted);
    expect_refused(TestContraction("ik,kj->ij", cube(16), OF_FLOAT16).lay_out(operand, {"", 0, 2}), offer_converted);
    expect_refused(TestContraction("ik,kj->ij", cube(16), OF_FLOAT16).lay_out(operand, {"", 0, -1}), offer_converted);
  }
  // More than a million elements, and a problem that is faster packed.
  expect_refused({"i,j->ij", {{'i', 1100}, {'j', 1000}}, OF_FLOAT16}, offer_converted);
  expect_refused({"ik,kj->ij", cube(400), OF_FLOAT16}, offer_converted);
}

}  // namespace
}  // namespace oneflow::cpu
