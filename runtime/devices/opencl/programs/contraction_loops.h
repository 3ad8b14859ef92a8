// Contractions on CPU devices. A group has one work-item, whose loops are vectorised with vectors of T_LANES elements.

#define OF_JOINED(a, b) a##b
#define OF_JOIN(a, b) OF_JOINED(a, b)
#define OF_VECTOR OF_JOIN(T, T_LANES)
#define OF_LOAD_VECTOR(data) OF_JOIN(vload, T_LANES)(0, data)
#define OF_STORE_VECTOR(value, data) OF_JOIN(vstore, T_LANES)(value, 0, data)
#define OF_ALONE __attribute__((reqd_work_group_size(1, 1, 1)))

// The register tile is one panel of rows by one panel of columns: 24 of 32 vector registers hold sums with AVX-512, and
// 8 of 16 otherwise.
#define OF_PANEL_COLUMNS (2 * T_LANES)
#if OF_VECTOR_BYTES == 64
#define OF_PANEL_ROWS 12
#else
#define OF_PANEL_ROWS 4
#endif
#define OF_LINE 64

// Returns the offset, in elements, of element `index` of a role in the operand with these strides.
static inline int64_t of_locate(const of_contract_dims* role, const int64_t* strides, uint32_t index) {
  int64_t at = 0;
  for (int d = 0; d < role->rank - 1; ++d) {
    const uint32_t whole = of_divide(index, role->multipliers[d], role->shifts[d]);
    at += (int64_t)(index - whole * role->sizes[d]) * strides[d];
    index = whole;
  }
  return at + (int64_t)index * strides[role->rank - 1];
}

// ------------------------------------------------------------------------------------------------ packing

// Packs an operand into consecutive panels, T panel[depth][width], for each element of the batch. The last panel is
// padded with zeros. Each work-item packs a slice of the depth of one panel.
#define OF_PACK(name, operand, width)                                                                                 \
  __kernel OF_ALONE void name(const of_contract_dims batch, const of_contract_dims across,                            \
                              const of_contract_dims depth, OF_GLOBAL const void* from, OF_GLOBAL T* to,              \
                              const uint32_t panels, const uint32_t slice) {                                          \
    const uint32_t slices = (depth.count + slice - 1) / slice;                                                        \
    const uint32_t begin = OF_GROUP % slices * slice;                                                                 \
    const uint32_t end = min(begin + slice, depth.count);                                                             \
    const uint32_t panel = OF_GROUP / slices % panels;                                                                \
    const uint32_t at = OF_GROUP / slices / panels;                                                                   \
    const uint32_t first = panel * (width);                                                                           \
    const uint32_t count = min((uint32_t)(width), across.count - first);                                              \
    const int64_t base = of_locate(&batch, batch.operand, at);                                                        \
    int64_t offsets[width];                                                                                           \
    bool is_run = count == (width);                                                                                   \
    for (uint32_t i = 0; i < (width); ++i) {                                                                          \
      offsets[i] = base + of_locate(&across, across.operand, first + min(i, count - 1));                              \
      is_run &= offsets[i] == offsets[0] + i;                                                                         \
    }                                                                                                                 \
    to += ((int64_t)(at * panels + panel) * depth.count + begin) * (width);                                           \
    for (uint32_t p = begin; p < end;) {                                                                              \
      const uint32_t run = min(end - p, depth.sizes[0] - p % depth.sizes[0]);                                         \
      const int64_t p_at = of_locate(&depth, depth.operand, p), step = depth.operand[0];                              \
      if (is_run) {                                                                                                   \
        for (uint32_t q = 0; q < run; ++q) {                                                                          \
          _Pragma("clang loop vectorize(assume_safety)") for (uint32_t i = 0; i < (width); ++i) to[q * (width) + i] = \
              of_load(S, from, offsets[0] + p_at + q * step + i);                                                     \
        }                                                                                                             \
      } else {                                                                                                        \
        for (uint32_t i = 0; i < count; ++i) {                                                                        \
          for (uint32_t q = 0; q < run; ++q) to[q * (width) + i] = of_load(S, from, offsets[i] + p_at + q * step);    \
        }                                                                                                             \
        for (uint32_t q = 0; q < run; ++q) {                                                                          \
          for (uint32_t i = count; i < (width); ++i) to[q * (width) + i] = (T)0;                                      \
        }                                                                                                             \
      }                                                                                                               \
      to += run * (width);                                                                                            \
      p += run;                                                                                                       \
    }                                                                                                                 \
  }

OF_PACK(contract_pack_rows, a, OF_PANEL_ROWS)
OF_PACK(contract_pack_columns, b, OF_PANEL_COLUMNS)

// ------------------------------------------------------------------------------------------------ panels

// Multiplies one packed panel of columns by up to `most` packed panels of rows.
__kernel OF_ALONE void contract_panels(const of_contract_dims batch, const of_contract_dims rows,
                                       const of_contract_dims columns, const uint32_t depth,
                                       OF_GLOBAL const T* a_panels, OF_GLOBAL const T* b_panels, OF_GLOBAL void* c,
                                       const int32_t is_sums, const int32_t accumulate, const uint32_t most) {
  const uint32_t row_panels = (rows.count + OF_PANEL_ROWS - 1) / OF_PANEL_ROWS;
  const uint32_t column_panels = (columns.count + OF_PANEL_COLUMNS - 1) / OF_PANEL_COLUMNS;
  const uint32_t blocks = (row_panels + most - 1) / most;
  const uint32_t block = OF_GROUP % blocks;
  const uint32_t panel = OF_GROUP / blocks % column_panels;
  const uint32_t at = OF_GROUP / blocks / column_panels;
  const uint32_t first_column = panel * OF_PANEL_COLUMNS;
  const uint32_t width = min((uint32_t)OF_PANEL_COLUMNS, columns.count - first_column);
  int64_t c_offsets[OF_PANEL_COLUMNS];
  bool is_run = width == OF_PANEL_COLUMNS && (is_sums || OF_IS_OWN);
  for (uint32_t j = 0; j < width; ++j) {
    c_offsets[j] = of_locate(&columns, columns.c, first_column + j);
    is_run &= c_offsets[j] == c_offsets[0] + j;
  }
  const int64_t c_at = of_locate(&batch, batch.c, at);
  b_panels += (int64_t)(at * column_panels + panel) * depth * OF_PANEL_COLUMNS;
  for (uint32_t i_panel = block * most; i_panel < min(row_panels, (block + 1) * most); ++i_panel) {
    OF_GLOBAL const T* a = a_panels + (int64_t)(at * row_panels + i_panel) * depth * OF_PANEL_ROWS;
    OF_GLOBAL const T* b = b_panels;
    OF_VECTOR sums[OF_PANEL_ROWS][2];
#pragma unroll
    for (int i = 0; i < OF_PANEL_ROWS; ++i) sums[i][0] = sums[i][1] = (OF_VECTOR)0;
    for (uint32_t p = 0; p < depth; ++p, a += OF_PANEL_ROWS, b += OF_PANEL_COLUMNS) {
      const OF_VECTOR b_0 = OF_LOAD_VECTOR(b), b_1 = OF_LOAD_VECTOR(b + T_LANES);
#pragma unroll
      for (int i = 0; i < OF_PANEL_ROWS; ++i) {
        const OF_VECTOR a_i = (OF_VECTOR)(a[i]);
        sums[i][0] = OF_MULTIPLY_ADD(a_i, b_0, sums[i][0]);
        sums[i][1] = OF_MULTIPLY_ADD(a_i, b_1, sums[i][1]);
      }
    }
    const uint32_t first_row = i_panel * OF_PANEL_ROWS;
#pragma unroll
    for (int i = 0; i < OF_PANEL_ROWS; ++i) {
      if (first_row + i < rows.count) {
        const int64_t row_at = c_at + of_locate(&rows, rows.c, first_row + i);
        if (is_run) {
          OF_GLOBAL T* line = (OF_GLOBAL T*)c + row_at + c_offsets[0];
          if (accumulate) {
            sums[i][0] += OF_LOAD_VECTOR(line);
            sums[i][1] += OF_LOAD_VECTOR(line + T_LANES);
          }
          OF_STORE_VECTOR(sums[i][0], line);
          OF_STORE_VECTOR(sums[i][1], line + T_LANES);
        } else {
          T line[OF_PANEL_COLUMNS];
          OF_STORE_VECTOR(sums[i][0], line);
          OF_STORE_VECTOR(sums[i][1], line + T_LANES);
          for (uint32_t j = 0; j < width; ++j) of_put_sum(c, row_at + c_offsets[j], line[j], is_sums, accumulate);
        }
      }
    }
  }
}

// ------------------------------------------------------------------------------------------------ lines

// Returns the dot product of a run of the depth, along which both operands have unit stride.
static inline T of_dot(OF_GLOBAL const void* a, int64_t a_at, OF_GLOBAL const void* b, int64_t b_at, uint32_t count) {
  T sums[OF_LINE];
  for (int i = 0; i < OF_LINE; ++i) sums[i] = (T)0;
  uint32_t p = 0;
  for (; p + OF_LINE <= count; p += OF_LINE) {
#pragma clang loop vectorize(assume_safety)
    for (int i = 0; i < OF_LINE; ++i)
      sums[i] = OF_MULTIPLY_ADD(of_load(S, a, a_at + p + i), of_load(S, b, b_at + p + i), sums[i]);
  }
  T sum = (T)0;
  if (p == 0) {  // too short for more than one sum
    for (; p < count; ++p) sum = OF_MULTIPLY_ADD(of_load(S, a, a_at + p), of_load(S, b, b_at + p), sum);
    return sum;
  }
  for (; p < count; ++p) sum = OF_MULTIPLY_ADD(of_load(S, a, a_at + p), of_load(S, b, b_at + p), sum);
  for (int i = 0; i < OF_LINE; ++i) sum += sums[i];
  return sum;
}

// Adds the products of one element of A with `width` contiguous columns of B to `sums`.
static inline void of_add_line(T* sums, uint32_t width, T a_value, OF_GLOBAL const void* b, int64_t b_at) {
  if (width == OF_LINE) {
#pragma clang loop vectorize(assume_safety)
    for (int j = 0; j < OF_LINE; ++j) sums[j] = OF_MULTIPLY_ADD(a_value, of_load(S, b, b_at + j), sums[j]);
  } else {
#pragma clang loop vectorize(assume_safety)
    for (uint32_t j = 0; j < width; ++j) sums[j] = OF_MULTIPLY_ADD(a_value, of_load(S, b, b_at + j), sums[j]);
  }
}

// Adds the elementwise products of `width` contiguous columns of A and B to `sums`. A has columns where these were a
// batch dimension (see make_columns_of_batch).
static inline void of_add_products(T* sums, uint32_t width, OF_GLOBAL const void* a, int64_t a_at,
                                   OF_GLOBAL const void* b, int64_t b_at) {
#pragma clang loop vectorize(assume_safety)
  for (uint32_t j = 0; j < width; ++j)
    sums[j] = OF_MULTIPLY_ADD(of_load(S, a, a_at + j), of_load(S, b, b_at + j), sums[j]);
}

// Computes up to OF_LINE columns of up to `height` rows, over one part of the depth, from operands in place.
__kernel OF_ALONE void contract_lines(const of_contract_dims batch, const of_contract_dims rows,
                                      const of_contract_dims columns, const of_contract_dims depth,
                                      OF_GLOBAL const void* a, OF_GLOBAL const void* b, OF_GLOBAL void* c,
                                      const int32_t is_sums, const int32_t accumulate, const uint32_t parts,
                                      const uint32_t part_depth, const int64_t part_step, const uint32_t height) {
  const uint32_t lines = (columns.count + OF_LINE - 1) / OF_LINE, blocks = (rows.count + height - 1) / height;
  const uint32_t line = OF_GROUP % lines;
  const uint32_t block = OF_GROUP / lines % blocks;
  const uint32_t part = OF_GROUP / lines / blocks % parts;
  const uint32_t at = OF_GROUP / lines / blocks / parts;
  const uint32_t first = line * OF_LINE;
  const uint32_t width = min((uint32_t)OF_LINE, columns.count - first);
  const uint32_t begin = part * part_depth, end = begin + min(part_depth, depth.count - begin);
  const int64_t a_batch = of_locate(&batch, batch.a, at), b_batch = of_locate(&batch, batch.b, at);
  const int64_t c_batch = part * part_step + of_locate(&batch, batch.c, at);
  int64_t a_offsets[OF_LINE], b_offsets[OF_LINE], c_offsets[OF_LINE];
  bool is_run = true, is_a_run = true, is_shared = true;  // is_shared: whether all columns share the elements of A
  for (uint32_t j = 0; j < width; ++j) {
    b_offsets[j] = b_batch + of_locate(&columns, columns.b, first + j);
    c_offsets[j] = c_batch + of_locate(&columns, columns.c, first + j);
    is_run &= b_offsets[j] == b_offsets[0] + j;
    a_offsets[j] = of_locate(&columns, columns.a, first + j);
    is_a_run &= a_offsets[j] == a_offsets[0] + j;
    is_shared &= a_offsets[j] == 0;
  }
  const int64_t a_step = depth.a[0], b_step = depth.b[0];
  const bool is_vector = is_run && (is_shared || is_a_run);
  const bool is_dot = a_step == 1 && b_step == 1 && !(is_vector && width > 4);
  for (uint32_t row = block * height; row < min(rows.count, (block + 1) * height); ++row) {
    const int64_t a_row = a_batch + of_locate(&rows, rows.a, row);
    T sums[OF_LINE];
    for (int j = 0; j < OF_LINE; ++j) sums[j] = (T)0;
    for (uint32_t p = begin; p < end;) {
      const uint32_t run = min(end - p, depth.sizes[0] - p % depth.sizes[0]);
      const int64_t a_at = a_row + of_locate(&depth, depth.a, p), b_at = of_locate(&depth, depth.b, p);
      if (is_dot) {
        for (uint32_t j = 0; j < width; ++j) sums[j] += of_dot(a, a_at + a_offsets[j], b, b_offsets[j] + b_at, run);
      } else if (is_vector && !is_shared) {
        for (uint32_t q = 0; q < run; ++q)
          of_add_products(sums, width, a, a_at + a_offsets[0] + q * a_step, b, b_offsets[0] + b_at + q * b_step);
      } else if (is_vector) {
        for (uint32_t q = 0; q < run; ++q)
          of_add_line(sums, width, of_load(S, a, a_at + q * a_step), b, b_offsets[0] + b_at + q * b_step);
      } else {
        for (uint32_t j = 0; j < width; ++j) {
          T sum = sums[j];
          for (uint32_t q = 0; q < run; ++q)
            sum = OF_MULTIPLY_ADD(of_load(S, a, a_at + a_offsets[j] + q * a_step),
                                  of_load(S, b, b_offsets[j] + b_at + q * b_step), sum);
          sums[j] = sum;
        }
      }
      p += run;
    }
    const int64_t c_row = of_locate(&rows, rows.c, row);
    for (uint32_t j = 0; j < width; ++j) of_put_sum(c, c_row + c_offsets[j], sums[j], is_sums, accumulate);
  }
}
