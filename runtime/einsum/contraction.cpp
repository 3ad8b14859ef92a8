#include "einsum/contraction.h"

#include <algorithm>
#include <memory_resource>

#include "dispatch/dispatch.h"
#include "dispatch/fallback.h"
#include "einsum/plan_cache.h"
#include "einsum/rules.h"
#include "einsum/sizes.h"
#include "tensor/complex.h"
#include "tensor/create.h"

namespace oneflow {

namespace {

using namespace einsum;

// Throws ShapeError unless the addend broadcasts to the shape of the result.
void check_addend(const Call& call, int argument, const Shape& shape) {
  const Sizes sizes = call.tensor(argument).sizes();
  const auto fits = [](int64_t size, int64_t result_size) { return size == 1 || size == result_size; };
  if (sizes.size() > shape.size() || !std::equal(sizes.begin(), sizes.end(), shape.end() - sizes.size(), fits))
    fail(OF_SHAPE_ERROR, "%s of shape %s does not broadcast to the result's %s", call.schema().arguments[argument].name,
         to_text(sizes).c_str(), to_text(shape).c_str());
}

// The operands of the stages of a call: the inputs, converted to the working dtype, and the results of earlier stages.
class Operands {
 public:
  Operands(const Call& call, const Plan& plan) : memory_(stack_, sizeof stack_), tensors_(&memory_) {
    static const OperatorName cast("cast");
    tensors_.reserve(plan.conversions.size() + plan.stages.size());
    const auto add = [&](const Tensor& tensor) {
      const of_dtype dtype = is_complex(tensor.dtype()) ? complex_dtype(plan.working) : plan.working;
      TensorRef operand = plan.conversions[tensors_.size()] ? Body(call).call(cast, tensor, dtype) : share(tensor);
      tensors_.push_back(is_complex(dtype) ? view_as_real(*operand) : std::move(operand));
    };
    for_each_input(call, add);
  }

  // Runs a stage that writes to `out`.
  void run(const Call& call, const Stage& stage, const Tensor& out) {
    // Each operand is used once, and is freed before the next stage allocates memory.
    const TensorRef a = std::move(tensors_[stage.a]);
    const TensorRef b = stage.a == stage.b ? TensorRef() : std::move(tensors_[stage.b]);
    run_stage(call, stage, out, *a, b.get());
  }
  // Runs a stage whose result becomes an operand of later stages.
  void run(const Call& call, const Stage& stage, of_dtype dtype) {
    TensorRef out = Tensor::allocate(sizes_of(stage.out), dtype, call.device);
    run(call, stage, *out);
    tensors_.push_back(std::move(out));
  }

 private:
  std::byte stack_[256];  // enough for calls of a few tensors
  std::pmr::monotonic_buffer_resource memory_;
  std::pmr::vector<TensorRef> tensors_;
};

// Calls run(stage) with the last stage, adapted to the strides of `target` if it is not contiguous.
template <class Run>
void run_last(const Plan& plan, const Tensor& target, Run&& run) {
  const Stage& last = plan.stages.back();
  if (target.is_contiguous()) return run(last);
  Layout out = lay_out(plan.output, target.sizes(), target.strides(), target.dtype());
  run(last.a == last.b ? make_single(last.kind, last.a, std::move(out), last.layout_a)
                       : make_product(last.kind, last.a, last.b, std::move(out), last.layout_a, last.layout_b));
}

// Runs a plan with a single stage on unconverted inputs.
void run_single(const Call& call, const Tensor& target, const Plan& plan) {
  const Tensor* inputs[2] = {};
  int count = 0;
  for_each_input(call, [&](const Tensor& input) { inputs[count++] = &input; });
  run_last(plan, target,
           [&](const Stage& stage) { run_stage(call, stage, target, *inputs[stage.a], inputs[stage.b]); });
}

// Runs the stages of the plan; the last one writes to `target`.
void contract_into(const Call& call, const Tensor& target, const Plan& plan) {
  static const OperatorName fill("fill");
  // An empty sum is zero.
  if (plan.is_empty_sum) return call_into(call, target, fill, target, 0);
  if (plan.is_single) return run_single(call, target, plan);
  Operands operands(call, plan);
  for (size_t i = 0; i + 1 < plan.stages.size(); ++i) operands.run(call, plan.stages[i], plan.working);
  const TensorRef parts = is_complex(target.dtype()) ? view_as_real(target) : share(target);
  run_last(plan, target, [&](const Stage& stage) { operands.run(call, stage, *parts); });
}

// Returns the result of a plan that only rearranges the elements of its operand, without a copy: it shares the memory
// until either is written. Returns null if the caller gave a tensor for the result, and where share_lazily() does.
TensorRef shared_result(const Call& call, const Plan& plan) {
  if (!plan.strides || call.results[0].kind != OF_VALUE_ABSENT) return {};
  const Tensor* input = nullptr;
  for_each_input(call, [&](const Tensor& each) { input = &each; });
  return share_lazily(*input, plan.dtype, plan.shape, *plan.strides, input->offset());
}

}  // namespace

void run_contraction(Call& call) {
  static const OperatorName copy("copy"), add("add");
  const int addend = rule_of<ContractionRule>(call.schema()).addend;
  const bool adds = addend >= 0 && call.is_given(addend);
  const Ref<const CachedPlan> plan = plan_for(call);
  if (adds) check_addend(call, addend, plan->shape);
  if (!call.infer_only)
    if (TensorRef shared = shared_result(call, *plan)) return set_result(call, 0, std::move(shared));
  const bool is_new = call.results[0].kind == OF_VALUE_ABSENT;
  const Tensor& result = prepare_exact_result(call, 0, plan->shape, plan->dtype);
  if (call.infer_only || result.count() == 0) return;

  const FallsBackWhole whole;
  const bool computes_in_result = plan->working == part_dtype(plan->dtype);
  if (!adds && computes_in_result) return contract_into(call, result, *plan);
  // A tensor of the caller may be the addend, too, which is then needed until the end.
  const bool adds_in_place = computes_in_result && is_new;
  const TensorRef target = adds_in_place ? share(result) : Tensor::allocate(plan->shape, plan->working, call.device);
  contract_into(call, *target, *plan);
  if (adds) {
    call_into(call, result, add, target, share(call.tensor(addend)));
  } else {
    call_into(call, result, copy, result, target);
  }
}

double count_operations(const Call& call) {
  std::vector<const Tensor*> inputs;
  std::vector<Sizes> shapes;
  for_each_input(call, [&](const Tensor& input) {
    inputs.push_back(&input);
    shapes.push_back(input.sizes());
  });
  double operations = 2;
  for (const int64_t size : label_sizes(equation_of(call, inputs), shapes, {}))
    if (size >= 0) operations *= static_cast<double>(size);  // rules number labels that vectors do not have
  return operations;
}

void contraction_dimensions(Call& call, const Shape& result, DimensionMap& map) {
  std::vector<const Tensor*> inputs;
  for_each_input(call, [&](const Tensor& input) { inputs.push_back(&input); });
  const Equation equation = equation_of(call, inputs);
  const int addend = rule_of<ContractionRule>(call.schema()).addend;
  size_t term = 0;
  for_each_tensor(call, [&](int operand, int argument, const Tensor& tensor) {
    if (argument == addend) return add_broadcast(operand, tensor, result, map);
    const Labels& labels = equation.operands[term++];
    for (int d = 0; d < tensor.rank(); ++d) {
      const auto found = std::find(equation.output.begin(), equation.output.end(), labels[static_cast<size_t>(d)]);
      if (found == equation.output.end()) {
        map.add({operand, d, -1, Relation::kContracted});
      } else {
        const int to = static_cast<int>(found - equation.output.begin());
        map.add({operand, d, to, tensor.size(d) == result[to] ? Relation::kSame : Relation::kBroadcast});
      }
    }
  });
}

}  // namespace oneflow
