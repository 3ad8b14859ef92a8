// Loads, stores and loops over the lanes of a work-item, for the kernels of reductions and scans (see fold_layout.h).
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_FOLDS_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_FOLDS_H_

#if defined(__OPENCL_C_VERSION__)

#if !OF_IS_PROCESSOR
#define OF_LINE_LANES(T, S) OF_LOCKSTEP_LANES
#define OF_ROW_LANES(T, S) OF_LOCKSTEP_LANES
#define OF_STEPS OF_FOLD_STEPS
#define OF_SHARES 1                     // whether a group has several items
#define OF_IN_USE(lanes, used) (lanes)  // the lanes that have a state: all, if in registers, or those with elements
#define OF_EACH_LANE(j, lanes, valid) \
  for (int j = 0; j < (lanes); ++j)   \
    if (j < (valid))
#define OF_EACH_IN_ORDER OF_EACH_LANE
#else
#define OF_LINE_LANES(T, S) OF_PROCESSOR_LINE_LANES
#define OF_ROW_LANES(T, S) OF_PROCESSOR_ROW_LANES
#define OF_STEPS 1
#define OF_SHARES 0
#define OF_IN_USE(lanes, used) (used)
#define OF_EACH_LANE(j, lanes, valid) _Pragma("clang loop vectorize(assume_safety)") for (int j = 0; j < (valid); ++j)
#define OF_EACH_IN_ORDER(j, lanes, valid) for (int j = 0; j < (valid); ++j)
#endif

// There is one case for each dtype, because a loop that branches on the dtype of each element is not vectorised.
#if OF_HAS_DOUBLE
#define OF_FLOAT64_CASE(X) X(OF_FLOAT64)
#else
#define OF_FLOAT64_CASE(X)
#endif
#define OF_EACH_DTYPE(X) \
  X(OF_BOOL)             \
  X(OF_UINT8)            \
  X(OF_INT8)             \
  X(OF_INT16)            \
  X(OF_INT32)            \
  X(OF_INT64) X(OF_UINT16) X(OF_UINT32) X(OF_UINT64) X(OF_FLOAT16) X(OF_BFLOAT16) X(OF_FLOAT32) OF_FLOAT64_CASE(X)
#define OF_LOAD_CASE(each)                                                            \
  case each:                                                                          \
    if (stride == 1) {                                                                \
      OF_EACH_LANE(j, lanes, valid) values[j] = of_load(each, data, at + j);          \
    } else {                                                                          \
      OF_EACH_LANE(j, lanes, valid) values[j] = of_load(each, data, at + j * stride); \
    }                                                                                 \
    break;
#define OF_STORE_CASE(each)                                                           \
  case each:                                                                          \
    if (stride == 1) {                                                                \
      OF_EACH_LANE(j, lanes, valid) of_store(each, data, at + j, values[j]);          \
    } else {                                                                          \
      OF_EACH_LANE(j, lanes, valid) of_store(each, data, at + j * stride, values[j]); \
    }                                                                                 \
    break;
// Load and store the first `valid` lanes.
OF_DEVICE void of_load_lanes(T* values, int lanes, int32_t dtype, OF_GLOBAL const void* data, int64_t at,
                             int64_t stride, int valid) {
  switch (dtype) { OF_EACH_DTYPE(OF_LOAD_CASE) }
}
OF_DEVICE void of_store_lanes(const T* values, int lanes, int32_t dtype, OF_GLOBAL void* data, int64_t at,
                              int64_t stride, int valid) {
  switch (dtype) { OF_EACH_DTYPE(OF_STORE_CASE) }
}
#if OF_SHARES || S == OF_ANY
#define OF_LANES(T, S, values, steps, lanes) T values[steps][lanes]
#define OF_LOAD_LANES(T, S, values, lanes, dtype, data, at, stride, valid, is_packed) \
  of_load_lanes(values, lanes, OF_DTYPE(S, dtype), data, at, stride, valid)
#define OF_LANE(S, data, values, j) values[j]
#else
// CPU devices read lanes of a known storage in place; this takes unit stride.
#define OF_LANES(T, S, values, steps, lanes) int64_t values[steps]
#define OF_LOAD_LANES(T, S, values, lanes, dtype, data, at, stride, valid, is_packed) values = at
#define OF_LANE(S, data, values, j) of_load(S, data, values + j)
#endif
#define OF_STORE_LANES(T, S, values, lanes, dtype, data, at, stride, valid, is_packed) \
  of_store_lanes(values, lanes, dtype, data, at, stride, valid)

#else  // CUDA

#define OF_SHARES 1
#define OF_IN_USE(lanes, used) (lanes)
#define OF_STEPS OF_FOLD_STEPS
// The elements of one access of 16 bytes, but at most 8, so that their states stay in registers.
template <class T, int S>
constexpr int of_lanes = 16 / (S == OF_ANY ? int(sizeof(T)) : of_item_size(S)) < 8
                             ? 16 / (S == OF_ANY ? int(sizeof(T)) : of_item_size(S))
                             : 8;
#define OF_LINE_LANES(T, S) of_lanes<T, S>
#define OF_ROW_LANES(T, S) of_lanes<T, S>
#define OF_EACH_LANE(j, lanes, valid) _Pragma("unroll") for (int j = 0; j < (lanes); ++j) if (j < (valid))

#define OF_EACH_IN_ORDER OF_EACH_LANE
#define OF_LANES(T, S, values, steps, lanes) T values[steps][lanes]
#define OF_LANE(S, data, values, j) values[j]

// Not inlined, because a load of any dtype has a dozen branches, and kernels have many loads.
template <class T, int lanes>
__device__ __noinline__ void of_load_any_lanes(T (&values)[lanes], int32_t dtype, const void* data, int64_t at,
                                               int64_t stride, int valid) {
  OF_EACH_LANE(j, lanes, valid) values[j] = of_load<T>(dtype, data, at + j * stride);
}

template <class T, int S, int lanes>
OF_DEVICE void of_load_lanes(T (&values)[lanes], int32_t dtype, const void* data, int64_t at, int64_t stride, int valid,
                             bool is_packed) {
  if constexpr (S == OF_ANY) {
    of_load_any_lanes(values, dtype, data, at, stride, valid);
  } else {
    if (is_packed && valid == lanes) {
      using Packet = of_packet<lanes * of_item_size(S)>;
      const Packet packet = reinterpret_cast<const Packet*>(data)[at / lanes];
      OF_EACH_LANE(j, lanes, lanes) values[j] = of_load<T>(S, &packet, j);
    } else {
      OF_EACH_LANE(j, lanes, valid) values[j] = of_load<T>(S, data, at + j * stride);
    }
  }
}
#define OF_LOAD_LANES(T, S, values, lanes, dtype, data, at, stride, valid, is_packed) \
  of_load_lanes<T, S>(values, dtype, data, at, stride, valid, is_packed)

template <class T, int S, int lanes>
OF_DEVICE void of_store_lanes(const T (&values)[lanes], int32_t dtype, void* data, int64_t at, int64_t stride,
                              int valid, bool is_packed) {
  if constexpr (S != OF_ANY) {
    if (is_packed && valid == lanes) {
      using Packet = of_packet<lanes * of_item_size(S)>;
      Packet packet;
      OF_EACH_LANE(j, lanes, lanes) of_store<T>(S, &packet, j, values[j]);
      reinterpret_cast<Packet*>(data)[at / lanes] = packet;
      return;
    }
  }
  OF_EACH_LANE(j, lanes, valid) of_store<T>(dtype, data, at + j * stride, values[j]);
}
#define OF_STORE_LANES(T, S, values, lanes, dtype, data, at, stride, valid, is_packed) \
  of_store_lanes<T, S>(values, dtype, data, at, stride, valid, is_packed)

#endif

// Returns how many of `lanes` lanes have an element: lane j has element first + (j << shift), if that is below `size`.
OF_DEVICE int of_valid_lanes(uint32_t first, uint32_t size, uint32_t shift, int lanes) {
  if (first >= size) return 0;
  const uint32_t left = ((size - first - 1) >> shift) + 1;
  return left < (uint32_t)lanes ? (int)left : lanes;
}

// Stores a position, an integer that T may not represent, as element i of memory that holds elements of a dtype.
OF_DEVICE void of_store_position(int32_t dtype, OF_GLOBAL void* data, int64_t i, int64_t position) {
  switch (dtype) {
    case OF_INT64:
      ((OF_GLOBAL int64_t*)data)[i] = position;
      break;
    case OF_FLOAT16:
      ((OF_GLOBAL uint16_t*)data)[i] = of_half_of_float((float)position);
      break;
    case OF_BFLOAT16:
      ((OF_GLOBAL uint16_t*)data)[i] = of_bfloat16_of_float((float)position);
      break;
    case OF_FLOAT32:
      ((OF_GLOBAL float*)data)[i] = (float)position;
      break;
#if OF_HAS_DOUBLE
    case OF_FLOAT64:
      ((OF_GLOBAL double*)data)[i] = (double)position;
      break;
#endif
    case OF_UINT64:
      ((OF_GLOBAL uint64_t*)data)[i] = (uint64_t)position;
      break;
    case OF_INT32:
    case OF_UINT32:
      ((OF_GLOBAL uint32_t*)data)[i] = (uint32_t)position;
      break;
    case OF_INT16:
    case OF_UINT16:
      ((OF_GLOBAL uint16_t*)data)[i] = (uint16_t)position;
      break;
    default:
      ((OF_GLOBAL uint8_t*)data)[i] = (uint8_t)position;
  }
}

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_FOLDS_H_
