// Strided iteration spaces on CPU devices: a work-item loads a block of the first two dimensions into the cache,
// computes its elements in one loop, and stores them. On GPUs, work-items take single elements.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_BLOCKS_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_BLOCKS_H_

#if OF_IS_PROCESSOR
#define OF_IN_BLOCKS 1

// Iterations are independent: a result depends on the operands' elements of the same index only, also where the result
// overwrites an operand.
#define OF_EACH_IN_BLOCK(j, count) _Pragma("clang loop vectorize(assume_safety)") for (int j = 0; j < (count); ++j)

// Not called min, because operators have arguments of that name.
OF_DEVICE uint32_t of_lesser(uint32_t a, uint32_t b) { return a < b ? a : b; }

// A block in an operand: the offset of its first element, and the strides to the next column and the next row.
typedef struct of_part {
  int64_t first, across, down;
} of_part;

// Returns whether the block is transposed in memory: its smaller stride is along columns.
OF_DEVICE bool of_is_transposed(of_part part) { return part.down != 0 && abs(part.down) < abs(part.across); }
OF_DEVICE of_part of_transpose(of_part part) {
  const of_part transposed = {part.first, part.down, part.across};
  return transposed;
}
OF_DEVICE void of_transpose_values(T* to, const T* from, int width, int height) {
  for (int i = 0; i < height; ++i) {
    for (int j = 0; j < width; ++j) to[j * height + i] = from[i * width + j];
  }
}

// Executes a statement for each element: index `k` of the block, at `offset` in memory. There is one case for each
// dtype, because a loop that branches on the dtype of each element is not vectorised.
#define OF_WALK_CASE(each, ...)                                                    \
  case each:                                                                       \
    for (int i = 0; i < height; ++i) {                                             \
      const int64_t row = part.first + i * part.down;                              \
      if (part.across == 1) {                                                      \
        OF_EACH_IN_BLOCK(j, width) {                                               \
          const int k = i * width + j;                                             \
          const int64_t offset = row + j;                                          \
          __VA_ARGS__;                                                             \
        }                                                                          \
      } else {                                                                     \
        _Pragma("clang loop vectorize(disable)") for (int j = 0; j < width; ++j) { \
          const int k = i * width + j;                                             \
          const int64_t offset = row + j * part.across;                            \
          __VA_ARGS__;                                                             \
        }                                                                          \
      }                                                                            \
    }                                                                              \
    break;
// These are not inlined, because they are the greater part of what a program compiles: all operands share one copy.
#define OF_LOAD_BLOCK_CASE(each) OF_WALK_CASE(each, values[k] = of_load(each, data, offset))
#define OF_STORE_BLOCK_CASE(each) OF_WALK_CASE(each, of_store(each, data, offset, values[k]))
__attribute__((noinline)) static void of_load_rows(T* values, int32_t dtype, OF_GLOBAL const void* data, of_part part,
                                                   int width, int height) {
  switch (dtype) { OF_EACH_DTYPE(OF_LOAD_BLOCK_CASE) }
}
__attribute__((noinline)) static void of_store_rows(const T* values, int32_t dtype, OF_GLOBAL void* data, of_part part,
                                                    int width, int height) {
  switch (dtype) { OF_EACH_DTYPE(OF_STORE_BLOCK_CASE) }
}

// Whether elements of S are values of T without conversion.
#define OF_IS_OWN \
  (S == OF_FLOAT32 || S == OF_FLOAT64 || S == OF_INT32 || S == OF_UINT32 || S == OF_INT64 || S == OF_UINT64)
// Whether a block is a contiguous run of values, which is read and written in place. CPU devices have a single address
// space, which OpenCL C 1.2 cannot express: hence the cast through an integer.
#define OF_IS_RUN(dtype, part, height) (OF_IS_OWN && dtype == S && part.across == 1 && height == 1)
#define OF_AS_RUN(data, part) ((T*)(size_t)((OF_GLOBAL const T*)data + part.first))

// Returns the values of a block: in place, or loaded into `values`. A transposed block is loaded in memory order and
// transposed in the cache, so that memory is read along cache lines.
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
  const bool is_transposed = of_is_transposed(part);
  T transposed[OF_BLOCK];
  of_load_rows(is_transposed ? transposed : values, dtype, data, is_transposed ? of_transpose(part) : part,
               is_transposed ? height : width, is_transposed ? width : height);
  if (is_transposed) of_transpose_values(values, transposed, height, width);
  return values;
}
// Stores a block unless its values were computed in place.
OF_DEVICE void of_store_block(const T* values, int32_t dtype, OF_GLOBAL void* data, of_part part, int width,
                              int height) {
  if (OF_IS_RUN(dtype, part, height)) return;
  const bool is_transposed = of_is_transposed(part);
  T transposed[OF_BLOCK];
  if (is_transposed) of_transpose_values(transposed, values, width, height);
  of_store_rows(is_transposed ? transposed : values, dtype, data, is_transposed ? of_transpose(part) : part,
                is_transposed ? height : width, is_transposed ? width : height);
}

#else
#define OF_IN_BLOCKS 0
#endif

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_BLOCKS_H_
