#include "base/shape.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/error.h"

namespace oneflow {
namespace {

// Returns the text of the error that `action` throws, and checks its status.
template <class Action>
std::string failure(Action&& action, of_status status = OF_SHAPE_ERROR) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status);
    return error.text();
  }
  return "no failure";
}

constexpr int64_t kHuge = int64_t{1} << 62;

TEST(ShapeTest, GrowsCopiesAndMoves) {
  Shape shape;
  for (int rank = 0; rank <= OF_MAX_RANK; ++rank) {
    ASSERT_EQ(shape.rank(), rank);
    Shape copy(shape);
    Shape moved(std::move(copy));
    EXPECT_EQ(moved, shape);
    Shape other{7, 7};
    other = moved;
    EXPECT_EQ(other, shape);
    other.swap(moved);
    EXPECT_EQ(moved, shape);
    if (rank < OF_MAX_RANK) shape.push_back(rank);
  }
  EXPECT_EQ(failure([&] { shape.push_back(1); }), "a tensor has at most 32 dimensions, got 33");
}

TEST(ShapeTest, SwapsInlineAndHeapMemory) {
  Shape small{1, 2};
  Shape large(10, 5);
  small.swap(large);
  EXPECT_EQ(small, Shape(10, 5));
  EXPECT_EQ(large, (Shape{1, 2}));
}

TEST(ShapeTest, InsertsAndErases) {
  Shape shape{2, 3};
  shape.insert(0, 1);
  shape.insert(3, 9);
  EXPECT_EQ(shape, (Shape{1, 2, 3, 9}));
  shape.erase(1);
  EXPECT_EQ(shape, (Shape{1, 3, 9}));
}

TEST(ShapeTest, CountsWithoutOverflow) {
  EXPECT_EQ(count_elements({}), 1);
  EXPECT_EQ(count_elements(Shape{2, 0, 3}), 0);
  EXPECT_EQ(count_elements(Shape{kHuge}), kHuge);
  EXPECT_EQ(failure([] { count_elements(Shape{2, -1}); }), "size must not be negative, got -1");
  EXPECT_EQ(failure([] {
              count_elements(Shape{kHuge, 4});
            }),
            "shape [4611686018427387904, 4] has more elements than an int64 can count");
  // There are no elements, but the strides would overflow.
  EXPECT_NE(failure([] { count_elements(Shape{0, kHuge, kHuge}); }), "no failure");
  EXPECT_EQ(failure([] { count_bytes(Shape{kHuge}, OF_FLOAT32); }),
            "shape [4611686018427387904] of float32 takes more bytes than an int64 can count");
}

TEST(ShapeTest, ExtentOfStrides) {
  const Extent both = extent(Shape{3, 4}, Shape{-4, 1});
  EXPECT_EQ(both.lowest, -8);
  EXPECT_EQ(both.highest, 3);
  EXPECT_EQ(extent(Shape{3, 0}, Shape{kHuge, 1}).highest, -1);
  EXPECT_NE(failure([] { extent(Shape{kHuge}, Shape{kHuge}); }), "no failure");
}

TEST(ShapeTest, Contiguity) {
  EXPECT_EQ(contiguous_strides(Shape{2, 3, 4}), (Shape{12, 4, 1}));
  EXPECT_EQ(contiguous_strides(Shape{2, 0, 4}), (Shape{4, 4, 1}));
  EXPECT_TRUE(is_contiguous(Shape{2, 1, 3}, Shape{3, 99, 1}));
  EXPECT_TRUE(is_contiguous(Shape{2, 0}, Shape{-7, 5}));
  EXPECT_TRUE(is_contiguous({}, {}));
  EXPECT_FALSE(is_contiguous(Shape{2, 3}, Shape{1, 2}));
  EXPECT_FALSE(is_contiguous(Shape{3}, Shape{-1}));
}

TEST(ShapeTest, FactsAgreeWithTheirOwnFunctions) {
  const std::pair<Shape, Shape> layouts[] = {{{}, {}},
                                             {{2, 3}, {3, 1}},
                                             {{2, 3}, {1, 2}},
                                             {{2, 1, 3}, {3, 99, 1}},
                                             {{3, 4}, {-4, 1}},
                                             {{3, 4}, {0, 1}},
                                             {{5}, {-1}},
                                             {{2, 0, 4}, {kHuge, kHuge, -kHuge}},
                                             {{1, 1}, {kHuge, -kHuge}},
                                             {{2, 2, 2, 2, 2, 2, 2}, {64, 32, 16, 8, 4, 2, 1}}};
  for (const auto& [sizes, strides] : layouts) {
    const LayoutFacts facts = facts_of(sizes, strides);
    const Extent reach = extent(sizes, strides);
    EXPECT_EQ(facts.count, count_elements(sizes)) << to_text(sizes);
    EXPECT_EQ(facts.is_contiguous, is_contiguous(sizes, strides)) << to_text(sizes) << to_text(strides);
    EXPECT_EQ(facts.reach.lowest, reach.lowest) << to_text(sizes) << to_text(strides);
    EXPECT_EQ(facts.reach.highest, reach.highest) << to_text(sizes) << to_text(strides);
  }
  EXPECT_EQ(failure([] { facts_of(Shape{2, -1}, Shape{1, 1}); }), "size must not be negative, got -1");
  EXPECT_NE(failure([] { facts_of(Shape{kHuge, 4}, Shape{1, 1}); }), "no failure");
  EXPECT_NE(failure([] { facts_of(Shape{kHuge}, Shape{kHuge}); }), "no failure");
}

TEST(ShapeTest, OverlapWithItself) {
  EXPECT_FALSE(overlaps_itself(Shape{2, 3}, Shape{3, 1}));
  EXPECT_FALSE(overlaps_itself(Shape{2, 3}, Shape{1, -2}));
  EXPECT_TRUE(overlaps_itself(Shape{2, 3}, Shape{0, 1}));
  EXPECT_FALSE(overlaps_itself(Shape{1, 3}, Shape{0, 1}));
  EXPECT_TRUE(overlaps_itself(Shape{3, 3}, Shape{1, 1}));
  EXPECT_FALSE(overlaps_itself(Shape{0, 3}, Shape{0, 0}));
}

TEST(ShapeTest, Broadcasts) {
  EXPECT_EQ(broadcast_shapes(Shape{2, 1}, Shape{3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast_shapes({}, Shape{3, 0}), (Shape{3, 0}));
  EXPECT_EQ(broadcast_shapes(Shape{1}, Shape{0}), Shape{0});
  EXPECT_EQ(failure([] { broadcast_shapes(Shape{2}, Shape{3}); }),
            "shapes [2] and [3] do not broadcast: dimension 0 has sizes 2 and 3");
  EXPECT_EQ(failure([] {
              broadcast_shapes(Shape{4}, Shape{2, 3, 5});
            }),
            "shapes [4] and [2, 3, 5] do not broadcast: dimension 2 has sizes 4 and 5");
  EXPECT_EQ(broadcast_strides(Shape{3, 1}, Shape{1, 1}, Shape{2, 3, 4}), (Shape{0, 1, 0}));
  EXPECT_NE(failure([] { broadcast_strides(Shape{3}, Shape{1}, Shape{4}); }), "no failure");
  EXPECT_NE(failure([] { broadcast_strides(Shape{1, 3}, Shape{3, 1}, Shape{3}); }), "no failure");
}

TEST(ShapeTest, DimsCountFromTheEnd) {
  EXPECT_EQ(normalize_dim(-1, 3, "dim"), 2);
  EXPECT_EQ(normalize_dim(-1, 0, "dim"), 0);
  EXPECT_EQ(failure([] { normalize_dim(2, 2, "dim"); }, OF_INDEX_OUT_OF_RANGE),
            "dim must be between -2 and 1 for a tensor with 2 dimensions, got 2");
  EXPECT_EQ(failure([] { normalize_dim(-2, 1, "dim1"); }, OF_INDEX_OUT_OF_RANGE),
            "dim1 must be between -1 and 0 for a tensor with 1 dimension, got -2");
}

}  // namespace
}  // namespace oneflow
