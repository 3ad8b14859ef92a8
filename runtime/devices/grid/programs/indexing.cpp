// index and index_put_: reads from and writes to the elements that index tensors select.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "../merged.h"
#include "../native.h"
#include "../sorting.h"
#include "../space.h"
#include "kernels.h"

namespace oneflow::grid {
namespace {

#include OF_PROGRAM(indexing)

const Variants offsets_kernel = OF_KERNELS(int64_t, index_offsets);
const Variants elements_kernel = OF_KERNELS(int64_t, index_elements);
const Variants sources_kernel = OF_KERNELS(int64_t, index_sources);
const Variants put_kernel = OF_KERNELS(int64_t, index_put_elements);
const Variants add_kernels[] = {OF_KERNELS(int64_t, index_add_elements), OF_KERNELS(float, index_add_elements),
                                OF_KERNELS(double, index_add_elements)};

constexpr uint32_t kItems = 256;

of_status launch_over(const of_kernel_context& context, const Variants& kernel, const of_space& space,
                      const Arguments& arguments) {
  return launch(context, kernel.of(kAny), {.groups = groups_for(space.count, kItems), .items = kItems}, arguments);
}

// Calls with_piece(pieces, first) for each piece of a space, which follows `first` elements.
template <class Do>
of_status for_each_piece(int32_t rank, const int64_t* sizes, Do with_piece) {
  Pieces pieces(rank, sizes);
  of_status status = OF_OK;
  int64_t first = 0;
  do {
    status = with_piece(pieces, first);
    first += pieces.space().count;
  } while (status == OF_OK && pieces.next());
  return status;
}

// The offsets of the elements that index tensors select in a tensor, whose first dimensions they index.
class IndexedOffsets {
 public:
  // `index_count` index tensors follow the tensor among the inputs.
  IndexedOffsets(const of_kernel_context& context, int32_t index_count)
      : context_(context), tensor_(context.inputs[0]), index_count_(index_count) {
    if (index_count > 0) index_rank_ = context.inputs[1].rank;
    count_ = index_count > 0 ? element_count(context.inputs[1]) : 1;
    count_in(1);
  }

  // Sets the unit of the offsets, in elements.
  void count_in(int64_t elements) {
    unit_ = elements;
    lowest_ = 0;
    int64_t span = 0;
    for (int32_t k = 0; k < index_count_; ++k) {
      const int64_t last = tensor_.strides[k] / unit_ * (tensor_.sizes[k] - 1);
      lowest_ += std::min<int64_t>(last, 0);
      span += std::abs(last);
    }
    bits_ = std::bit_width(static_cast<uint64_t>(span) + 1);
  }

  // Launches the kernels that compute the offsets, into memory for count() of them.
  of_status locate(int64_t* offsets) const {
    of_report* const errors = report(context_);
    if (errors == nullptr) return OF_OUT_OF_MEMORY;
    if (index_count_ == 0) return add(offsets, of_kernel_tensor{}, 0, errors);
    of_status status = OF_OK;
    for (int32_t k = 0; k < index_count_ && status == OF_OK; ++k)
      status = add(offsets, context_.inputs[1 + k], k, errors);
    return status;
  }

  int64_t count() const { return count_; }
  // Returns the offset of the lowest element, which the offsets are relative to.
  int64_t lowest() const { return lowest_; }
  // Returns the number of bits of an offset. All of them are set in none(), the offset of an index out of range.
  int bits() const { return bits_; }
  int64_t none() const { return static_cast<int64_t>((uint64_t{1} << bits_) - 1); }
  int32_t index_rank() const { return index_rank_; }

 private:
  // Adds the contribution of index tensor k to the offsets.
  of_status add(int64_t* offsets, const of_kernel_tensor& index, int32_t k, of_report* errors) const {
    Merged<1> merged;
    for (int32_t d = 0; d < index_rank_; ++d) merged.add(index.sizes[d], {index.strides[d]});
    const bool is_given = index.data != nullptr;
    const int32_t dtype = index.dtype, is_first = k == 0;
    const int64_t size = is_given ? tensor_.sizes[k] : 1, stride = is_given ? tensor_.strides[k] / unit_ : 0;
    const auto dim = static_cast<int32_t>(is_given ? context_.arguments[1].as.integers[k] : 0);
    const uint64_t op = reinterpret_cast<uintptr_t>(context_.op);
    const int64_t begin = -lowest_, outside = none();
    return for_each_piece(merged.rank(), merged.sizes(), [&](const Pieces& pieces, int64_t first) {
      const of_space& space = pieces.space();
      const of_strides strides = pieces.strides(merged.strides(0));
      const int64_t offset = pieces.offset(merged.strides(0)) * item_size(index.dtype);
      Arguments arguments;
      arguments.value(space);
      arguments.pointer(offsets + first);
      arguments.pointer(is_given ? static_cast<const char*>(index.data) + offset : nullptr);
      arguments.value(strides);
      arguments.value(dtype);
      arguments.value(size);
      arguments.value(stride);
      arguments.value(dim);
      arguments.value(is_first);
      arguments.value(begin);
      arguments.value(outside);
      arguments.pointer(errors);
      arguments.value(op);
      return launch_over(context_, offsets_kernel, space, arguments);
    });
  }

  const of_kernel_context& context_;
  const of_kernel_tensor& tensor_;
  const int32_t index_count_;
  int32_t index_rank_ = 0;
  int64_t count_;
  int64_t unit_, lowest_;
  int bits_;
};

char* at(const of_kernel_tensor& tensor, int64_t offset) {
  return static_cast<char*>(tensor.data) + offset * item_size(tensor.dtype);
}

// The positions at which the values for the offsets begin: a constant stride apart, or else at computed offsets.
class Sources {
 public:
  Sources(const of_kernel_context& context, const IndexedOffsets& targets)
      : context_(context), values_(context.inputs[context.input_count - 1]), memory_(context), count_(targets.count()) {
    for (int32_t d = 0; d < targets.index_rank(); ++d) merged_.add(values_.sizes[d], {values_.strides[d]});
  }

  of_status locate() {
    if (merged_.rank() <= 1) return OF_OK;
    if (const of_status status = memory_.allocate(static_cast<uint64_t>(count_) * 8); status != OF_OK) return status;
    return for_each_piece(merged_.rank(), merged_.sizes(), [&](const Pieces& pieces, int64_t first) {
      const of_space& space = pieces.space();
      const of_strides strides = pieces.strides(merged_.strides(0));
      const int64_t offset = pieces.offset(merged_.strides(0));
      Arguments arguments;
      arguments.value(space);
      arguments.pointer(static_cast<int64_t*>(memory_.data()) + first);
      arguments.value(strides);
      arguments.value(offset);
      return launch_over(context_, sources_kernel, space, arguments);
    });
  }

  const of_kernel_tensor& values() const { return values_; }
  const void* offsets() const { return memory_.data(); }
  int64_t stride() const { return merged_.rank() == 1 ? merged_.strides(0)[0] : 0; }

 private:
  const of_kernel_context& context_;
  const of_kernel_tensor& values_;
  Scratch memory_;
  Merged<1> merged_;
  const int64_t count_;
};

// Returns the kernel that adds elements of a dtype.
const Variants& add_kernel(of_dtype dtype) {
  if (dtype == OF_FLOAT64) return add_kernels[2];
  return add_kernels[dtype == OF_FLOAT16 || dtype == OF_BFLOAT16 || dtype == OF_FLOAT32];
}

// Writes (or adds) the values to the sorted offsets of the target.
of_status put(const of_kernel_context& context, const IndexedOffsets& targets, const Sorting& sorted,
              const Sources& sources, bool adds) {
  const of_kernel_tensor &target = context.outputs[0], &values = sources.values();
  const int32_t index_count = context.input_count - 2;
  enum { kTarget, kValues, kOffsets };
  Merged<3> merged;
  merged.add_separate(targets.count(), {0, 0, 1});
  for (int32_t d = index_count; d < target.rank; ++d)
    merged.add(target.sizes[d], {target.strides[d], values.strides[d - index_count + targets.index_rank()], 0});

  const Variants& kernel = adds ? add_kernel(target.dtype) : put_kernel;
  const int32_t form = adds ? static_cast<int32_t>(target.dtype) : static_cast<int32_t>(item_size(target.dtype));
  const int64_t count = targets.count(), none = targets.none(), source_stride = sources.stride();
  return for_each_piece(merged.rank(), merged.sizes(), [&](const Pieces& pieces, int64_t) {
    const of_space& space = pieces.space();
    const of_strides target_strides = pieces.strides(merged.strides(kTarget));
    const of_strides value_strides = pieces.strides(merged.strides(kValues));
    const of_strides offset_strides = pieces.strides(merged.strides(kOffsets));
    const int64_t first = pieces.offset(merged.strides(kOffsets));
    Arguments arguments;
    arguments.value(space);
    arguments.value(form);
    arguments.pointer(at(target, targets.lowest() + pieces.offset(merged.strides(kTarget))));
    arguments.value(target_strides);
    arguments.pointer(at(values, pieces.offset(merged.strides(kValues))));
    arguments.value(value_strides);
    arguments.pointer(sorted.keys());
    arguments.pointer(sorted.positions());
    arguments.value(first);
    arguments.value(offset_strides);
    arguments.value(count);
    arguments.value(none);
    arguments.pointer(sources.offsets());
    arguments.value(source_stride);
    return launch_over(context, kernel, space, arguments);
  });
}

}  // namespace

of_status index(const of_kernel_context* call) {
  const of_kernel_context& context = *call;
  const of_kernel_tensor &input = context.inputs[0], &result = context.outputs[0];
  const int32_t index_count = context.input_count - 1;
  IndexedOffsets offsets(context, index_count);
  enum { kResult, kInput, kOffsets };
  Merged<3> merged;
  int64_t offset_stride = offsets.count();
  for (int32_t d = 0; d < offsets.index_rank(); ++d) {
    offset_stride /= result.sizes[d];
    merged.add(result.sizes[d], {result.strides[d], 0, offset_stride});
  }
  for (int32_t d = offsets.index_rank(); d < result.rank; ++d)
    merged.add(result.sizes[d], {result.strides[d], input.strides[d - offsets.index_rank() + index_count], 0});

  int64_t strides = 0;  // the bitwise or of the strides of the indexed dimensions
  for (int32_t k = 0; k < index_count; ++k) strides |= input.strides[k];
  const uintptr_t addresses = reinterpret_cast<uintptr_t>(result.data) | reinterpret_cast<uintptr_t>(input.data);
  const int64_t joined = merged.join(2, item_size(input.dtype), addresses, strides);
  const auto bytes = static_cast<int32_t>(item_size(input.dtype) * joined);
  offsets.count_in(joined);

  Scratch memory(context);
  if (const of_status status = memory.allocate(static_cast<uint64_t>(offsets.count()) * 8); status != OF_OK)
    return status;
  auto* const located = static_cast<int64_t*>(memory.data());
  if (const of_status status = offsets.locate(located); status != OF_OK) return status;

  const int64_t none = offsets.none();
  return for_each_piece(merged.rank(), merged.sizes(), [&](const Pieces& pieces, int64_t) {
    const of_space& space = pieces.space();
    const of_strides result_strides = pieces.strides(merged.strides(kResult));
    const of_strides input_strides = pieces.strides(merged.strides(kInput));
    const of_strides offset_strides = pieces.strides(merged.strides(kOffsets));
    const int64_t from = offsets.lowest() + pieces.offset(merged.strides(kInput));
    Arguments arguments;
    arguments.value(space);
    arguments.value(bytes);
    arguments.pointer(static_cast<char*>(result.data) + pieces.offset(merged.strides(kResult)) * bytes);
    arguments.value(result_strides);
    arguments.pointer(static_cast<const char*>(input.data) + from * bytes);
    arguments.value(input_strides);
    arguments.pointer(located + pieces.offset(merged.strides(kOffsets)));
    arguments.value(offset_strides);
    arguments.value(none);
    return launch_over(context, elements_kernel, space, arguments);
  });
}

// The sort of the offsets is stable, so that several values for one offset become neighbours and keep their order.
of_status index_put(const of_kernel_context* call) {
  constexpr int kAccumulate = 3;
  const of_kernel_context& context = *call;
  const IndexedOffsets offsets(context, context.input_count - 2);
  if (offsets.count() > Sorting::kLongest) return fail(OF_UNSUPPORTED, "too many indices");
  Sorting sorting(context, 1, offsets.count(), offsets.count(), offsets.bits());
  if (const of_status status = sorting.allocate(); status != OF_OK) return status;
  if (const of_status status = offsets.locate(reinterpret_cast<int64_t*>(sorting.keys(0))); status != OF_OK)
    return status;
  if (const of_status status = sort_lines(context, sorting); status != OF_OK) return status;
  Sources sources(context, offsets);
  if (const of_status status = sources.locate(); status != OF_OK) return status;
  return put(context, offsets, sorting, sources, context.arguments[kAccumulate].as.boolean);
}

}  // namespace oneflow::grid
