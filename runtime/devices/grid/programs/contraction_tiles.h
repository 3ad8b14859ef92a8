// C[batch, row, column] = sum over depth of A[batch, row, depth] * B[batch, depth, column], for any strides. The sum
// over part i of the depth is stored at C + i * part_step. No dimension is empty. S is the dtype of A, B and C; where C
// holds partial sums (`is_sums`), its elements are of T.

#define OF_TILE 64   // rows and columns of a tile of the result
#define OF_DEPTH 16  // depth of the tiles of A and B
#define OF_ACROSS 8  // work-items along each side of a tile, and results of a work-item along it
#define OF_ITEMS_OF_TILE (OF_ACROSS * OF_ACROSS)

// Computes tiles of 64 x 64 results, each by 64 work-items with a register tile of 8 x 8 results. The rows and columns
// of a register tile are 8 apart, so that neighbouring work-items read neighbouring elements of the tiles of A and B,
// and write neighbouring elements of C.
OF_KERNEL(class T, int S)
contract_tiles(OF_ARGUMENT of_contract_dims batch, OF_ARGUMENT of_contract_dims rows,
               OF_ARGUMENT of_contract_dims columns, OF_ARGUMENT of_contract_dims depth, OF_GLOBAL const void* a,
               OF_GLOBAL const void* b, OF_GLOBAL void* c, const int32_t is_sums, const int32_t accumulate,
               const uint32_t parts, const uint32_t part_depth, const int64_t part_step, const int32_t a_along_depth,
               const int32_t b_along_depth) {
  // Padded by one column, so that the elements of a column are in different banks.
  OF_SHARED T a_tile[OF_DEPTH][OF_TILE + 1];
  OF_SHARED T b_tile[OF_DEPTH][OF_TILE + 1];
  OF_SHARED int64_t a_rows[OF_TILE];
  OF_SHARED int64_t b_columns[OF_TILE];
  // Offsets along the depth, double-buffered: those of the next step are computed while the current ones are read.
  OF_SHARED int64_t a_depth[2][OF_DEPTH];
  OF_SHARED int64_t b_depth[2][OF_DEPTH];

  const uint32_t item = OF_ITEM;
  const uint32_t row_tiles = (rows.count + OF_TILE - 1) / OF_TILE;
  const uint32_t column_tiles = (columns.count + OF_TILE - 1) / OF_TILE;
  uint32_t group = OF_GROUP;
  const uint32_t first_row = group % row_tiles * OF_TILE;
  group /= row_tiles;
  const uint32_t first_column = group % column_tiles * OF_TILE;
  group /= column_tiles;
  const uint32_t part = group % parts;
  const uint32_t at = group / parts;
  const uint32_t begin = part * part_depth;
  const uint32_t end = part_depth < depth.count - begin ? begin + part_depth : depth.count;

  OF_LOCATE(a_at, batch, a, at)
  OF_LOCATE(b_at, batch, b, at)
  OF_LOCATE(c_at, batch, c, at)
  // Rows and columns beyond the end repeat the last one, and are not stored.
  const uint32_t own_row = first_row + item < rows.count ? first_row + item : rows.count - 1;
  const uint32_t own_column = first_column + item < columns.count ? first_column + item : columns.count - 1;
  OF_LOCATE(a_row, rows, a, own_row)
  OF_LOCATE(b_column, columns, b, own_column)
  a_rows[item] = a_at + a_row;
  b_columns[item] = b_at + b_column;
  if (item < OF_DEPTH && begin + item < end) {
    OF_LOCATE(a_first, depth, a, begin + item)
    OF_LOCATE(b_first, depth, b, begin + item)
    a_depth[0][item] = a_first;
    b_depth[0][item] = b_first;
  }

  T sums[OF_ACROSS][OF_ACROSS];
  OF_UNROLL
  for (int i = 0; i < OF_ACROSS; ++i) {
    OF_UNROLL
    for (int j = 0; j < OF_ACROSS; ++j) sums[i][j] = (T)0;
  }
  const uint32_t x = item % OF_ACROSS, y = item / OF_ACROSS;
  int now = 0;
  uint32_t p = begin;
  // Loops with barriers are do-while loops: where a loop may have no iteration, PoCL duplicates the code after it for
  // each path.
  do {
    OF_BARRIER();
    const uint32_t left = end - p;
    for (uint32_t e = 0; e < OF_DEPTH; ++e) {
      const uint32_t n = e * OF_ITEMS_OF_TILE + item;
      const uint32_t a_p = a_along_depth ? n % OF_DEPTH : n / OF_TILE, i = a_along_depth ? n / OF_DEPTH : n % OF_TILE;
      const uint32_t b_p = b_along_depth ? n % OF_DEPTH : n / OF_TILE, j = b_along_depth ? n / OF_DEPTH : n % OF_TILE;
      // Elements beyond the end of the depth repeat the last one, and are replaced by 0.
      const T a_value = OF_READ(a, a_rows[i] + a_depth[now][a_p < left ? a_p : left - 1]);
      const T b_value = OF_READ(b, b_columns[j] + b_depth[now][b_p < left ? b_p : left - 1]);
      a_tile[a_p][i] = a_p < left ? a_value : (T)0;
      b_tile[b_p][j] = b_p < left ? b_value : (T)0;
    }
    OF_BARRIER();
    if (item < OF_DEPTH && OF_DEPTH < left && item < left - OF_DEPTH) {
      OF_LOCATE(a_next, depth, a, p + OF_DEPTH + item)
      OF_LOCATE(b_next, depth, b, p + OF_DEPTH + item)
      a_depth[now ^ 1][item] = a_next;
      b_depth[now ^ 1][item] = b_next;
    }
    for (int q = 0; q < OF_DEPTH; ++q) {
      T a_own[OF_ACROSS], b_own[OF_ACROSS];
      OF_UNROLL
      for (int i = 0; i < OF_ACROSS; ++i) {
        a_own[i] = a_tile[q][i * OF_ACROSS + y];
        b_own[i] = b_tile[q][i * OF_ACROSS + x];
      }
      OF_UNROLL
      for (int i = 0; i < OF_ACROSS; ++i) {
        OF_UNROLL
        for (int j = 0; j < OF_ACROSS; ++j) sums[i][j] = OF_MULTIPLY_ADD(a_own[i], b_own[j], sums[i][j]);
      }
    }
    p += OF_DEPTH;
    now ^= 1;
  } while (p < end);

  c_at += part * part_step;
  int64_t c_columns[OF_ACROSS];
  OF_UNROLL
  for (int j = 0; j < OF_ACROSS; ++j) {
    const uint32_t column = first_column + j * OF_ACROSS + x;
    OF_LOCATE(c_column, columns, c, column < columns.count ? column : 0)
    c_columns[j] = c_column;
  }
  OF_UNROLL
  for (int i = 0; i < OF_ACROSS; ++i) {
    const uint32_t row = first_row + i * OF_ACROSS + y;
    if (row < rows.count) {
      OF_LOCATE(c_row, rows, c, row)
      OF_UNROLL
      for (int j = 0; j < OF_ACROSS; ++j) {
        if (first_column + j * OF_ACROSS + x < columns.count)
          of_put_sum OF_OF(T, S)(c, c_at + c_row + c_columns[j], sums[i][j], is_sums, accumulate);
      }
    }
  }
}
