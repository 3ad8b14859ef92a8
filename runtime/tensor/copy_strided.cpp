#include "tensor/copy_strided.h"

#include <cstring>

#include "base/error.h"

namespace oneflow {
namespace {

// Copies a row of elements of `kBytes` bytes each. With a fixed size, each copy compiles to a single move.
template <int kBytes>
void copy_row(char* destination, int64_t destination_stride, const char* source, int64_t source_stride, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(destination + i * destination_stride * kBytes, source + i * source_stride * kBytes, kBytes);
}

using CopyRow = void (*)(char*, int64_t, const char*, int64_t, int64_t);

CopyRow row_function(int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return copy_row<1>;
    case 2:
      return copy_row<2>;
    case 4:
      return copy_row<4>;
    case 8:
      return copy_row<8>;
    case 16:
      return copy_row<16>;
  }
  fail(OF_INTERNAL_ERROR, "elements of %ld bytes cannot be copied", element_bytes);
}

}  // namespace

void copy_strided(void* destination, Sizes destination_strides, const void* source, Sizes source_strides, Sizes sizes,
                  int64_t element_bytes) {
  auto* to = static_cast<char*>(destination);
  const auto* from = static_cast<const char*>(source);
  const int rank = static_cast<int>(sizes.size());
  for (const int64_t size : sizes)
    if (size == 0) return;
  if (rank == 0) {
    std::memcpy(to, from, element_bytes);
    return;
  }
  const int last = rank - 1;
  const bool is_block = destination_strides[last] == 1 && source_strides[last] == 1;
  const CopyRow copy = row_function(element_bytes);

  // Iterates over the outer dimensions in row-major order.
  int64_t position[OF_MAX_RANK] = {};
  while (true) {
    if (is_block)
      std::memcpy(to, from, sizes[last] * element_bytes);
    else
      copy(to, destination_strides[last], from, source_strides[last], sizes[last]);
    int d = last - 1;
    for (; d >= 0; --d) {
      to += destination_strides[d] * element_bytes;
      from += source_strides[d] * element_bytes;
      if (++position[d] < sizes[d]) break;
      to -= sizes[d] * destination_strides[d] * element_bytes;
      from -= sizes[d] * source_strides[d] * element_bytes;
      position[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace oneflow
