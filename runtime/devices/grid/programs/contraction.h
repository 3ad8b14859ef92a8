// C[batch, row, column] = sum over depth of A[batch, row, depth] * B[batch, depth, column], for any strides. Part i of
// the depth is added up on its own, into C + i * part_step. There is at least one of each. S is the dtype of A, B and
// C; partial sums
// (`is_sums`) are elements of T.

#define OF_TILE 64   // rows and columns of a tile of the result
#define OF_DEPTH 16  // of the tiles of A and B
#define OF_ACROSS 8  // work-items along each side of a tile, and results of each along it
#define OF_ITEMS_OF_TILE (OF_ACROSS * OF_ACROSS)

// Where element `index` of a role is in one operand, in elements: `target`.
#define OF_LOCATE(target, role, operand, index)                                             \
  int64_t target = 0;                                                                       \
  {                                                                                         \
    uint32_t of_rest = (index);                                                             \
    int of_d = 0;                                                                           \
    for (; of_d < role.rank - 1; ++of_d) {                                                  \
      const uint32_t whole = of_divide(of_rest, role.multipliers[of_d], role.shifts[of_d]); \
      target += (int64_t)(of_rest - whole * role.sizes[of_d]) * role.operand[of_d];         \
      of_rest = whole;                                                                      \
    }                                                                                       \
    target += (int64_t)of_rest * role.operand[of_d];                                        \
  }

// Elements of A and B as values, and values as elements of C. PoCL walks every path through a kernel with barriers,
// also those that are never taken: in OpenCL only the one for S is there.
#if defined(__OPENCL_C_VERSION__)
#if S == OF_BOOL || S == OF_UINT8
#define OF_ELEMENT uint8_t
#elif S == OF_INT8
#define OF_ELEMENT int8_t
#elif S == OF_INT16
#define OF_ELEMENT int16_t
#elif S == OF_UINT16 || S == OF_FLOAT16 || S == OF_BFLOAT16
#define OF_ELEMENT uint16_t
#else
#define OF_ELEMENT T
#endif
#if S == OF_FLOAT16
#define OF_VALUE_OF(element) of_float_of_half(element)
#define OF_ELEMENT_OF(value) of_half_of_float(value)
#elif S == OF_BFLOAT16
#define OF_VALUE_OF(element) of_float_of_bfloat16(element)
#define OF_ELEMENT_OF(value) of_bfloat16_of_float(value)
#elif S == OF_BOOL
#define OF_VALUE_OF(element) (T)((element) != 0)
#define OF_ELEMENT_OF(value) (uint8_t)((value) != 0)
#else
#define OF_VALUE_OF(element) (T)(element)
#define OF_ELEMENT_OF(value) (OF_ELEMENT)(value)
#endif
#define OF_READ(data, i) OF_VALUE_OF(((OF_GLOBAL const OF_ELEMENT*)(data))[i])
#define OF_WRITE(data, i, value) ((OF_GLOBAL OF_ELEMENT*)(data))[i] = OF_ELEMENT_OF(value)
#else
#define OF_READ(data, i) of_load<T>(S, data, i)
#define OF_WRITE(data, i, value) of_store<T>(S, data, i, value)
#endif

// Stores a sum into C, which has elements of S, or of T where it is that of partial sums; adds to what is there.
OF_TEMPLATE(class T, int S)
OF_DEVICE void of_put_sum(OF_GLOBAL void* c, int64_t place, T sum, int32_t is_sums, int32_t accumulate) {
  if (is_sums) {
    OF_GLOBAL T* sums = (OF_GLOBAL T*)c + place;
    *sums = accumulate ? *sums + sum : sum;
  } else {
    OF_WRITE(c, place, accumulate ? (T)(OF_READ(c, place) + sum) : sum);
  }
}

// 64 work-items make a tile of 64 x 64 results, 8 x 8 each. Their rows and columns lie 8 apart, so that neighbours read
// neighbours of the tiles, and write neighbours of C.
OF_KERNEL(class T, int S)
contract_tiles(const of_contract_dims batch, const of_contract_dims rows, const of_contract_dims columns,
               const of_contract_dims depth, OF_GLOBAL const void* a, OF_GLOBAL const void* b, OF_GLOBAL void* c,
               const int32_t is_sums, const int32_t accumulate, const uint32_t parts, const uint32_t part_depth,
               const int64_t part_step, const int32_t a_along_depth, const int32_t b_along_depth) {
  // One more than needed: what lies below each other is then in different banks.
  OF_SHARED T a_tile[OF_DEPTH][OF_TILE + 1];
  OF_SHARED T b_tile[OF_DEPTH][OF_TILE + 1];
  OF_SHARED int64_t a_rows[OF_TILE];
  OF_SHARED int64_t b_columns[OF_TILE];
  // Of two steps: the next one's are made while the present one's are still read.
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
  // Those beyond the end are read as the last ones, and not stored.
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
#pragma unroll
  for (int i = 0; i < OF_ACROSS; ++i) {
#pragma unroll
    for (int j = 0; j < OF_ACROSS; ++j) sums[i][j] = (T)0;
  }
  const uint32_t x = item % OF_ACROSS, y = item / OF_ACROSS;
  int now = 0;
  uint32_t p = begin;
  // Loops with barriers have one round at least: PoCL copies what follows those that may have none, along every path.
  do {
    OF_BARRIER();
    const uint32_t left = end - p;
    for (uint32_t e = 0; e < OF_DEPTH; ++e) {
      const uint32_t n = e * OF_ITEMS_OF_TILE + item;
      const uint32_t a_p = a_along_depth ? n % OF_DEPTH : n / OF_TILE, i = a_along_depth ? n / OF_DEPTH : n % OF_TILE;
      const uint32_t b_p = b_along_depth ? n % OF_DEPTH : n / OF_TILE, j = b_along_depth ? n / OF_DEPTH : n % OF_TILE;
      // Beyond the end the last ones are read again, and do not count.
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
#pragma unroll
      for (int i = 0; i < OF_ACROSS; ++i) {
        a_own[i] = a_tile[q][i * OF_ACROSS + y];
        b_own[i] = b_tile[q][i * OF_ACROSS + x];
      }
#pragma unroll
      for (int i = 0; i < OF_ACROSS; ++i) {
#pragma unroll
        for (int j = 0; j < OF_ACROSS; ++j) sums[i][j] = OF_MULTIPLY_ADD(a_own[i], b_own[j], sums[i][j]);
      }
    }
    p += OF_DEPTH;
    now ^= 1;
  } while (p < end);

  c_at += part * part_step;
#pragma unroll
  for (int i = 0; i < OF_ACROSS; ++i) {
    const uint32_t row = first_row + i * OF_ACROSS + y;
    if (row < rows.count) {
      OF_LOCATE(c_row, rows, c, row)
#pragma unroll
      for (int j = 0; j < OF_ACROSS; ++j) {
        const uint32_t column = first_column + j * OF_ACROSS + x;
        if (column < columns.count) {
          OF_LOCATE(c_column, columns, c, column)
          const int64_t place = c_at + c_row + c_column;
          of_put_sum OF_OF(T, S)(c, place, sums[i][j], is_sums, accumulate);
        }
      }
    }
  }
}

// `lanes` work-items of a group of 256 add up one result: each takes every lanes-th product.
#define OF_ITEMS_OF_DOTS 256
OF_KERNEL(class T, int S)
contract_dots(const of_contract_dims batch, const of_contract_dims rows, const of_contract_dims columns,
              const of_contract_dims depth, OF_GLOBAL const void* a, OF_GLOBAL const void* b, OF_GLOBAL void* c,
              const int32_t is_sums, const int32_t accumulate, const uint32_t parts, const uint32_t part_depth,
              const int64_t part_step, const uint32_t lanes, const int32_t along_depth) {
  OF_SHARED T sums[OF_ITEMS_OF_DOTS];
  const uint32_t item = OF_ITEM;
  const uint32_t across = OF_ITEMS_OF_DOTS / lanes;
  // Neighbouring work-items take neighbours in memory: along the depth, or results.
  const uint32_t lane = along_depth ? item % lanes : item / across;
  const uint32_t own = along_depth ? item / lanes : item % across;
  const uint32_t part = OF_GROUP % parts;
  const uint32_t result = OF_GROUP / parts * across + own;
  const bool is_result = result < batch.count * rows.count * columns.count;
  const uint32_t begin = part * part_depth;
  const uint32_t end = part_depth < depth.count - begin ? begin + part_depth : depth.count;

  const uint32_t column = result % columns.count, row = result / columns.count % rows.count;
  const uint32_t at = result / columns.count / rows.count;
  T sum = (T)0;
  if (is_result) {
    OF_LOCATE(a_batch, batch, a, at)
    OF_LOCATE(b_batch, batch, b, at)
    OF_LOCATE(a_row, rows, a, row)
    OF_LOCATE(b_column, columns, b, column)
    for (uint32_t p = begin + lane; p < end; p += lanes) {
      OF_LOCATE(a_depth, depth, a, p)
      OF_LOCATE(b_depth, depth, b, p)
      sum = OF_MULTIPLY_ADD(OF_READ(a, a_batch + a_row + a_depth), OF_READ(b, b_batch + b_column + b_depth), sum);
    }
  }
  sums[item] = sum;
  OF_BARRIER();
  const uint32_t step = along_depth ? 1 : across;  // between lanes
  uint32_t others = OF_ITEMS_OF_DOTS / 2;
  do {
    if (others < lanes && lane < others) sums[item] = sums[item] + sums[item + others * step];
    OF_BARRIER();
    others /= 2;
  } while (others > 0);
  if (lane == 0 && is_result) {
    OF_LOCATE(c_batch, batch, c, at)
    OF_LOCATE(c_row, rows, c, row)
    OF_LOCATE(c_column, columns, c, column)
    const int64_t place = part * part_step + c_batch + c_row + c_column;
    of_put_sum OF_OF(T, S)(c, place, sums[item], is_sums, accumulate);
  }
}
