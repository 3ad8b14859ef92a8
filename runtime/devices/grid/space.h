// Iteration spaces cut into what one launch walks.
#ifndef ONEFLOW_DEVICES_GRID_SPACE_H_
#define ONEFLOW_DEVICES_GRID_SPACE_H_

#include "driver.h"

namespace oneflow::grid {

// A space of so many dimensions, the slowest first, as kernels want it. The product of the sizes is below 2^31.
of_space make_space(int32_t rank, const int64_t* sizes);

// Walks a space of any size as pieces of so many dimensions and elements at most, at least one element: the last
// dimensions, and as much of the one before as fits.
class Pieces {
 public:
  struct Limits {
    int32_t rank = OF_GRID_RANK;
    int64_t elements = (int64_t{1} << 31) - 1;
  };
  Pieces(int32_t rank, const int64_t* sizes) : Pieces(rank, sizes, Limits{}) {}
  Pieces(int32_t rank, const int64_t* sizes, const Limits& limits);

  // The space of the piece at hand.
  const of_space& space() const { return space_; }
  // Where the piece begins, as a coordinate of the whole space.
  int64_t first(int32_t dim) const { return at_[dim]; }
  // What to add, in elements, to where an operand begins, given its strides over the whole space.
  int64_t offset(const int64_t* strides) const;
  // The strides of an operand over the piece.
  of_strides strides(const int64_t* strides) const;
  // Goes on to the next piece; false behind the last one.
  bool next();

 private:
  void measure();

  int32_t rank_;
  const int64_t* sizes_;
  int32_t first_;                 // the first dimension of pieces: the one that is cut
  int64_t length_;                // of pieces along it, but for the last one
  int64_t at_[OF_MAX_RANK] = {};  // where the piece begins
  of_space space_;
};

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_SPACE_H_
