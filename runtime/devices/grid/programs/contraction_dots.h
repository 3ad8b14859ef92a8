// C[batch, row, column] = sum over depth of A[batch, row, depth] * B[batch, depth, column], for any strides. The sum
// over part i of the depth is stored at C + i * part_step. No dimension is empty. S is the dtype of A, B and C; where C
// holds partial sums (`is_sums`), its elements are of T.

// Computes dot products: `lanes` work-items of a group of 256 add up one result, each every lanes-th product.
#define OF_ITEMS_OF_DOTS 256
OF_KERNEL(class T, int S)
contract_dots(OF_ARGUMENT of_contract_dims batch, OF_ARGUMENT of_contract_dims rows,
              OF_ARGUMENT of_contract_dims columns, OF_ARGUMENT of_contract_dims depth, OF_GLOBAL const void* a,
              OF_GLOBAL const void* b, OF_GLOBAL void* c, const int32_t is_sums, const int32_t accumulate,
              const uint32_t parts, const uint32_t part_depth, const int64_t part_step, const uint32_t lanes,
              const int32_t along_depth) {
  OF_SHARED T sums[OF_ITEMS_OF_DOTS];
  const uint32_t item = OF_ITEM;
  const uint32_t across = OF_ITEMS_OF_DOTS / lanes;
  // Neighbouring work-items read neighbouring elements: along the depth, or of neighbouring results.
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
  const uint32_t step = along_depth ? 1 : across;  // the distance of the lanes of a result in `sums`
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
    const int64_t offset = part * part_step + c_batch + c_row + c_column;
    of_put_sum OF_OF(T, S)(c, offset, sums[item], is_sums, accumulate);
  }
}
