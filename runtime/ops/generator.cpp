#include "ops/generator.h"

#include "dispatch/launch.h"

namespace oneflow {

void run_generator(Call& call) {
  const auto& rule = rule_of<GeneratorRule>(call.schema());
  const DTypes dtypes = resolve_dtypes(call);
  const int variant = match_variant(call);
  const Shape computed = rule.sizes ? rule.sizes(SizeBody(call)) : Shape();
  const Sizes sizes = rule.sizes ? Sizes(computed) : call.integers(rule.size_argument);

  Tensor& output = prepare_result(call, 0, sizes, dtypes.results[0], Aliasing::kAllowed);
  if (call.infer_only || output.count() == 0) return;
  RandomState random{};
  if (rule.is_random) random = draw(call, static_cast<uint64_t>(output.count()));
  of_kernel_tensor outputs[] = {kernel_output(output)};
  launch(call, {.variant = variant,
                .compute = dtypes.compute,
                .inputs = {},
                .outputs = outputs,
                .seed = random.seed,
                .offset = random.offset});
}

}  // namespace oneflow
