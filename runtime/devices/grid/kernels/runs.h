// The run of elements that one work-item of a flat kernel computes. In CUDA it consists of packets of 16 bytes, each
// loaded or stored by one access; for any storage, of as many elements as such packets hold of 4 bytes each. In OpenCL
// it is one element; CPU devices take blocks (blocks.h).
#ifndef ONEFLOW_DEVICES_GRID_KERNELS_RUNS_H_
#define ONEFLOW_DEVICES_GRID_KERNELS_RUNS_H_

#if defined(__OPENCL_C_VERSION__)

#define OF_RUN(S) 1
#define OF_FIRST(S) ((int64_t)OF_GROUP * OF_ITEMS + OF_ITEM)
#define OF_EACH(j, S, first, count) for (int j = 0; j < 1; ++j)

// An operand `name` is a tensor (step 1), an element that is broadcast (step 0), or, if null, a number.
#define OF_LOAD_RUN(T, S, storage, name, first, count)
#define OF_RUN_VALUE(storage, name, first, j) \
  (name ? of_load(OF_DTYPE(storage, name##_dtype), name, (first + j) * name##_step) : (T)name##_number)
#define OF_RESULT_RUN(T, S, result)
#define OF_PUT(storage, result, first, j, value) \
  of_store(OF_DTYPE(storage, result##_dtype), result, first + j, (T)(value))
#define OF_STORE_RUN(T, S, storage, result, first, count)
#define OF_STRIDED_RUN(S) 1
#define OF_LOAD_STRIDED(T, S, name, first, step, count) \
  name##_values[0] = name ? of_load(OF_DTYPE(S, name##_dtype), name, name##_at[0]) : (T)name##_number;
#define OF_STORE_STRIDED(T, S, name, first, step, count) \
  of_store(OF_DTYPE(S, name##_dtype), name, name##_at[0], name##_values[0]);

#else  // CUDA

#include <type_traits>

constexpr __host__ __device__ int of_item_size(int dtype) {
  return dtype == OF_BOOL || dtype == OF_UINT8 || dtype == OF_INT8                                ? 1
         : dtype == OF_INT16 || dtype == OF_UINT16 || dtype == OF_FLOAT16 || dtype == OF_BFLOAT16 ? 2
         : dtype == OF_INT32 || dtype == OF_UINT32 || dtype == OF_FLOAT32                         ? 4
         : dtype == OF_ANY                                                                        ? OF_ANY_BYTES
                                                                                                  : 8;
}

// Packets of a work-item. Elements of 4 bytes take two packets in flight to keep memory busy. One is enough for
// narrower elements, of which a packet holds more, and for wider ones, whose functions take longer.
template <int S>
constexpr int of_packets = of_item_size(S) == 4 ? 2 : 1;
template <int S>
constexpr int of_run = of_packets<S>*(16 / of_item_size(S));
#define OF_RUN(S) of_run<S>
// Neighbouring work-items have neighbouring packets. The packets of one run are therefore as far apart as the
// work-items of a group reach.
#define OF_FIRST(S) ((int64_t)OF_GROUP * OF_ITEMS * of_run<S> + OF_ITEM * (of_run<S> / of_packets<S>))

// `bytes` bytes that are loaded or stored by one access.
template <int bytes>
struct alignas(bytes < 16 ? bytes : 16) of_packet {
  using Word = std::conditional_t<bytes % 4 == 0, uint32_t, std::conditional_t<bytes % 2 == 0, uint16_t, uint8_t>>;
  Word words[bytes / sizeof(Word)];
};

// Returns whether all packets of a run are within the tensor, which has `end` elements.
template <int packets, int count>
OF_DEVICE bool of_is_whole(int64_t first, int64_t end) {
  return first + (packets - 1) * static_cast<int64_t>(OF_ITEMS) * (count / packets) + count / packets <= end;
}

// Calls `use` with the dtype as a compile-time constant.
template <class Use>
OF_DEVICE void of_with_constant(int dtype, Use use) {
  switch (dtype) {
#define OF_CASE(S)                         \
  case S:                                  \
    use(std::integral_constant<int, S>()); \
    break;
    OF_CASE(OF_BOOL)
    OF_CASE(OF_UINT8)
    OF_CASE(OF_INT8)
    OF_CASE(OF_INT16)
    OF_CASE(OF_INT32)
    OF_CASE(OF_INT64)
    OF_CASE(OF_UINT16)
    OF_CASE(OF_UINT32)
    OF_CASE(OF_UINT64)
    OF_CASE(OF_FLOAT16)
    OF_CASE(OF_BFLOAT16)
    OF_CASE(OF_FLOAT32)
    OF_CASE(OF_FLOAT64)
#undef OF_CASE
  }
}

template <class T, int S, int packets, int count>
OF_DEVICE void of_load_run(T (&values)[count], const void* data, int dtype, int step, T number, int64_t first,
                           int64_t end) {
  constexpr int kLength = count / packets;
  if constexpr (S == OF_ANY) {
    if (data != nullptr) {
      of_with_constant(dtype, [&](auto storage) {
        of_load_run<T, decltype(storage)::value, packets>(values, data, dtype, step, number, first, end);
      });
      return;
    }
  }
  if (data != nullptr && step == 1 && of_is_whole<packets, count>(first, end)) {
    using Packet = of_packet<kLength * of_item_size(S)>;
    Packet loaded[packets];
#pragma unroll
    for (int k = 0; k < packets; ++k) loaded[k] = reinterpret_cast<const Packet*>(data)[first / kLength + k * OF_ITEMS];
#pragma unroll
    for (int j = 0; j < count; ++j) values[j] = of_load<T>(S, &loaded[j / kLength], j % kLength);
    return;
  }
#pragma unroll
  for (int j = 0; j < count; ++j) {
    const int64_t at = first + j / kLength * OF_ITEMS * kLength + j % kLength;
    // Elements beyond the end are 1, by which every number can be divided.
    values[j] = at >= end ? static_cast<T>(1) : data == nullptr ? number : of_load<T>(S, data, at * step);
  }
}

template <class T, int S, int packets, int count>
OF_DEVICE void of_store_run(void* data, int dtype, int64_t first, int64_t end, const T (&values)[count]) {
  constexpr int kLength = count / packets;
  if constexpr (S == OF_ANY) {
    of_with_constant(dtype, [&](auto storage) {
      of_store_run<T, decltype(storage)::value, packets>(data, dtype, first, end, values);
    });
    return;
  }
  if (of_is_whole<packets, count>(first, end)) {
    using Packet = of_packet<kLength * of_item_size(S)>;
#pragma unroll
    for (int k = 0; k < packets; ++k) {
      Packet packet;
#pragma unroll
      for (int j = 0; j < kLength; ++j) of_store<T>(S, &packet, j, values[k * kLength + j]);
      reinterpret_cast<Packet*>(data)[first / kLength + k * OF_ITEMS] = packet;
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < count; ++j) {
    const int64_t at = first + j / kLength * OF_ITEMS * kLength + j % kLength;
    if (at < end) of_store<T>(S, data, at, values[j]);
  }
}

#define OF_EACH(j, S, first, count) _Pragma("unroll") for (int j = 0; j < OF_RUN(S); ++j)
#define OF_LOAD_RUN(T, S, storage, name, first, count)                                   \
  T name##_values[OF_RUN(S)];                                                            \
  of_load_run<T, storage, of_packets<S>>(name##_values, name, name##_dtype, name##_step, \
                                         static_cast<T>(name##_number), first, count);
#define OF_RUN_VALUE(storage, name, first, j) name##_values[j]
#define OF_RESULT_RUN(T, S, result) T result##_values[OF_RUN(S)];
#define OF_PUT(storage, result, first, j, value) result##_values[j] = value
#define OF_STORE_RUN(T, S, storage, result, first, count) \
  of_store_run<T, storage, of_packets<S>>(result, result##_dtype, first, count, result##_values);

// Elements of a work-item of a strided kernel: several loads are in flight. For any storage it is one element, because
// each load branches on the dtype.
#define OF_STRIDED_RUN(S) ((S) == OF_ANY ? 1 : 4)

// Returns the packet of the elements from `first` on, `stride` apart; null if they are not one packet.
template <class Packet, int S>
OF_DEVICE Packet* of_packet_at(const void* data, int64_t first, int64_t stride) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(data) + first * of_item_size(S);
  return stride == 1 && address % sizeof(Packet) == 0 ? reinterpret_cast<Packet*>(address) : nullptr;
}

// Loads the elements at the offsets `at`. `stride` is the distance between neighbours, 0 if there is none. Elements of
// the launch are `step` apart, and those from `end` on are left alone.
template <class T, int S, int count>
OF_DEVICE void of_load_strided(T (&values)[count], const void* data, int dtype, T number, const int64_t (&at)[count],
                               int64_t stride, uint32_t first, uint32_t step, uint32_t end) {
  if constexpr (count > 1) {
    const auto* packet = of_packet_at<of_packet<count * of_item_size(S)>, S>(data, at[0], stride);
    if (data != nullptr && packet != nullptr) {
      const auto loaded = *packet;
#pragma unroll
      for (int k = 0; k < count; ++k) values[k] = of_load<T>(S, &loaded, k);
      return;
    }
  }
#pragma unroll
  for (int k = 0; k < count; ++k) {
    if (k > 0 && first + k * step >= end) break;
    values[k] = data != nullptr ? of_load<T>(OF_DTYPE(S, dtype), data, at[k]) : number;
  }
}

template <class T, int S, int count>
OF_DEVICE void of_store_strided(void* data, int dtype, const int64_t (&at)[count], int64_t stride, uint32_t first,
                                uint32_t step, uint32_t end, const T (&values)[count]) {
  if constexpr (count > 1) {
    using Packet = of_packet<count * of_item_size(S)>;
    if (Packet* const packet = of_packet_at<Packet, S>(data, at[0], stride); packet != nullptr) {
      Packet stored;
#pragma unroll
      for (int k = 0; k < count; ++k) of_store<T>(S, &stored, k, values[k]);
      *packet = stored;
      return;
    }
  }
#pragma unroll
  for (int k = 0; k < count; ++k) {
    if (k > 0 && first + k * step >= end) break;
    of_store<T>(OF_DTYPE(S, dtype), data, at[k], values[k]);
  }
}

#define OF_LOAD_STRIDED(T, S, name, first, step, count)                                              \
  of_load_strided<T, S>(name##_values, name, name##_dtype, static_cast<T>(name##_number), name##_at, \
                        step == 1 ? name##_strides.dims[0] : 0, first, step, count);
#define OF_STORE_STRIDED(T, S, name, first, step, count)                                                            \
  of_store_strided<T, S>(name, name##_dtype, name##_at, step == 1 ? name##_strides.dims[0] : 0, first, step, count, \
                         name##_values);

#endif

#endif  // ONEFLOW_DEVICES_GRID_KERNELS_RUNS_H_
