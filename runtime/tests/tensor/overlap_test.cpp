#include "tensor/overlap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tensor/create.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

// Returns the offsets of all elements in the storage.
std::multiset<int64_t> offsets(const Tensor& tensor) {
  std::multiset<int64_t> found{tensor.offset()};
  for (int d = 0; d < tensor.rank(); ++d) {
    std::multiset<int64_t> next;
    for (const int64_t offset : found)
      for (int64_t i = 0; i < tensor.size(d); ++i) next.insert(offset + i * tensor.stride(d));
    found.swap(next);
  }
  return found;
}

TEST(OverlapTest, AgreesWithComparingAllOffsets) {
  const TensorRef memory = Tensor::allocate(Shape{1000}, OF_INT32, {0, 0});
  std::mt19937 random(7);
  const auto any_view = [&] {
    const int rank = static_cast<int>(random() % 4);
    Shape sizes(rank), strides(rank);
    for (int d = 0; d < rank; ++d) {
      sizes[d] = random() % 5;
      strides[d] = static_cast<int64_t>(random() % 25) - 12;
    }
    return Tensor::view(*memory, sizes, strides, 500 + static_cast<int64_t>(random() % 30));
  };
  int overlapping = 0;
  for (int i = 0; i < 5000; ++i) {
    const TensorRef a = any_view(), b = any_view();
    const auto left = offsets(*a), right = offsets(*b);
    bool expected = false;
    for (const int64_t offset : left) expected |= right.count(offset) > 0;
    overlapping += expected;
    const bool found = overlap(*a, *b) != Overlap::kNone;
    ASSERT_EQ(found, expected) << to_text(a->sizes()) << to_text(a->strides()) << a->offset() << " and "
                               << to_text(b->sizes()) << to_text(b->strides()) << b->offset();
  }
  EXPECT_GT(overlapping, 500);
}

TEST(OverlapTest, TheSameElementsInTheSameOrderAreExact) {
  const TensorRef tensor = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const TensorRef same = Tensor::view(*tensor, Shape{2, 3}, Shape{3, 1}, 0);
  const TensorRef transposed = Tensor::view(*tensor, Shape{3, 2}, Shape{1, 3}, 0);
  EXPECT_EQ(overlap(*tensor, *same), Overlap::kExact);
  EXPECT_EQ(overlap(*tensor, *transposed), Overlap::kPartial);
  EXPECT_EQ(overlap(*tensor, *Tensor::over(tensor->storage(), OF_INT32, Shape{2, 3}, Shape{3, 1}, 0)),
            Overlap::kPartial);
}

TEST(OverlapTest, LazyClonesDoNotOverlap) {
  const TensorRef tensor = make_tensor({3}, {1, 2, 3});
  EXPECT_EQ(overlap(*tensor, *lazy_clone(*tensor)), Overlap::kNone);
}

TEST(OverlapTest, ElementsOfDifferentWidths) {
  const TensorRef memory = Tensor::allocate(Shape{8}, OF_INT16, {0, 0});
  const TensorRef even = Tensor::view(*memory, Shape{4}, Shape{2}, 0);
  const TensorRef odd = Tensor::view(*memory, Shape{4}, Shape{2}, 1);
  EXPECT_EQ(overlap(*even, *odd), Overlap::kNone);
}

TEST(OverlapTest, LargeLayoutsAreDecidedQuickly) {
  const TensorRef memory = Tensor::allocate(Shape{64, 64, 64, 8}, OF_FLOAT32, {0, 0});
  const Shape strides{32768, 512, 8, 1};
  const TensorRef left = Tensor::view(*memory, Shape{64, 64, 64, 4}, strides, 0);
  const TensorRef right = Tensor::view(*memory, Shape{64, 64, 64, 4}, strides, 4);
  EXPECT_EQ(overlap(*left, *right), Overlap::kNone);
  const TensorRef transposed = Tensor::view(*memory, Shape{4, 64, 64, 64}, Shape{1, 8, 512, 32768}, 4);
  EXPECT_EQ(overlap(*left, *transposed), Overlap::kNone);
  EXPECT_EQ(overlap(*right, *transposed), Overlap::kPartial);
}

}  // namespace
}  // namespace oneflow
