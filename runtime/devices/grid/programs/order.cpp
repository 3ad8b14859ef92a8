// sort, topk and randperm: keys are sorted together with their original positions.
#include <algorithm>

#include "../merged.h"
#include "../native.h"
#include "../sorting.h"
#include "../space.h"
#include "kernels.h"

namespace oneflow::grid {
namespace {

#include OF_PROGRAM(order)

const Variants keys_kernel = OF_KERNELS(int64_t, order_keys);
const Variants random_keys_kernel = OF_KERNELS(int64_t, order_random_keys);
const Variants runs_kernel = OF_KERNELS(int64_t, order_runs);
const Variants merge_kernel = OF_KERNELS(int64_t, order_merge);
const Variants results_kernel = OF_KERNELS(int64_t, order_results);
const Variants positions_kernel = OF_KERNELS(int64_t, order_positions);

constexpr uint32_t kItems = 256;
constexpr int64_t kRun = 16;       // keys that one work-item sorts by insertion
constexpr int64_t kLongRun = 512;  // the most keys, where it keeps only a few of them

of_status launch_items(const of_kernel_context& context, const Variants& kernel, int64_t count, uint32_t items,
                       const Arguments& arguments) {
  return launch(context, kernel.of(kAny), {.groups = groups_for(count, items), .items = items}, arguments);
}

// Calls with_lines(first, count) for successive groups of lines that take less than 2^31 items together.
template <class Do>
of_status for_lines(int64_t lines, int64_t items_of_each, Do with_lines) {
  const int64_t most = std::max<int64_t>(1, INT32_MAX / items_of_each);
  of_status status = OF_OK;
  for (int64_t first = 0; first < lines && status == OF_OK; first += most)
    status = with_lines(first, std::min(most, lines - first));
  return status;
}

// Returns the number of keys in a run. Where only a few are kept, runs are longer, as most keys cost one comparison.
int64_t run_for(const Sorting& sorting) {
  return sorting.kept < sorting.length ? std::clamp(kRun * sorting.kept, kRun, kLongRun) : kRun;
}

of_status sort_runs(const of_kernel_context& context, const Sorting& sorting) {
  const auto run = static_cast<uint32_t>(run_for(sorting));
  const auto runs = static_cast<uint32_t>(divide_up(sorting.length, run));
  return for_lines(sorting.lines, runs, [&](int64_t first, int64_t lines) {
    const auto count = static_cast<uint32_t>(lines * runs);
    Arguments arguments;
    arguments.value(count);
    arguments.value(runs);
    arguments.value(run);
    arguments.value(sorting.length);
    arguments.value(sorting.kept);
    arguments.pointer(sorting.keys(sorting.current) + first * sorting.length);
    arguments.pointer(sorting.positions(sorting.current) + first * sorting.length);
    return launch_items(context, runs_kernel, count, kItems, arguments);
  });
}

of_status merge_runs(const of_kernel_context& context, const Sorting& sorting, int64_t width) {
  const Run run = flat_run(context.device, sizeof(uint64_t));
  const auto part = static_cast<uint32_t>(std::max<int64_t>(kRun, run.length));
  const auto pairs = static_cast<uint32_t>(divide_up(sorting.length, 2 * width));
  const int64_t longest = std::min({2 * width, sorting.kept, sorting.length});
  const auto parts = static_cast<uint32_t>(divide_up(longest, part));
  const int from = sorting.current, to = 1 - from;
  return for_lines(sorting.lines, int64_t{pairs} * parts, [&](int64_t first, int64_t lines) {
    const int64_t offset = first * sorting.length;
    const auto count = static_cast<uint32_t>(lines * pairs * parts);
    Arguments arguments;
    arguments.value(count);
    arguments.value(pairs);
    arguments.value(parts);
    arguments.value(part);
    arguments.value(sorting.length);
    arguments.value(width);
    arguments.value(sorting.kept);
    arguments.pointer(sorting.keys(from) + offset);
    arguments.pointer(sorting.positions(from) + offset);
    arguments.pointer(sorting.keys(to) + offset);
    arguments.pointer(sorting.positions(to) + offset);
    return launch_items(context, merge_kernel, count, run.items, arguments);
  });
}

uint32_t key_bits(of_dtype dtype) { return dtype == OF_BOOL ? 1 : 8 * item_size(dtype); }

of_status make_keys(const of_kernel_context& context, int32_t dim, bool descending, uint64_t* keys) {
  const of_kernel_tensor& input = context.inputs[0];
  Merged<1> merged;
  for (int32_t d = 0; d < input.rank; ++d) {
    if (d != dim) merged.add(input.sizes[d], {input.strides[d]});
  }
  merged.add(input.sizes[dim], {input.strides[dim]});
  const int32_t dtype = input.dtype;
  const uint64_t mask = descending ? ~uint64_t{0} >> (64 - key_bits(input.dtype)) : 0;
  Pieces pieces(merged.rank(), merged.sizes());
  of_status status = OF_OK;
  do {
    const of_space& space = pieces.space();
    const of_strides strides = pieces.strides(merged.strides(0));
    Arguments arguments;
    arguments.value(space);
    arguments.pointer(keys);
    arguments.pointer(static_cast<const char*>(input.data) + pieces.offset(merged.strides(0)) * item_size(input.dtype));
    arguments.value(strides);
    arguments.value(dtype);
    arguments.value(mask);
    status = launch_items(context, keys_kernel, space.count, kItems, arguments);
    keys += space.count;
  } while (status == OF_OK && pieces.next());
  return status;
}

of_status write_results(const of_kernel_context& context, int32_t dim, const Sorting& sorted) {
  const of_kernel_tensor& input = context.inputs[0];
  const of_kernel_tensor &values = context.outputs[0], &indices = context.outputs[1];
  enum { kValues, kIndices, kInput, kPositions };
  Merged<4> merged;
  int64_t lines = sorted.lines;
  for (int32_t d = 0; d < input.rank; ++d) {
    if (d == dim) continue;
    lines /= input.sizes[d];
    merged.add(input.sizes[d], {values.strides[d], indices.strides[d], input.strides[d], lines * sorted.length});
  }
  merged.add(sorted.kept, {values.strides[dim], indices.strides[dim], 0, 1});

  const auto bytes = static_cast<int32_t>(item_size(input.dtype));
  const int64_t input_stride = input.strides[dim];
  Pieces pieces(merged.rank(), merged.sizes());
  of_status status = OF_OK;
  do {
    const of_space& space = pieces.space();
    const of_strides value_strides = pieces.strides(merged.strides(kValues));
    const of_strides index_strides = pieces.strides(merged.strides(kIndices));
    const of_strides input_strides = pieces.strides(merged.strides(kInput));
    const of_strides position_strides = pieces.strides(merged.strides(kPositions));
    Arguments arguments;
    arguments.value(space);
    arguments.value(bytes);
    arguments.pointer(static_cast<char*>(values.data) + pieces.offset(merged.strides(kValues)) * bytes);
    arguments.value(value_strides);
    arguments.pointer(static_cast<int64_t*>(indices.data) + pieces.offset(merged.strides(kIndices)));
    arguments.value(index_strides);
    arguments.pointer(static_cast<const char*>(input.data) + pieces.offset(merged.strides(kInput)) * bytes);
    arguments.value(input_strides);
    arguments.value(input_stride);
    arguments.pointer(sorted.positions() + pieces.offset(merged.strides(kPositions)));
    arguments.value(position_strides);
    status = launch_items(context, results_kernel, space.count, kItems, arguments);
  } while (status == OF_OK && pieces.next());
  return status;
}

// Sorts each line along a dimension, and writes as many of its first elements as the results hold.
of_status order(const of_kernel_context& context, int32_t dim, bool descending) {
  const of_kernel_tensor& input = context.inputs[0];
  const int64_t length = input.sizes[dim], kept = context.outputs[0].sizes[dim];
  if (length > Sorting::kLongest) return fail(OF_UNSUPPORTED, "the lines to sort are too long");
  Sorting sorting(context, element_count(input) / length, length, kept, static_cast<int>(key_bits(input.dtype)));
  of_status status = sorting.allocate();
  if (status == OF_OK) status = make_keys(context, dim, descending, sorting.keys(0));
  if (status == OF_OK) status = sort_lines(context, sorting);
  return status == OF_OK ? write_results(context, dim, sorting) : status;
}

}  // namespace

Sorting::Sorting(const of_kernel_context& context, int64_t lines, int64_t length, int64_t kept, int key_bits)
    : lines(lines),
      length(length),
      kept(kept),
      key_bits(key_bits),
      keys_{Scratch(context), Scratch(context)},
      positions_{Scratch(context), Scratch(context)} {}

of_status Sorting::allocate() {
  const auto count = static_cast<uint64_t>(lines * length);
  of_status status = OF_OK;
  for (int i = 0; i < 2 && status == OF_OK; ++i) {
    status = keys_[i].allocate(count * sizeof(uint64_t));
    if (status == OF_OK) status = positions_[i].allocate(count * sizeof(uint32_t));
  }
  return status;
}

of_status merge_sort(const of_kernel_context& context, Sorting& sorting) {
  of_status status = sort_runs(context, sorting);
  for (int64_t width = run_for(sorting); width < sorting.length && status == OF_OK; width *= 2) {
    status = merge_runs(context, sorting, width);
    sorting.current = 1 - sorting.current;
  }
  return status;
}

of_status sort(const of_kernel_context* context) {
  return order(*context, static_cast<int32_t>(context->arguments[1].as.integer), context->arguments[2].as.boolean);
}

of_status topk(const of_kernel_context* context) {
  return order(*context, static_cast<int32_t>(context->arguments[2].as.integer), context->arguments[3].as.boolean);
}

// Sorts random numbers; their original positions are the permutation.
of_status randperm(const of_kernel_context* call) {
  const of_kernel_context& context = *call;
  const of_kernel_tensor& result = context.outputs[0];
  const int64_t length = result.sizes[0];
  if (length > Sorting::kLongest) return fail(OF_UNSUPPORTED, "the permutation is too long");
  const auto count = static_cast<uint32_t>(length);
  Sorting sorting(context, 1, length, length, 64);
  if (const of_status status = sorting.allocate(); status != OF_OK) return status;
  Arguments keys;
  keys.value(count);
  keys.pointer(sorting.keys(0));
  keys.value(context.seed);
  keys.value(context.offset);
  of_status status = launch_items(context, random_keys_kernel, count, kItems, keys);
  if (status == OF_OK) status = sort_lines(context, sorting);
  if (status != OF_OK) return status;
  const int32_t dtype = result.dtype;
  Arguments positions;
  positions.value(count);
  positions.pointer(result.data);
  positions.value(result.strides[0]);
  positions.value(dtype);
  positions.pointer(sorting.positions());
  return launch_items(context, positions_kernel, count, kItems, positions);
}

}  // namespace oneflow::grid
