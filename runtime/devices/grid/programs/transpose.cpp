// The kernel of programs/transpose.h.
#include "../transpose.h"

#include "../merged.h"
#include "../space.h"
#include "kernels.h"  // of the backend that this is compiled for

namespace oneflow::grid {
namespace {

#include OF_PROGRAM(transpose)

constexpr uint32_t kTile = 32, kItems = 256;  // as in programs/transpose.h
// Shorter dimensions leave most work-items of a tile without an element.
constexpr int64_t kShortest = 8;

Handle kernel_for(of_dtype dtype) {
  static const Variants bytes = OF_KERNEL_HANDLE(int32_t, OF_UINT8, transpose_tiles);
  static const Variants halves = OF_KERNEL_HANDLE(int32_t, OF_UINT16, transpose_tiles);
  static const Variants words = OF_KERNEL_HANDLE(int32_t, OF_INT32, transpose_tiles);
  static const Variants longs = OF_KERNEL_HANDLE(int64_t, OF_INT64, transpose_tiles);
  for (const Variants* variants : {&bytes, &halves, &words, &longs})
    if (const Handle found = variants->of(dtype); found != nullptr) return found;
  return nullptr;
}

// Returns the longest dimension in which the tensor is contiguous, or -1 if none is long enough for tiles.
int32_t contiguous_dim(const of_kernel_tensor& tensor) {
  int32_t found = -1;
  for (int32_t d = 0; d < tensor.rank; ++d) {
    const int64_t size = tensor.sizes[d];
    if (tensor.strides[d] != 1 || size < kShortest || size > INT32_MAX) continue;
    if (found < 0 || size > tensor.sizes[found]) found = d;
  }
  return found;
}

}  // namespace

of_status transpose(const of_kernel_tensor& input, const of_kernel_tensor& result, const of_kernel_context& context) {
  const Handle kernel = kernel_for(result.dtype);
  const int32_t row = contiguous_dim(result), column = contiguous_dim(input);
  if (strided_run(context.device).in_blocks || kernel == nullptr || row < 0 || column < 0 || row == column)
    return OF_UNSUPPORTED;
  Merged<2> merged;
  for (int32_t d = 0; d < result.rank; ++d) {
    if (d != row && d != column) merged.add(result.sizes[d], {result.strides[d], input.strides[d]});
  }
  const auto rows = static_cast<uint32_t>(result.sizes[row]), columns = static_cast<uint32_t>(result.sizes[column]);
  const int64_t tiles = divide_up(int64_t{rows}, kTile) * divide_up(int64_t{columns}, kTile);
  if (tiles > INT32_MAX) return OF_UNSUPPORTED;
  Pieces pieces(merged.rank(), merged.sizes(), {OF_GRID_RANK, INT32_MAX / tiles});
  const int64_t bytes = item_size(result.dtype);
  of_status status = OF_OK;
  do {
    const of_space& space = pieces.space();
    const of_strides result_strides = pieces.strides(merged.strides(0));
    const of_strides input_strides = pieces.strides(merged.strides(1));
    Arguments arguments;
    arguments.value(space);
    arguments.value(rows);
    arguments.value(columns);
    arguments.pointer(static_cast<char*>(result.data) + pieces.offset(merged.strides(0)) * bytes);
    arguments.value(result_strides);
    arguments.value(result.strides[column]);
    arguments.pointer(static_cast<const char*>(input.data) + pieces.offset(merged.strides(1)) * bytes);
    arguments.value(input_strides);
    arguments.value(input.strides[row]);
    const auto groups = static_cast<uint32_t>(space.count * tiles);
    status = launch(context, kernel, {.groups = groups, .items = kItems}, arguments);
  } while (status == OF_OK && pieces.next());
  return status;
}

}  // namespace oneflow::grid
