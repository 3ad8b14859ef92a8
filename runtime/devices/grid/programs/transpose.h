// Copies between tensors whose contiguous dimensions differ. A group copies a tile of both dimensions through shared
// memory, so that neighbouring work-items read neighbouring elements of the input, and write those of the result.
// Elements are copied bit by bit, as integers of their size.

#define OF_TRANSPOSE_TILE 32  // elements along each side of a tile
#define OF_TRANSPOSE_ROWS 8   // rows that a group of 256 work-items reads or writes at a time

// `row` is the contiguous dimension of the result, and `column` that of the input; `space` has the other dimensions.
OF_KERNEL(class T, int S)
transpose_tiles(OF_ARGUMENT of_space space, const uint32_t rows, const uint32_t columns, OF_GLOBAL void* result,
                OF_ARGUMENT of_strides result_strides, const int64_t result_step, OF_GLOBAL const void* input,
                OF_ARGUMENT of_strides input_strides, const int64_t input_step) {
  // Padded by one column, so that the elements of a column are in different banks.
  OF_SHARED T tile[OF_TRANSPOSE_TILE][OF_TRANSPOSE_TILE + 1];
  const uint32_t column_tiles = (columns + OF_TRANSPOSE_TILE - 1) / OF_TRANSPOSE_TILE;
  const uint32_t row_tiles = (rows + OF_TRANSPOSE_TILE - 1) / OF_TRANSPOSE_TILE;
  uint32_t group = OF_GROUP;
  const uint32_t first_column = group % column_tiles * OF_TRANSPOSE_TILE;
  group /= column_tiles;
  const uint32_t first_row = group % row_tiles * OF_TRANSPOSE_TILE;
  group /= row_tiles;
  int64_t input_at = 0, result_at = 0;
  for (int d = 0; d < space.rank; ++d) {
    const int64_t at = of_coordinate(&space, d, &group);
    input_at += at * input_strides.dims[d];
    result_at += at * result_strides.dims[d];
  }
  const uint32_t x = OF_ITEM % OF_TRANSPOSE_TILE, y = OF_ITEM / OF_TRANSPOSE_TILE;
  OF_UNROLL
  for (uint32_t i = y; i < OF_TRANSPOSE_TILE; i += OF_TRANSPOSE_ROWS) {
    const uint32_t row = first_row + i, column = first_column + x;
    if (row < rows && column < columns) tile[i][x] = of_load OF_OF(T)(S, input, input_at + row * input_step + column);
  }
  OF_BARRIER();
  OF_UNROLL
  for (uint32_t i = y; i < OF_TRANSPOSE_TILE; i += OF_TRANSPOSE_ROWS) {
    const uint32_t row = first_row + x, column = first_column + i;
    if (row < rows && column < columns)
      of_store OF_OF(T)(S, result, result_at + column * result_step + row, tile[x][i]);
  }
}
