// How processors walk a strided space: a work-item has a block of its first two dimensions, whose elements it loads
// into the cache, works on in one loop, and stores. Graphics processors take elements one by one.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_BLOCKS_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_BLOCKS_H_

#if OF_IS_PROCESSOR
#define OF_IN_BLOCKS 1

// Elements of one place in a block depend on each other only, also where the result lies over an operand.
#define OF_EACH_IN_BLOCK(j, count) _Pragma("clang loop vectorize(assume_safety)") for (int j = 0; j < (count); ++j)

// Operators have arguments called min and max.
OF_DEVICE uint32_t of_lesser(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Where an operand has the elements of a block: the first one, and how far it is to the next column and row.
typedef struct of_part {
  int64_t first, across, down;
} of_part;

// The same elements with rows for columns, where those of a column are nearer to each other than those of a row.
OF_DEVICE bool of_is_turned(of_part part) { return part.down != 0 && abs(part.down) < abs(part.across); }
OF_DEVICE of_part of_turn(of_part part) {
  const of_part turned = {part.first, part.down, part.across};
  return turned;
}
OF_DEVICE void of_turn_values(T* to, const T* from, int width, int height) {
  for (int i = 0; i < height; ++i) {
    for (int j = 0; j < width; ++j) to[j * height + i] = from[i * width + j];
  }
}

// Does something for each element: number `k` of the block, at `place` in memory. One case for each dtype: a loop that
// asks for the dtype of each element is no vector.
#define OF_WALK_CASE(each, ...)                                                    \
  case each:                                                                       \
    for (int i = 0; i < height; ++i) {                                             \
      const int64_t row = part.first + i * part.down;                              \
      if (part.across == 1) {                                                      \
        OF_EACH_IN_BLOCK(j, width) {                                               \
          const int k = i * width + j;                                             \
          const int64_t place = row + j;                                           \
          __VA_ARGS__;                                                             \
        }                                                                          \
      } else {                                                                     \
        _Pragma("clang loop vectorize(disable)") for (int j = 0; j < width; ++j) { \
          const int k = i * width + j;                                             \
          const int64_t place = row + j * part.across;                             \
          __VA_ARGS__;                                                             \
        }                                                                          \
      }                                                                            \
    }                                                                              \
    break;
// One copy of these serves all operands: they are most of what there is to compile.
#define OF_LOAD_BLOCK_CASE(each) OF_WALK_CASE(each, values[k] = of_load(each, data, place))
#define OF_STORE_BLOCK_CASE(each) OF_WALK_CASE(each, of_store(each, data, place, values[k]))
__attribute__((noinline)) static void of_load_rows(T* values, int32_t dtype, OF_GLOBAL const void* data, of_part part,
                                                   int width, int height) {
  switch (dtype) { OF_EACH_DTYPE(OF_LOAD_BLOCK_CASE) }
}
__attribute__((noinline)) static void of_store_rows(const T* values, int32_t dtype, OF_GLOBAL void* data, of_part part,
                                                    int width, int height) {
  switch (dtype) { OF_EACH_DTYPE(OF_STORE_BLOCK_CASE) }
}

// Whether elements of S are values of T as they are.
#define OF_IS_OWN \
  (S == OF_FLOAT32 || S == OF_FLOAT64 || S == OF_INT32 || S == OF_UINT32 || S == OF_INT64 || S == OF_UINT64)
// Whether a block is a run of values: it is worked on where it is. Processors have one kind of memory, which OpenCL
// C 1.2 has no words for.
#define OF_IS_RUN(dtype, part, height) (OF_IS_OWN && dtype == S && part.across == 1 && height == 1)
#define OF_AS_RUN(data, part) ((T*)(size_t)((OF_GLOBAL const T*)data + part.first))

// Where the values of a block are: in memory, or loaded into a buffer. What is turned is loaded as it lies and turned
// in the cache, which makes copies of a transposed matrix of 4096 x 4096 floats twice as fast.
OF_DEVICE const T* of_load_block(T* values, int32_t dtype, OF_GLOBAL const void* data, T number, of_part part,
                                 int width, int height) {
  if (!data || part.across == 0) {
    for (int i = 0; i < height; ++i) {
      const T value = data ? of_load(dtype, data, part.first + i * part.down) : number;
      OF_EACH_IN_BLOCK(j, width) values[i * width + j] = value;
    }
    return values;
  }
  if (OF_IS_RUN(dtype, part, height)) return OF_AS_RUN(data, part);
  const bool is_turned = of_is_turned(part);
  T turned[OF_BLOCK];
  of_load_rows(is_turned ? turned : values, dtype, data, is_turned ? of_turn(part) : part, is_turned ? height : width,
               is_turned ? width : height);
  if (is_turned) of_turn_values(values, turned, height, width);
  return values;
}
// Stores a block unless its values were put where they belong.
OF_DEVICE void of_store_block(const T* values, int32_t dtype, OF_GLOBAL void* data, of_part part, int width,
                              int height) {
  if (OF_IS_RUN(dtype, part, height)) return;
  const bool is_turned = of_is_turned(part);
  T turned[OF_BLOCK];
  if (is_turned) of_turn_values(turned, values, width, height);
  of_store_rows(is_turned ? turned : values, dtype, data, is_turned ? of_turn(part) : part, is_turned ? height : width,
                is_turned ? width : height);
}

#else
#define OF_IN_BLOCKS 0
#endif

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_BLOCKS_H_
