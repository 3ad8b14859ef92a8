// Sorting by keys: unsigned integers that are ordered as the elements they represent. Each key moves together with the
// position of its element.

// Returns the key of a floating-point number, given its bits. Both zeros have the same key, and NaN has the largest.
OF_DEVICE uint64_t of_key_of_bits(uint64_t bits, uint64_t infinity, uint64_t sign) {
  const uint64_t magnitude = bits & (sign - 1);
  if (magnitude > infinity) return sign | (sign - 1);
  if (magnitude == 0) return sign;
  return bits & sign ? sign - 1 - magnitude : sign | magnitude;
}

// Returns the key of an element, which has as many bits as the element.
OF_DEVICE uint64_t of_key(int32_t dtype, OF_GLOBAL const void* data, int64_t i) {
  switch (dtype) {
    case OF_BOOL:
      return ((OF_GLOBAL const uint8_t*)data)[i] != 0;
    case OF_UINT8:
      return ((OF_GLOBAL const uint8_t*)data)[i];
    case OF_INT8:
      return ((OF_GLOBAL const uint8_t*)data)[i] ^ 0x80;
    case OF_INT16:
      return ((OF_GLOBAL const uint16_t*)data)[i] ^ 0x8000;
    case OF_INT32:
      return ((OF_GLOBAL const uint32_t*)data)[i] ^ 0x80000000;
    case OF_INT64:
      return ((OF_GLOBAL const uint64_t*)data)[i] ^ (uint64_t)1 << 63;
    case OF_UINT16:
      return ((OF_GLOBAL const uint16_t*)data)[i];
    case OF_UINT32:
      return ((OF_GLOBAL const uint32_t*)data)[i];
    case OF_FLOAT16:
      return of_key_of_bits(((OF_GLOBAL const uint16_t*)data)[i], 0x7c00, 0x8000);
    case OF_BFLOAT16:
      return of_key_of_bits(((OF_GLOBAL const uint16_t*)data)[i], 0x7f80, 0x8000);
    case OF_FLOAT32:
      return of_key_of_bits(((OF_GLOBAL const uint32_t*)data)[i], 0x7f800000, 0x80000000);
    case OF_FLOAT64:
      return of_key_of_bits(((OF_GLOBAL const uint64_t*)data)[i], (uint64_t)0x7ff << 52, (uint64_t)1 << 63);
    default:
      return ((OF_GLOBAL const uint64_t*)data)[i];
  }
}

// Computes the keys of all elements. For descending order, `mask` has all bits of a key set, which inverts the keys.
OF_KERNEL(class T, int S)
order_keys(OF_ARGUMENT of_space space, OF_GLOBAL uint64_t* keys, OF_GLOBAL const void* input,
           OF_ARGUMENT of_strides input_strides, const int32_t dtype, const uint64_t mask) {
  const uint32_t i = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (i >= space.count) return;
  keys[i] = of_key(dtype, input, of_offset(&space, &input_strides, i)) ^ mask;
}

// Fills `keys` with random numbers.
OF_KERNEL(class T, int S)
order_random_keys(const uint32_t count, OF_GLOBAL uint64_t* keys, const uint64_t seed, const uint64_t offset) {
  const uint32_t i = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (i < count) keys[i] = of_wide_word(of_philox(seed, offset + i), 0);
}

// Sorts runs of `run` keys within each line by insertion, and sets their positions. Only the first `kept` keys of each
// sorted run are needed.
OF_KERNEL(class T, int S)
order_runs(const uint32_t count, const uint32_t runs, const uint32_t run, const int64_t length, const int64_t kept,
           OF_GLOBAL uint64_t* keys, OF_GLOBAL uint32_t* positions) {
  const uint32_t item = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (item >= count) return;
  const uint32_t line = item / runs;
  const int64_t begin = (int64_t)(item - line * runs) * run;
  const int64_t end = begin + run < length ? begin + run : length;
  keys += line * length;
  positions += line * length;
  const int64_t last = begin + kept - 1;
  for (int64_t i = begin; i < end; ++i) {
    const uint64_t key = keys[i];
    if (i > last && keys[last] <= key) continue;
    int64_t to = i < last ? i : last;
    for (; to > begin && keys[to - 1] > key; --to) {
      keys[to] = keys[to - 1];
      positions[to] = positions[to - 1];
    }
    keys[to] = key;
    positions[to] = (uint32_t)i;
  }
}

// Merges pairs of neighbouring runs of `width` keys. Each work-item writes `part` elements of a merged run; it finds
// where they begin in both runs by bisection (Green, McColl and Bader, "GPU merge path"). Only the first `kept` keys of
// each run are needed.
OF_KERNEL(class T, int S)
order_merge(const uint32_t count, const uint32_t pairs, const uint32_t parts, const uint32_t part, const int64_t length,
            const int64_t width, const int64_t kept, OF_GLOBAL const uint64_t* keys,
            OF_GLOBAL const uint32_t* positions, OF_GLOBAL uint64_t* merged_keys,
            OF_GLOBAL uint32_t* merged_positions) {
  const uint32_t item = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (item >= count) return;
  const uint32_t pair_of_all = item / parts, line = pair_of_all / pairs;
  const int64_t first = (int64_t)(item - pair_of_all * parts) * part;
  const int64_t begin = line * length + (int64_t)(pair_of_all - line * pairs) * 2 * width;
  const int64_t left = (line + (int64_t)1) * length - begin;  // keys from `begin` to the end of the line
  const int64_t most = width < kept ? width : kept;
  const int64_t a_count = left < most ? left : most;
  const int64_t b_count = left <= width ? 0 : left - width < most ? left - width : most;
  const int64_t total = a_count + b_count < kept ? a_count + b_count : kept;
  if (first >= total) return;
  const int64_t end = first + part < total ? first + part : total;

  OF_GLOBAL const uint64_t* a = keys + begin;
  OF_GLOBAL const uint64_t* b = a + width;
  OF_GLOBAL const uint32_t* a_positions = positions + begin;
  OF_GLOBAL const uint32_t* b_positions = a_positions + width;
  int64_t i = first > b_count ? first - b_count : 0;
  for (int64_t high = first < a_count ? first : a_count; i < high;) {
    const int64_t middle = (i + high) / 2;
    if (a[middle] <= b[first - 1 - middle]) {
      i = middle + 1;
    } else {
      high = middle;
    }
  }
  for (int64_t j = first - i, to = first; to < end; ++to) {
    const bool from_a = j >= b_count || (i < a_count && a[i] <= b[j]);
    merged_keys[begin + to] = from_a ? a[i] : b[j];
    merged_positions[begin + to] = from_a ? a_positions[i] : b_positions[j];
    i += from_a;
    j += !from_a;
  }
}

// Writes the elements in sorted order, and their original indices.
OF_KERNEL(class T, int S)
order_results(OF_ARGUMENT of_space space, const int32_t bytes, OF_GLOBAL void* values,
              OF_ARGUMENT of_strides value_strides, OF_GLOBAL int64_t* indices, OF_ARGUMENT of_strides index_strides,
              OF_GLOBAL const void* input, OF_ARGUMENT of_strides input_strides, const int64_t input_stride,
              OF_GLOBAL const uint32_t* positions, OF_ARGUMENT of_strides position_strides) {
  uint32_t rest = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (rest >= space.count) return;
  int64_t value_at = 0, index_at = 0, input_at = 0, position_at = 0;
  for (int d = 0; d < space.rank; ++d) {
    const int64_t at = of_coordinate(&space, d, &rest);
    value_at += at * value_strides.dims[d];
    index_at += at * index_strides.dims[d];
    input_at += at * input_strides.dims[d];
    position_at += at * position_strides.dims[d];
  }
  const int64_t position = positions[position_at];
  indices[index_at] = position;
  of_move(bytes, values, value_at, input, input_at + position * input_stride);
}

// Writes the sorted positions as elements of the result's dtype.
OF_KERNEL(class T, int S)
order_positions(const uint32_t count, OF_GLOBAL void* result, const int64_t stride, const int32_t dtype,
                OF_GLOBAL const uint32_t* positions) {
  const uint32_t i = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (i < count) of_store OF_OF(int64_t)(dtype, result, i * stride, (int64_t)positions[i]);
}
