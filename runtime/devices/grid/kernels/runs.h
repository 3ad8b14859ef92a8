// The run of neighbouring elements that one work-item of a flat kernel works on. In CUDA it is what 16 bytes hold,
// loaded and stored at once. In OpenCL the host says how long it is: one element where neighbouring work-items run in
// lockstep, some thousands on processors, whose compilers make vectors of the loop.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_RUNS_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_RUNS_H_

#if defined(__OPENCL_C_VERSION__)

#define OF_RUN(S) OF_RUN_LENGTH
// Elements depend on those at the same place only, also where the result lies over an operand.
#define OF_EACH(j, S, first, count)                              \
  _Pragma("clang loop vectorize(assume_safety)") for (int j = 0; \
                                                      j < OF_RUN(S) && (OF_RUN(S) == 1 || first + j < count); ++j)

// An operand: memory (step 1), the one element there (step 0), or a number where there is no memory.
#define OF_LOAD_RUN(T, S, storage, name, first, count)
#define OF_RUN_VALUE(storage, name, first, j) \
  (name ? of_load(storage, name, (first + j) * name##_step) : (T)name##_number)
#define OF_RESULT_RUN(T, S)
#define OF_PUT(storage, result, first, j, value) of_store(storage, result, first + j, (T)(value))
#define OF_STORE_RUN(T, S, storage, result, first, count)

#else  // CUDA

constexpr __host__ __device__ int of_item_size(int dtype) {
  return dtype == OF_BOOL || dtype == OF_UINT8 || dtype == OF_INT8                                ? 1
         : dtype == OF_INT16 || dtype == OF_UINT16 || dtype == OF_FLOAT16 || dtype == OF_BFLOAT16 ? 2
         : dtype == OF_INT32 || dtype == OF_UINT32 || dtype == OF_FLOAT32                         ? 4
                                                                                                  : 8;
}

#define OF_RUN(S) of_run<S>
template <int S>
constexpr int of_run = 16 / of_item_size(S);

template <int bytes>
struct alignas(bytes) of_packet {
  uint8_t bytes_[bytes];
};

template <class T, int S, int count>
OF_DEVICE void of_load_run(T (&values)[count], const void* data, int step, T number, int64_t first, int64_t end) {
  if (data != nullptr && step == 1 && first + count <= end) {
    constexpr int kBytes = of_item_size(S);
    const auto packet = reinterpret_cast<const of_packet<count * kBytes>*>(data)[first / count];
#pragma unroll
    for (int j = 0; j < count; ++j) values[j] = of_load<T>(S, &packet, j);
    return;
  }
#pragma unroll
  for (int j = 0; j < count; ++j) {
    if (first + j < end) values[j] = data != nullptr ? of_load<T>(S, data, (first + j) * step) : number;
  }
}

template <class T, int S, int count>
OF_DEVICE void of_store_run(void* data, int64_t first, int64_t end, const T (&values)[count]) {
  if (first + count <= end) {
    of_packet<count * of_item_size(S)> packet;
#pragma unroll
    for (int j = 0; j < count; ++j) of_store<T>(S, &packet, j, values[j]);
    reinterpret_cast<of_packet<count * of_item_size(S)>*>(data)[first / count] = packet;
    return;
  }
  for (int j = 0; j < count; ++j) {
    if (first + j < end) of_store<T>(S, data, first + j, values[j]);
  }
}

#define OF_EACH(j, S, first, count) _Pragma("unroll") for (int j = 0; j < OF_RUN(S); ++j)
#define OF_LOAD_RUN(T, S, storage, name, first, count) \
  T name##_values[OF_RUN(S)];                          \
  of_load_run<T, storage, OF_RUN(S)>(name##_values, name, name##_step, static_cast<T>(name##_number), first, count);
#define OF_RUN_VALUE(storage, name, first, j) name##_values[j]
#define OF_RESULT_RUN(T, S) T result_values[OF_RUN(S)];
#define OF_PUT(storage, result, first, j, value) result_values[j] = value
#define OF_STORE_RUN(T, S, storage, result, first, count) \
  of_store_run<T, storage, OF_RUN(S)>(result, first, count, result_values);

#endif

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_RUNS_H_
