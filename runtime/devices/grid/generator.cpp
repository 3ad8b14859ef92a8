// Runs generator kernels: each element is a function of its index in the whole tensor that the result is a box of.
#include "entries.h"
#include "space.h"

namespace oneflow::grid {
namespace {

constexpr uint32_t kItems = 256;

// Returns a mask of the bits of a random word that a floating-point dtype represents exactly, so that no number is
// rounded up to 1.
uint32_t kept_bits(of_dtype dtype) {
  const int digits = dtype == OF_FLOAT16 ? 11 : dtype == OF_BFLOAT16 ? 8 : 32;
  return ~uint32_t{0} << (32 - digits);
}

}  // namespace

of_status run(const Generator& entry, const GeneratorKernels& kernels, const of_kernel_context& context) {
  const of_kernel_tensor& result = context.outputs[0];
  if (element_count(result) == 0) return OF_OK;
  const Handle kernel = kernels.kernels.best(result.dtype);
  const Settings settings(entry.settings, kernels.compute, context.arguments);
  const int64_t* const whole = context.whole_sizes != nullptr ? context.whole_sizes : result.sizes;
  const int64_t row_length = result.rank == 0 ? 1 : whole[result.rank - 1];
  int64_t whole_strides[OF_MAX_RANK];
  int64_t origin = 0;  // the linear index of the first element
  int64_t stride = 1;
  for (int32_t d = result.rank; d-- > 0; stride *= whole[d]) {
    whole_strides[d] = stride;
    if (context.origin != nullptr) origin += context.origin[d] * stride;
  }
  const uint32_t kept = kept_bits(result.dtype);
  const int32_t dtype = result.dtype;
  const uint64_t op = reinterpret_cast<uintptr_t>(context.op);
  of_report* const errors = entry.fails ? report(context) : nullptr;
  if (entry.fails && errors == nullptr) return OF_OUT_OF_MEMORY;

  Pieces pieces(result.rank, result.sizes);
  of_status status = OF_OK;
  do {
    const of_space& space = pieces.space();
    const of_strides strides = pieces.strides(result.strides);
    const of_strides index_strides = pieces.strides(whole_strides);
    const int64_t first = origin + pieces.offset(whole_strides);
    Arguments arguments;
    arguments.value(space);
    arguments.value(first);
    arguments.value(index_strides);
    arguments.pointer(static_cast<char*>(result.data) + pieces.offset(result.strides) * item_size(result.dtype));
    arguments.value(strides);
    arguments.value(dtype);
    if (entry.uses_rows) arguments.value(row_length);
    if (entry.is_random) {
      arguments.value(context.seed);
      arguments.value(context.offset);
      arguments.value(kept);
    }
    settings.add_to(arguments);
    if (entry.fails) {
      arguments.pointer(errors);
      arguments.value(op);
    }
    status = launch(context, kernel, {.groups = groups_for(space.count, kItems), .items = kItems}, arguments);
  } while (status == OF_OK && pieces.next());
  return status;
}

}  // namespace oneflow::grid
