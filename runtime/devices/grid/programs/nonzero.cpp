// nonzero: the coordinates of all nonzero elements, in row-major order.
#include <algorithm>

#include "../merged.h"
#include "../native.h"
#include "../space.h"
#include "kernels.h"

namespace oneflow::grid {
namespace {

#include OF_PROGRAM(nonzero)

const Variants count_kernel = OF_KERNELS(bool, nonzero_count);
const Variants sum_kernel = OF_KERNELS(bool, nonzero_sum);
const Variants scan_kernel = OF_KERNELS(bool, nonzero_scan);
const Variants write_kernel = OF_KERNELS(bool, nonzero_write);

constexpr uint32_t kItems = 256;
constexpr uint32_t kGroup = 256;       // numbers that one work-item adds up
constexpr int64_t kLeastSegment = 32;  // elements that one work-item tests

of_status launch_items(const of_kernel_context& context, const Variants& kernel, int64_t count, uint32_t items,
                       const Arguments& arguments) {
  return launch(context, kernel.of(kAny), {.groups = groups_for(count, items), .items = items}, arguments);
}

// Replaces each number by the sum of all numbers before it (an exclusive scan). The memory after the numbers is for the
// sums of groups, for the sums of groups of these, and so on: room_for(count) numbers in all.
of_status scan(const of_kernel_context& context, int64_t* numbers, int64_t count) {
  const int64_t groups = divide_up(count, kGroup);
  int64_t* sums = groups > 1 ? numbers + count : nullptr;
  if (sums != nullptr) {
    Arguments arguments;
    arguments.value(count);
    arguments.value(kGroup);
    arguments.pointer(numbers);
    arguments.pointer(sums);
    of_status status = launch_items(context, sum_kernel, groups, kItems, arguments);
    if (status == OF_OK) status = scan(context, sums, groups);
    if (status != OF_OK) return status;
  }
  Arguments arguments;
  arguments.value(count);
  arguments.value(kGroup);
  arguments.pointer(numbers);
  arguments.pointer(sums);
  return launch_items(context, scan_kernel, groups, kItems, arguments);
}

// Returns how many numbers the memory of a scan of `count` numbers must hold.
int64_t room_for(int64_t count) {
  int64_t room = count;
  for (; count > 1; room += count) count = divide_up(count, kGroup);
  return room;
}

}  // namespace

of_status nonzero(const of_kernel_context* call) {
  const of_kernel_context& context = *call;
  const of_kernel_tensor &input = context.inputs[0], &result = context.outputs[0];
  const Run run = flat_run(context.device, item_size(input.dtype));
  const auto segment = static_cast<uint32_t>(std::max(kLeastSegment, run.length));
  Merged<1> merged;
  of_sizes shape{};
  shape.rank = input.rank;
  for (int32_t d = 0; d < input.rank; ++d) {
    merged.add(input.sizes[d], {input.strides[d]});
    shape.dims[d] = input.sizes[d];
  }

  // Calls with_piece(arguments, items, first) for each piece of the input, which takes `items` work-items and follows
  // `first` elements.
  const auto for_each_piece = [&](int64_t* counts, auto with_piece) {
    Pieces pieces(merged.rank(), merged.sizes());
    int64_t first = 0;
    of_status status = OF_OK;
    do {
      const of_space& space = pieces.space();
      const of_strides strides = pieces.strides(merged.strides(0));
      const int64_t offset = pieces.offset(merged.strides(0)) * item_size(input.dtype);
      const int32_t dtype = input.dtype;
      Arguments arguments;
      arguments.value(space);
      arguments.pointer(static_cast<const char*>(input.data) + offset);
      arguments.value(strides);
      arguments.value(dtype);
      arguments.value(segment);
      arguments.pointer(counts);
      const int64_t items = divide_up(space.count, segment);
      status = with_piece(arguments, items, first);
      counts += items;
      first += space.count;
    } while (status == OF_OK && pieces.next());
    return status;
  };

  int64_t segments = 0;
  for (Pieces pieces(merged.rank(), merged.sizes());;) {
    segments += divide_up(pieces.space().count, segment);
    if (!pieces.next()) break;
  }
  Scratch memory(context);
  of_status status = memory.allocate(static_cast<uint64_t>(room_for(segments)) * sizeof(int64_t));
  if (status != OF_OK) return status;
  auto* const counts = static_cast<int64_t*>(memory.data());

  status = for_each_piece(counts, [&](Arguments& arguments, int64_t items, int64_t) {
    return launch_items(context, count_kernel, items, run.items, arguments);
  });
  if (status == OF_OK) status = scan(context, counts, segments);
  if (status != OF_OK) return status;
  return for_each_piece(counts, [&](Arguments& arguments, int64_t items, int64_t first) {
    arguments.value(first);
    arguments.value(shape);
    arguments.pointer(result.data);
    arguments.value(result.sizes[0]);
    arguments.value(result.strides[0]);
    arguments.value(result.strides[1]);
    return launch_items(context, write_kernel, items, run.items, arguments);
  });
}

}  // namespace oneflow::grid
