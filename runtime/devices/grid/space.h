// Iteration spaces, and their division into pieces that fit a launch.
#ifndef ONEFLOW_DEVICES_GRID_SPACE_H_
#define ONEFLOW_DEVICES_GRID_SPACE_H_

#include "driver.h"

namespace oneflow::grid {

// Returns the space that kernels take for `rank` sizes, the slowest-varying dimension first. The product of the sizes
// must be below 2^31.
of_space make_space(int32_t rank, const int64_t* sizes);

// Walks a space of any size in pieces of limited rank and element count. A piece has the last dimensions of the space,
// and as much of the dimension before them as fits, but at least one element.
class Pieces {
 public:
  struct Limits {
    int32_t rank = OF_GRID_RANK;
    int64_t elements = (int64_t{1} << 31) - 1;
  };
  Pieces(int32_t rank, const int64_t* sizes) : Pieces(rank, sizes, Limits{}) {}
  Pieces(int32_t rank, const int64_t* sizes, const Limits& limits);

  // Returns the space of the current piece.
  const of_space& space() const { return space_; }
  // Returns the coordinate in the whole space at which the piece begins.
  int64_t first(int32_t dim) const { return at_[dim]; }
  // Returns the offset, in elements, at which the piece begins in an operand with these strides over the whole space.
  int64_t offset(const int64_t* strides) const;
  // Returns the strides over the piece of an operand with these strides over the whole space.
  of_strides strides(const int64_t* strides) const;
  // Moves on to the next piece; returns false after the last one.
  bool next();

 private:
  void measure();

  int32_t rank_;
  const int64_t* sizes_;
  int32_t first_;                 // the first dimension of pieces, which may be divided
  int64_t length_;                // the length of pieces along it; the last one may be shorter
  int64_t at_[OF_MAX_RANK] = {};  // the coordinates at which the piece begins
  of_space space_;
};

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_SPACE_H_
