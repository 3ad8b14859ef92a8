// The neighbouring elements that one work-item works on where operands are contiguous: one in OpenCL, whose compilers make
// vectors of neighbouring work-items; what 16 bytes hold in CUDA, which loads and stores those at once.
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_RUNS_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_RUNS_H_

#if defined(__OPENCL_C_VERSION__)

#define OF_RUN(S) 1

// The elements from `first` on: of memory (step 1), of the one element there (step 0), or of no memory a number.
#define OF_LOAD_RUN(T, S, count, values, data, step, number, first, end) \
  values[0] = data ? of_load(S, data, (first) * (step)) : (T)(number)
#define OF_STORE_RUN(T, S, count, data, first, end, values) of_store(S, data, first, values[0])
#define OF_STORE_RUN_INT64(S, count, data, first, end, values) of_store_int64(S, data, first, values[0])

#else  // CUDA

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

#define OF_LOAD_RUN(T, S, count, values, data, step, number, first, end) \
  of_load_run<T, S, count>(values, data, step, static_cast<T>(number), first, end)
#define OF_STORE_RUN(T, S, count, data, first, end, values) of_store_run<T, S, count>(data, first, end, values)

#endif

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_RUNS_H_
