#include "graph/passes/measure.h"

#include <algorithm>
#include <cmath>

#include "base/dtype.h"
#include "base/error.h"
#include "dispatch/dispatch.h"
#include "dispatch/layers.h"
#include "files/document.h"
#include "graph/session/session.h"

namespace oneflow::graph {

namespace {

constinit const OperatorName kRandn("randn"), kRandint("randint"), kCast("cast");

constexpr uint64_t kSeed = 2026;
// The size up to which named sizes are those of the example. Larger ones show no other errors, but take longer.
constexpr int64_t kMeasuredSize = 8;

int64_t measured_size(const NamedSize& size) {
  if (size.example <= kMeasuredSize || size.example <= size.minimum) return size.example;
  const int64_t steps = size.minimum < kMeasuredSize ? (kMeasuredSize - size.minimum - 1) / size.step + 1 : 0;
  return std::min(size.example, size.minimum + steps * size.step);
}

double relative_error(const Tensor& output, const Tensor& other) {
  const TensorRef wide = call_operator(kCast, output, OF_FLOAT64), other_wide = call_operator(kCast, other, OF_FLOAT64);
  const files::RowMajorElements a(*wide), b(*other_wide);
  const auto* left = reinterpret_cast<const double*>(a.data());
  const auto* right = reinterpret_cast<const double*>(b.data());
  double largest = 0, error = 0;
  for (int64_t i = 0; i < output.count(); ++i) {
    if (left[i] == right[i] || (std::isnan(left[i]) && std::isnan(right[i]))) {
      if (std::isfinite(left[i])) largest = std::max(largest, std::abs(left[i]));
      continue;
    }
    const double found = std::abs(left[i] - right[i]);
    if (!std::isfinite(found)) return INFINITY;
    largest = std::max(largest, std::abs(left[i]));
    error = std::max(error, found);
  }
  return error == 0 ? 0 : error / largest;
}

}  // namespace

// A capture that goes on meanwhile has no part in what is measured.

std::optional<std::vector<TensorRef>> random_inputs(const Program& program) {
  const OpenLayers own(kOwnLayers);
  const Ref<Generator> generator = Generator::create(kSeed);
  std::vector<TensorRef> inputs;
  for (const Input& input : program.inputs) {
    const Value& value = program.values[index(input.value)];
    Shape sizes;
    for (const SizeExpression& size : value.sizes)
      sizes.push_back(
          evaluate(size, [&](const Atom& atom) { return measured_size(program.sizes[index(atom.number)]); }));
    if (is_floating(value.dtype))
      inputs.push_back(call_operator(kRandn, sizes, value.dtype, value.device, generator));
    else if (!is_complex(value.dtype))
      inputs.push_back(call_operator(kRandint, int64_t{2}, sizes, value.dtype, value.device, generator));
    else
      return {};
  }
  return inputs;
}

std::vector<TensorRef> run_with(const Program& program, std::span<const TensorRef> inputs) {
  const OpenLayers own(kOwnLayers);
  const Ref<Generator> generator = Generator::create(kSeed);
  const Ref<Session> session = Session::create(Graph::create(program));
  std::vector<of_tensor> handles;
  for (const TensorRef& input : inputs) handles.push_back(to_handle(input.get()));
  std::vector<of_value> outputs(program.outputs.size());
  std::vector<TensorRef> found;
  found.reserve(outputs.size());
  session->run(handles, outputs, to_handle(generator.get()));
  for (const of_value& output : outputs) found.push_back(TensorRef::adopt(to_tensor(output.as.tensor)));
  return found;
}

std::optional<std::vector<TensorRef>> run_once(const Program& program, std::span<const TensorRef> inputs) {
  try {
    return run_with(program, inputs);
  } catch (const Error& error) {
    if (error.status() == OF_INTERNAL_ERROR || error.status() == OF_INTERRUPTED) throw;
    return {};
  }
}

double difference(std::span<const TensorRef> outputs, std::span<const TensorRef> others) {
  const OpenLayers own(kOwnLayers);
  double error = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (is_complex(outputs[i]->dtype())) return NAN;
    error = std::max(error, relative_error(*outputs[i], *others[i]));
  }
  return error;
}

}  // namespace oneflow::graph
