// The coordinates of all nonzero elements. Each work-item handles a segment of consecutive elements: the segments are
// counted, and the rows of a segment follow those of the segments before it.

// Counts the nonzero elements of each segment.
OF_KERNEL(class T, int S)
nonzero_count(OF_ARGUMENT of_space space, OF_GLOBAL const void* input, OF_ARGUMENT of_strides strides,
              const int32_t dtype, const uint32_t segment, OF_GLOBAL int64_t* counts) {
  const uint32_t item = OF_GROUP * OF_ITEMS + OF_ITEM;
  const int64_t begin = (int64_t)item * segment;
  if (begin >= space.count) return;
  const int64_t end = begin + segment < space.count ? begin + segment : space.count;
  int64_t count = 0;
  for (int64_t i = begin; i < end; ++i)
    count += of_load OF_OF(T)(dtype, input, of_offset(&space, &strides, (uint32_t)i)) ? 1 : 0;
  counts[item] = count;
}

// Adds up groups of `group` consecutive numbers.
OF_KERNEL(class T, int S)
nonzero_sum(const int64_t count, const uint32_t group, OF_GLOBAL const int64_t* numbers, OF_GLOBAL int64_t* sums) {
  const uint32_t item = OF_GROUP * OF_ITEMS + OF_ITEM;
  const int64_t begin = (int64_t)item * group;
  if (begin >= count) return;
  const int64_t end = begin + group < count ? begin + group : count;
  int64_t sum = 0;
  for (int64_t i = begin; i < end; ++i) sum += numbers[i];
  sums[item] = sum;
}

// Replaces each number by the sum of all numbers before it (an exclusive scan), one group per work-item. `sums` holds
// the sum of all numbers before each group, or is null where there is one group.
OF_KERNEL(class T, int S)
nonzero_scan(const int64_t count, const uint32_t group, OF_GLOBAL int64_t* numbers, OF_GLOBAL const int64_t* sums) {
  const uint32_t item = OF_GROUP * OF_ITEMS + OF_ITEM;
  const int64_t begin = (int64_t)item * group;
  if (begin >= count) return;
  const int64_t end = begin + group < count ? begin + group : count;
  int64_t sum = sums ? sums[item] : 0;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t number = numbers[i];
    numbers[i] = sum;
    sum += number;
  }
}

// Writes the coordinates of the nonzero elements of each segment. `first` is the number of elements before this launch.
// No more than `rows` rows, the capacity of the result, are written, even if the input changed since it was counted.
OF_KERNEL(class T, int S)
nonzero_write(OF_ARGUMENT of_space space, OF_GLOBAL const void* input, OF_ARGUMENT of_strides strides,
              const int32_t dtype, const uint32_t segment, OF_GLOBAL const int64_t* starts, const int64_t first,
              OF_ARGUMENT of_sizes shape, OF_GLOBAL int64_t* result, const int64_t rows, const int64_t row_stride,
              const int64_t column_stride) {
  const uint32_t item = OF_GROUP * OF_ITEMS + OF_ITEM;
  const int64_t begin = (int64_t)item * segment;
  if (begin >= space.count) return;
  const int64_t end = begin + segment < space.count ? begin + segment : space.count;
  int64_t row = starts[item];
  for (int64_t i = begin; i < end && row < rows; ++i) {
    if (!of_load OF_OF(T)(dtype, input, of_offset(&space, &strides, (uint32_t)i))) continue;
    OF_GLOBAL int64_t* coordinates = result + row++ * row_stride;
    int64_t rest = first + i;
    for (int d = shape.rank - 1; d > 0; --d) {
      const int64_t whole = rest / shape.dims[d];
      coordinates[d * column_stride] = rest - whole * shape.dims[d];
      rest = whole;
    }
    coordinates[0] = rest;
  }
}
