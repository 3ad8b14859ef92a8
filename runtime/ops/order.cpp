// Native operators that sort or permute elements.
#include "dispatch/launch.h"
#include "ops/native.h"
#include "ops/program_functions.h"

namespace oneflow::native {

namespace {

// Runs a kernel with two results of shape `sizes`: the ordered values, and their indices in the input.
void order(Call& call, const Shape& sizes) {
  const DTypes dtypes = resolve_dtypes(call);
  const Tensor& input = call.tensor(0);
  const Tensor& values = prepare_exact_result(call, 0, sizes, dtypes.results[0]);
  const Tensor& positions = prepare_exact_result(call, 1, sizes, dtypes.results[1]);
  if (call.infer_only || values.count() == 0) return;
  of_kernel_tensor outputs[] = {with_a_dimension(kernel_output(values)), with_a_dimension(kernel_output(positions))};
  of_kernel_tensor inputs[] = {with_a_dimension(kernel_input(input))};
  launch(call, {.compute = dtypes.compute, .inputs = inputs, .outputs = outputs});
}

// Checks that a dtype can represent all integers below n.
void check_holds_below(int64_t n, of_dtype dtype) {
  const int64_t last = n - 1;
  const bool holds = is_floating(dtype) ? static_cast<double>(last) <= 2 / epsilon(dtype) : fits(last, dtype);
  if (n > 0 && !holds)
    fail(OF_INVALID_ARGUMENT, "the integers up to %lld must fit into %s", static_cast<long long>(last),
         dtype_name(dtype));
}

}  // namespace

void sort(Call& call) { order(call, call.tensor(0).sizes()); }

void topk(Call& call) {
  const Tensor& input = call.tensor(0);
  const int64_t k = call.integer(1);
  const int dim = static_cast<int>(call.integer(2));
  const int64_t size = input.rank() == 0 ? 1 : input.size(dim);
  if (k > size)
    fail(OF_SHAPE_ERROR, "k must be at most %lld, the size of dimension %d, got %lld", static_cast<long long>(size),
         dim, static_cast<long long>(k));
  Shape sizes = input.sizes();
  if (!sizes.empty())
    sizes[dim] = k;
  else if (k == 0)
    sizes.push_back(0);
  order(call, sizes);
}

void randperm(Call& call) {
  const DTypes dtypes = resolve_dtypes(call);
  const int64_t n = call.integer(0);
  check_holds_below(n, dtypes.results[0]);
  const Tensor& result = prepare_exact_result(call, 0, Shape{n}, dtypes.results[0]);
  if (call.infer_only || n == 0) return;
  const RandomState random = draw(call, 3, static_cast<uint64_t>(n));
  of_kernel_tensor outputs[] = {kernel_output(result)};
  launch(call,
         {.compute = dtypes.compute, .inputs = {}, .outputs = outputs, .seed = random.seed, .offset = random.offset});
}

}  // namespace oneflow::native
