#include "contract/rewrite/copied.h"

#include <gtest/gtest.h>

#include <map>

#include "contract/test_problems.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

class Copied : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(threads_); }

 private:
  const int threads_ = thread_count();
};
INSTANTIATE_TEST_SUITE_P(Threads, Copied, testing::Values(1, 3));

constexpr of_dtype kDtypes[] = {OF_FLOAT32, OF_FLOAT64, OF_INT32, OF_UINT64};

// A matrix by a column of a row-major matrix.
TEST_P(Copied, AVectorThatIsStrided) {
  for (const of_dtype dtype : kDtypes) {
    for (const int64_t i : {4, 17, 900}) {
      for (const int64_t k : {2, 3, 31, 64, 1000}) {
        const std::map<char, int64_t> sizes{{'i', i}, {'k', k}, {'j', 2}};
        for (const int64_t step : {2, 7, -1}) {
          expect_solved(TestContraction("ik,k->i", sizes, dtype).lay_out(kB, {"k", 0, step}), offer_copy);
          expect_solved(TestContraction("k,ik->i", sizes, dtype).lay_out(kA, {"k", 0, step}), offer_copy);
        }
        expect_solved({"ik,kj->ij", sizes, dtype}, offer_copy);
        expect_solved(TestContraction("ik,k->i", sizes, dtype).lay_out(kA, {"ik", 3}).lay_out(kB, {"k", 0, 2}),
                      offer_copy);
      }
    }
  }
}

TEST_P(Copied, Batches) {
  for (const of_dtype dtype : kDtypes) {
    const std::map<char, int64_t> sizes{{'b', 7}, {'i', 30}, {'k', 40}, {'c', 3}};
    expect_solved({"bik,kb->bi", sizes, dtype}, offer_copy);
    expect_solved({"bcik,kbc->bci", sizes, dtype}, offer_copy);
    expect_solved({"kb,bik->ib", sizes, dtype}, offer_copy);
  }
}

// The depth of the larger operand is one contiguous dimension, once the smaller one has its order.
TEST_P(Copied, ADepthInAnotherOrder) {
  for (const of_dtype dtype : kDtypes) {
    const std::map<char, int64_t> sizes{{'i', 30}, {'p', 12}, {'q', 9}, {'r', 5}};
    expect_solved({"ipq,qp->i", sizes, dtype}, offer_copy);
    expect_solved({"ipqr,rpq->i", sizes, dtype}, offer_copy);
    expect_solved({"rqp,ipqr->i", sizes, dtype}, offer_copy);
  }
}

TEST_P(Copied, RefusesOtherProblems) {
  const std::map<char, int64_t> sizes{{'i', 30}, {'k', 40}, {'j', 2}, {'p', 6}, {'q', 7}};
  expect_refused({"ik,k->i", sizes}, offer_copy);
  expect_refused({"ki,kj->ij", sizes}, offer_copy);  // strided in A, too
  expect_refused(TestContraction("ik,k->i", {{'i', 3}, {'k', 40}}).lay_out(kB, {"k", 0, 2}), offer_copy);
  expect_refused(TestContraction("ik,k->i", {{'i', 4}, {'k', 1}}).lay_out(kB, {"k", 0, 2}), offer_copy);
  // More than 1 MiB to be copied.
  expect_refused(TestContraction("ik,k->i", {{'i', 4}, {'k', (1 << 18) + 1}}).lay_out(kB, {"k", 0, 2}), offer_copy);
  // A vector that is broadcast along one dimension of the depth.
  expect_refused(TestContraction("ipq,p->i", sizes).lay_out(kB, {"p", 0, 2}), offer_copy);
}

}  // namespace
}  // namespace oneflow::cpu
