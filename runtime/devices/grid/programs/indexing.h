// Reading from and writing to places that index tensors name: offsets into the tensor, in elements, from the lowest one
// on. `none` is that of an index out of range, larger than all others.

// Adds what one index tensor says to the places, or to `begin`. Without one that is all.
OF_KERNEL(class T, int S)
index_places(OF_ARGUMENT of_space space, OF_GLOBAL int64_t* places, OF_GLOBAL const void* indices,
             OF_ARGUMENT of_strides index_strides, const int32_t index_dtype, const int64_t size, const int64_t stride,
             const int32_t dim, const int32_t is_first, const int64_t begin, const int64_t none,
             OF_GLOBAL of_report* report, const uint64_t op) {
  const uint32_t i = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (i >= space.count) return;
  int64_t place = is_first ? begin : places[i];
  if (place == none) return;
  if (indices) {
    const int64_t index = of_load OF_OF(int64_t)(index_dtype, indices, of_place(&space, &index_strides, i));
    if (index < -size || index >= size) {
      of_report_index(report, op, index, dim, size);
      place = none;
    } else {
      place += (index < 0 ? index + size : index) * stride;
    }
  }
  places[i] = place;
}

OF_KERNEL(class T, int S)
index_elements(OF_ARGUMENT of_space space, const int32_t bytes, OF_GLOBAL void* result,
               OF_ARGUMENT of_strides result_strides, OF_GLOBAL const void* input, OF_ARGUMENT of_strides input_strides,
               OF_GLOBAL const int64_t* places, OF_ARGUMENT of_strides place_strides, const int64_t none) {
  uint32_t rest = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (rest >= space.count) return;
  int64_t result_at = 0, input_at = 0, place_at = 0;
  for (int d = 0; d < space.rank; ++d) {
    const int64_t at = of_coordinate(&space, d, &rest);
    result_at += at * result_strides.dims[d];
    input_at += at * input_strides.dims[d];
    place_at += at * place_strides.dims[d];
  }
  const int64_t place = places[place_at];
  if (place != none) of_move(bytes, result, result_at, input, place + input_at);
}

// Where the values for the places begin.
OF_KERNEL(class T, int S)
index_sources(OF_ARGUMENT of_space space, OF_GLOBAL int64_t* sources, OF_ARGUMENT of_strides value_strides,
              const int64_t offset) {
  const uint32_t i = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (i >= space.count) return;
  sources[i] = offset + of_place(&space, &value_strides, i);
}

// Writes to the places, which are sorted: of values for the same place the last one. `positions` say which value
// belongs to a place; the values begin at `sources`, or without them, `source_stride` elements apart.
OF_KERNEL(class T, int S)
index_put_elements(OF_ARGUMENT of_space space, const int32_t bytes, OF_GLOBAL void* target,
                   OF_ARGUMENT of_strides target_strides, OF_GLOBAL const void* values,
                   OF_ARGUMENT of_strides value_strides, OF_GLOBAL const int64_t* places,
                   OF_GLOBAL const uint32_t* positions, const int64_t first, OF_ARGUMENT of_strides place_strides,
                   const int64_t count, const int64_t none, OF_GLOBAL const int64_t* sources,
                   const int64_t source_stride) {
  uint32_t rest = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (rest >= space.count) return;
  int64_t target_at = 0, value_at = 0, place_at = first;
  for (int d = 0; d < space.rank; ++d) {
    const int64_t at = of_coordinate(&space, d, &rest);
    target_at += at * target_strides.dims[d];
    value_at += at * value_strides.dims[d];
    place_at += at * place_strides.dims[d];
  }
  const int64_t place = places[place_at];
  if (place == none || (place_at + 1 < count && places[place_at + 1] == place)) return;
  const int64_t position = positions[place_at];
  of_move(bytes, target, place + target_at, values,
          value_at + (sources ? sources[position] : position * source_stride));
}

// The same, but adds all values for a place, one after the other and each rounded, as if each call had one.
OF_KERNEL(class T, int S)
index_add_elements(OF_ARGUMENT of_space space, const int32_t dtype, OF_GLOBAL void* target,
                   OF_ARGUMENT of_strides target_strides, OF_GLOBAL const void* values,
                   OF_ARGUMENT of_strides value_strides, OF_GLOBAL const int64_t* places,
                   OF_GLOBAL const uint32_t* positions, const int64_t first, OF_ARGUMENT of_strides place_strides,
                   const int64_t count, const int64_t none, OF_GLOBAL const int64_t* sources,
                   const int64_t source_stride) {
  uint32_t rest = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (rest >= space.count) return;
  int64_t target_at = 0, value_at = 0, place_at = first;
  for (int d = 0; d < space.rank; ++d) {
    const int64_t at = of_coordinate(&space, d, &rest);
    target_at += at * target_strides.dims[d];
    value_at += at * value_strides.dims[d];
    place_at += at * place_strides.dims[d];
  }
  const int64_t place = places[place_at];
  if (place == none || (place_at > 0 && places[place_at - 1] == place)) return;
  target_at += place;
  for (; place_at < count && places[place_at] == place; ++place_at) {
    const int64_t position = positions[place_at];
    const int64_t from = value_at + (sources ? sources[position] : position * source_stride);
    const T sum = (T)(of_load OF_OF(T)(dtype, target, target_at) + of_load OF_OF(T)(dtype, values, from));
    of_store OF_OF(T)(dtype, target, target_at, sum);
  }
}
