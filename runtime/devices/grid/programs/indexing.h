// Advanced indexing. Index tensors become offsets into the indexed tensor, in elements, relative to the lowest possible
// one. The offset of an index out of range is `none`, which is larger than all others.

// Adds the contribution of one index tensor to the offsets; the first one (`is_first`) adds it to `begin`. Without an
// index tensor (`indices` is null) there is no contribution.
OF_KERNEL(class T, int S)
index_offsets(OF_ARGUMENT of_space space, OF_GLOBAL int64_t* offsets, OF_GLOBAL const void* indices,
              OF_ARGUMENT of_strides index_strides, const int32_t index_dtype, const int64_t size, const int64_t stride,
              const int32_t dim, const int32_t is_first, const int64_t begin, const int64_t none,
              OF_GLOBAL of_report* report, const uint64_t op) {
  const uint32_t i = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (i >= space.count) return;
  int64_t offset = is_first ? begin : offsets[i];
  if (offset == none) return;
  if (indices) {
    const int64_t index = of_load OF_OF(int64_t)(index_dtype, indices, of_offset(&space, &index_strides, i));
    if (index < -size || index >= size) {
      of_report_index(report, op, index, dim, size);
      offset = none;
    } else {
      offset += (index < 0 ? index + size : index) * stride;
    }
  }
  offsets[i] = offset;
}

// Copies the elements at the offsets to the result. Elements whose offset is `none` are not written.
OF_KERNEL(class T, int S)
index_elements(OF_ARGUMENT of_space space, const int32_t bytes, OF_GLOBAL void* result,
               OF_ARGUMENT of_strides result_strides, OF_GLOBAL const void* input, OF_ARGUMENT of_strides input_strides,
               OF_GLOBAL const int64_t* offsets, OF_ARGUMENT of_strides offset_strides, const int64_t none) {
  uint32_t rest = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (rest >= space.count) return;
  int64_t result_at = 0, input_at = 0, offset_at = 0;
  for (int d = 0; d < space.rank; ++d) {
    const int64_t at = of_coordinate(&space, d, &rest);
    result_at += at * result_strides.dims[d];
    input_at += at * input_strides.dims[d];
    offset_at += at * offset_strides.dims[d];
  }
  const int64_t offset = offsets[offset_at];
  if (offset != none) of_move(bytes, result, result_at, input, offset + input_at);
}

// Computes the offsets at which the values for the offsets of the target begin.
OF_KERNEL(class T, int S)
index_sources(OF_ARGUMENT of_space space, OF_GLOBAL int64_t* sources, OF_ARGUMENT of_strides value_strides,
              const int64_t offset) {
  const uint32_t i = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (i >= space.count) return;
  sources[i] = offset + of_offset(&space, &value_strides, i);
}

// Writes values to the offsets of the target, which are sorted; of several values for one offset it writes the last
// one. `positions` gives the index of the value for an offset. The values begin at the offsets `sources` or, if that is
// null, are `source_stride` elements apart.
OF_KERNEL(class T, int S)
index_put_elements(OF_ARGUMENT of_space space, const int32_t bytes, OF_GLOBAL void* target,
                   OF_ARGUMENT of_strides target_strides, OF_GLOBAL const void* values,
                   OF_ARGUMENT of_strides value_strides, OF_GLOBAL const int64_t* offsets,
                   OF_GLOBAL const uint32_t* positions, const int64_t first, OF_ARGUMENT of_strides offset_strides,
                   const int64_t count, const int64_t none, OF_GLOBAL const int64_t* sources,
                   const int64_t source_stride) {
  uint32_t rest = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (rest >= space.count) return;
  int64_t target_at = 0, value_at = 0, offset_at = first;
  for (int d = 0; d < space.rank; ++d) {
    const int64_t at = of_coordinate(&space, d, &rest);
    target_at += at * target_strides.dims[d];
    value_at += at * value_strides.dims[d];
    offset_at += at * offset_strides.dims[d];
  }
  const int64_t offset = offsets[offset_at];
  if (offset == none || (offset_at + 1 < count && offsets[offset_at + 1] == offset)) return;
  const int64_t position = positions[offset_at];
  of_move(bytes, target, offset + target_at, values,
          value_at + (sources ? sources[position] : position * source_stride));
}

// Adds values to the elements at the offsets of the target, with parameters as above. All values for one offset are
// added in sequence, and each sum is rounded, as if each value were added by a call of its own.
OF_KERNEL(class T, int S)
index_add_elements(OF_ARGUMENT of_space space, const int32_t dtype, OF_GLOBAL void* target,
                   OF_ARGUMENT of_strides target_strides, OF_GLOBAL const void* values,
                   OF_ARGUMENT of_strides value_strides, OF_GLOBAL const int64_t* offsets,
                   OF_GLOBAL const uint32_t* positions, const int64_t first, OF_ARGUMENT of_strides offset_strides,
                   const int64_t count, const int64_t none, OF_GLOBAL const int64_t* sources,
                   const int64_t source_stride) {
  uint32_t rest = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (rest >= space.count) return;
  int64_t target_at = 0, value_at = 0, offset_at = first;
  for (int d = 0; d < space.rank; ++d) {
    const int64_t at = of_coordinate(&space, d, &rest);
    target_at += at * target_strides.dims[d];
    value_at += at * value_strides.dims[d];
    offset_at += at * offset_strides.dims[d];
  }
  const int64_t offset = offsets[offset_at];
  if (offset == none || (offset_at > 0 && offsets[offset_at - 1] == offset)) return;
  target_at += offset;
  for (; offset_at < count && offsets[offset_at] == offset; ++offset_at) {
    const int64_t position = positions[offset_at];
    const int64_t from = value_at + (sources ? sources[position] : position * source_stride);
    const T sum = (T)(of_load OF_OF(T)(dtype, target, target_at) + of_load OF_OF(T)(dtype, values, from));
    of_store OF_OF(T)(dtype, target, target_at, sum);
  }
}
