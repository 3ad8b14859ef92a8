// Sorts lines of keys by one radix sort of CUB for all lines, with the index of the line above the bits of each key.
// CUB's segmented sort is not used, because it waits for the device to read the lengths of segments.
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "../grid/sorting.h"
#include "device.h"

namespace oneflow::grid {
namespace {

constexpr uint32_t kItems = 256;
constexpr int64_t kShortLine = 64;  // the longest line that merge_sort() sorts with two merges after the insertion sort

// Inserts the index of the line above the bits of each key, and sets the position of the key in its line.
__global__ void number_keys(uint64_t* keys, uint32_t* positions, int64_t count, int64_t length, int key_bits) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const int64_t line = i / length;
    if (line > 0) keys[i] |= static_cast<uint64_t>(line) << key_bits;
    positions[i] = static_cast<uint32_t>(i - line * length);
  }
}

of_status radix_sort(const of_kernel_context& context, Sorting& sorting, int bits) {
  const cuda::OnDevice on(context.device);
  if (on.status() != OF_OK) return on.status();
  const cudaStream_t queue = cuda::stream_of(context.stream).queue;
  const int64_t count = sorting.lines * sorting.length;
  const int from = sorting.current;
  const int64_t groups = grid::divide_up(count, kItems);
  number_keys<<<static_cast<uint32_t>(groups < INT32_MAX ? groups : INT32_MAX), kItems, 0, queue>>>(
      sorting.keys(from), sorting.positions(from), count, sorting.length, sorting.key_bits);
  of_status status = cuda::check(context.device, cudaGetLastError(), "sort");
  if (status != OF_OK) return status;

  cub::DoubleBuffer<uint64_t> keys(sorting.keys(from), sorting.keys(1 - from));
  cub::DoubleBuffer<uint32_t> positions(sorting.positions(from), sorting.positions(1 - from));
  // Called without memory, it returns the number of bytes that it needs.
  const auto sort = [&](void* memory, size_t& bytes) {
    return cuda::check(context.device,
                       cub::DeviceRadixSort::SortPairs(memory, bytes, keys, positions, count, 0, bits, queue), "sort");
  };
  size_t bytes = 0;
  Scratch memory(context);
  status = sort(nullptr, bytes);
  if (status == OF_OK) status = memory.allocate(bytes);
  if (status == OF_OK) status = sort(memory.data(), bytes);
  if (keys.Current() != sorting.keys(from)) sorting.current = 1 - from;
  return status;
}

}  // namespace

of_status sort_lines(const of_kernel_context& context, Sorting& sorting) {
  const int bits = sorting.key_bits + std::bit_width(static_cast<uint64_t>(sorting.lines - 1));
  const bool has_short_lines = sorting.lines > 1 && sorting.length <= kShortLine;
  return bits > 64 || has_short_lines ? merge_sort(context, sorting) : radix_sort(context, sorting, bits);
}

}  // namespace oneflow::grid
