// Tests of collective operators that front ends cannot reach: worker threads, failures during a merge, parts, and
// access to the memory of other devices.
#include <gtest/gtest.h>
#include <oneflow/oneflow.h>

#include <atomic>
#include <stdexcept>

#include "ops/parts.h"
#include "parallel/local/access.h"
#include "parallel/local/merge.h"
#include "parallel/local/ranks.h"
#include "parallel/local/workers.h"
#include "tests/support/test_tensors.h"

namespace oneflow::collective {
namespace {

TEST(Parts, SizesDifferByAtMostOne) {
  int64_t next = 0;
  for (int i = 0; i < 4; ++i) {
    const Part part = even_part(10, i, 4);
    EXPECT_EQ(part.start, next);
    EXPECT_EQ(part.size, i < 2 ? 3 : 2);
    next += part.size;
  }
  EXPECT_EQ(even_part(2, 3, 4).size, 0);
}

TEST(Workers, AllThreadsRunAndTheFirstExceptionIsThrown) {
  std::atomic<int> runs{0};
  run_on_threads(4, [&] { ++runs; });
  EXPECT_EQ(runs, 4);
  runs = 0;
  EXPECT_THROW(run_on_threads(3,
                              [&] {
                                ++runs;
                                throw std::runtime_error("failed");
                              }),
               std::runtime_error);
  EXPECT_EQ(runs, 3);
}

// Enough elements for several threads, and not a multiple of the piece size.
constexpr int64_t kMany = 1'000'003;

// Returns `count` tensors, filled with 1, 2, ….
std::vector<TensorRef> filled_tensors(int count, of_device device = kHost) {
  std::vector<TensorRef> tensors;
  for (int i = 0; i < count; ++i)
    tensors.push_back(make_tensor({kMany}, std::vector<double>(kMany, i + 1), OF_FLOAT32, device));
  return tensors;
}

of_status reduce_in_place(const std::vector<TensorRef>& tensors) {
  std::vector<of_tensor> handles;
  for (const TensorRef& each : tensors) handles.push_back(to_handle(each.get()));
  of_value list{OF_VALUE_TENSOR_LIST, static_cast<int32_t>(handles.size()), {.tensors = handles.data()}};
  const of_value arguments[] = {list};
  return of_call(of_op_find("comm.local.all_reduce"), arguments, 1, &list, 1);
}

TEST(Merge, SeveralThreadsMergeAllPieces) {
  int64_t threads;
  ASSERT_EQ(of_get_option("num_threads", &threads), OF_OK);
  ASSERT_EQ(of_set_option("num_threads", 4), OF_OK);
  const std::vector<TensorRef> tensors = filled_tensors(3);
  for (int round = 0; round < 3; ++round) ASSERT_EQ(reduce_in_place(tensors), OF_OK);
  for (const TensorRef& each : tensors) EXPECT_EQ(values(*each), std::vector<double>(kMany, 6 * 3 * 3));
  ASSERT_EQ(of_set_option("num_threads", threads), OF_OK);
}

TEST(Merge, FailureStopsAllThreadsAndFreesTheirMemory) {
  const std::vector<TensorRef> tensors = filled_tensors(3, far_device());
  const uint64_t live = Tensor::live_count();
  ASSERT_EQ(of_set_option("fallback_is_error", 1), OF_OK);
  EXPECT_EQ(reduce_in_place(tensors), OF_UNSUPPORTED);
  EXPECT_EQ(std::string(of_last_error()).rfind("comm.local.all_reduce: far:0 has no kernel for float32", 0), 0u)
      << of_last_error();
  ASSERT_EQ(of_set_option("fallback_is_error", 0), OF_OK);
  EXPECT_EQ(Tensor::live_count(), live);
  EXPECT_EQ(reduce_in_place(tensors), OF_OK);
  EXPECT_EQ(values(*tensors[2])[kMany - 1], 6);
}

TEST(Access, ReturnsTheTensorItselfOnItsDeviceAndNullWithoutAccess) {
  const TensorRef near = make_tensor({2}, {1, 2}), far = make_tensor({2}, {1, 2}, OF_FLOAT32, far_device());
  EXPECT_EQ(accessible_from(*near, kHost).get(), near.get());
  EXPECT_FALSE(accessible_from(*far, kHost));
  EXPECT_FALSE(accessible_from(*near, far_device()));
}

TEST(Access, CopiesBetweenDifferentLayoutsAndDevices) {
  const TensorRef source = make_tensor({2, 3}, {0, 1, 2, 3, 4, 5}, OF_INT16, far_device(1));
  const TensorRef memory = make_tensor({3, 2}, std::vector<double>(6), OF_INT16);
  const TensorRef target = Tensor::view(*memory, Shape{2, 3}, Shape{1, 2}, 0);
  copy_elements("test", *target, *source);
  EXPECT_EQ(values(*target), values(*source));
  EXPECT_EQ(values(*memory), (std::vector<double>{0, 3, 1, 4, 2, 5}));
}

}  // namespace
}  // namespace oneflow::collective
