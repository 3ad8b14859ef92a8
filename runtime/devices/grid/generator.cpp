// Runs generator kernels: each element is a function of its index in the logical tensor.
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
  const int64_t row_length = result.rank == 0 ? 1 : result.sizes[result.rank - 1];
  const uint32_t kept = kept_bits(result.dtype);
  const int32_t dtype = result.dtype;
  const uint64_t op = reinterpret_cast<uintptr_t>(context.op);
  of_report* const errors = entry.fails ? report(context) : nullptr;
  if (entry.fails && errors == nullptr) return OF_OUT_OF_MEMORY;

  int64_t first = 0;
  Pieces pieces(result.rank, result.sizes);
  of_status status = OF_OK;
  do {
    const of_space& space = pieces.space();
    const of_strides strides = pieces.strides(result.strides);
    Arguments arguments;
    arguments.value(space);
    arguments.value(first);
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
    first += space.count;
  } while (status == OF_OK && pieces.next());
  return status;
}

}  // namespace oneflow::grid
