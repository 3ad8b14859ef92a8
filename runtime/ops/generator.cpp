#include "ops/generator.h"

#include "dispatch/launch.h"

namespace oneflow {

namespace {

// Returns the sizes of the part of the result that is computed. Throws ShapeError if the box is one of a tensor with
// other sizes than `sizes`, which follow from the arguments.
Sizes sizes_to_compute(const Call& call, Sizes sizes) {
  if (!call.box) return sizes;
  const auto rank = static_cast<size_t>(call.box->rank);
  const Sizes part{call.box->sizes, rank}, whole{call.box->whole_sizes, rank};
  const bool follows_tensor = !call.op.tensor_arguments().empty();
  if (const Sizes expected = follows_tensor ? part : whole; !same_sizes(expected, sizes))
    fail(OF_SHAPE_ERROR, "the arguments must be those of a tensor of shape %s, %s, got shape %s",
         to_text(expected).c_str(), follows_tensor ? "the box" : "of which the box is a part", to_text(sizes).c_str());
  return part;
}

// Returns how many numbers are drawn: one for each element of the whole result.
uint64_t numbers_of(const Call& call, const Tensor& output) {
  if (!call.box) return static_cast<uint64_t>(output.count());
  return static_cast<uint64_t>(count_elements({call.box->whole_sizes, static_cast<size_t>(call.box->rank)}));
}

}  // namespace

void run_generator(Call& call) {
  const auto& rule = rule_of<GeneratorRule>(call.schema());
  const DTypes dtypes = resolve_dtypes(call);
  const int variant = match_variant(call);
  const Shape computed = rule.sizes ? rule.sizes(SizeBody(call)) : Shape();
  const Sizes sizes = rule.sizes ? Sizes(computed) : call.integers(rule.size_argument);

  Tensor& output = prepare_result(call, 0, sizes_to_compute(call, sizes), dtypes.results[0], Aliasing::kAllowed);
  if (call.infer_only) return;
  RandomState random{};
  if (rule.generator_argument >= 0) random = draw(call, rule.generator_argument, numbers_of(call, output));
  if (output.count() == 0) return;
  of_kernel_tensor outputs[] = {kernel_output(output)};
  launch(call, {.variant = variant,
                .compute = dtypes.compute,
                .inputs = {},
                .outputs = outputs,
                .seed = random.seed,
                .offset = random.offset,
                .box = call.box});
}

}  // namespace oneflow
