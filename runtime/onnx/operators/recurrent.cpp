// Recurrent networks, whose steps become parts of the graph, one after the other.
#include <algorithm>
#include <array>
#include <functional>
#include <oneflow/oneflow.hpp>

#include "onnx/arranging.h"
#include "onnx/operators.h"
#include "side/printable.h"

namespace oneflow::onnx {

namespace {

using Sizes = std::vector<int64_t>;
using Activation = std::function<Tensor(const Tensor&)>;

struct ActivationKind {
  std::string_view name;
  Tensor (*apply)(const Tensor& x, double alpha, double beta);
  double alpha, beta;  // the defaults
};

constexpr std::array kActivations{
    ActivationKind{"Relu", [](const Tensor& x, double, double) { return relu(x); }, 0, 0},
    ActivationKind{"Tanh", [](const Tensor& x, double, double) { return tanh(x); }, 0, 0},
    ActivationKind{"Sigmoid", [](const Tensor& x, double, double) { return sigmoid(x); }, 0, 0},
    ActivationKind{"Softsign", [](const Tensor& x, double, double) { return softsign(x); }, 0, 0},
    ActivationKind{"Softplus", [](const Tensor& x, double, double) { return softplus(x); }, 0, 0},
    ActivationKind{"Affine", [](const Tensor& x, double a, double b) { return add(mul(x, a), b); }, 1, 0},
    ActivationKind{"LeakyRelu", [](const Tensor& x, double a, double) { return leaky_relu(x, a); }, 0.01, 0},
    ActivationKind{"ThresholdedRelu", [](const Tensor& x, double a, double) { return where(gt(x, a), x, 0); }, 1, 0},
    ActivationKind{"ScaledTanh", [](const Tensor& x, double a, double b) { return mul(tanh(mul(x, b)), a); }, 1, 1},
    ActivationKind{"HardSigmoid", [](const Tensor& x, double a, double b) { return clamp(add(mul(x, a), b), 0, 1); },
                   0.2, 0.5},
    ActivationKind{"Elu", [](const Tensor& x, double a, double) { return elu(x, a); }, 1, 0},
};

// A network of one operator: its kinds of gates, and how a step computes a state.
struct Network {
  int64_t gate_count;
  std::vector<std::string> activations;  // by default
};

// What the steps of one direction use.
struct Direction {
  Tensor projected;       // (time, batch, gates): what follows from the input and its bias
  Tensor recurrent;       // (gates, hidden)
  Tensor recurrent_bias;  // (gates), or empty
  Tensor peepholes;       // of an LSTM: (3 hidden), or empty
  std::vector<Activation> activations;
  double clip;  // 0: none
  bool is_linear_before_reset, couples_input_forget;

  Tensor clipped(const Tensor& x) const { return clip > 0 ? clamp(x, -clip, clip) : x; }
};

struct State {
  Tensor hidden, cell;  // a cell only of an LSTM
};

using Step = State (*)(const Direction& direction, const Tensor& projected, const State& state);

Tensor recurrent_product(const Direction& direction, const Tensor& hidden) {
  return direction.recurrent_bias.is_empty_handle() ? linear(hidden, direction.recurrent)
                                                    : linear(hidden, direction.recurrent, direction.recurrent_bias);
}

State simple_step(const Direction& direction, const Tensor& projected, const State& state) {
  const Tensor sum = add(projected, recurrent_product(direction, state.hidden));
  return {direction.activations[0](direction.clipped(sum)), {}};
}

State gated_step(const Direction& direction, const Tensor& projected, const State& state) {
  const int64_t hidden = state.hidden.size(-1);
  const auto &f = direction.activations[0], &g = direction.activations[1];
  const std::vector<Tensor> given = split(projected, hidden, -1);
  if (direction.is_linear_before_reset) {
    const std::vector<Tensor> products = split(recurrent_product(direction, state.hidden), hidden, -1);
    const Tensor update = f(direction.clipped(add(given[0], products[0])));
    const Tensor reset = f(direction.clipped(add(given[1], products[1])));
    const Tensor candidate = g(direction.clipped(add(given[2], mul(reset, products[2]))));
    return {add(mul(sub(1, update), candidate), mul(update, state.hidden)), {}};
  }
  const std::vector<Tensor> weights = split(direction.recurrent, hidden, 0);
  std::vector<Tensor> biases(3);
  if (!direction.recurrent_bias.is_empty_handle()) biases = split(direction.recurrent_bias, hidden, 0);
  const Tensor update = f(direction.clipped(add(given[0], linear(state.hidden, weights[0], biases[0]))));
  const Tensor reset = f(direction.clipped(add(given[1], linear(state.hidden, weights[1], biases[1]))));
  const Tensor candidate = g(direction.clipped(add(given[2], linear(mul(reset, state.hidden), weights[2], biases[2]))));
  return {add(mul(sub(1, update), candidate), mul(update, state.hidden)), {}};
}

State long_short_step(const Direction& direction, const Tensor& projected, const State& state) {
  const int64_t hidden = state.hidden.size(-1);
  const auto &f = direction.activations[0], &g = direction.activations[1], &h = direction.activations[2];
  // The gates are in the order input, output, forget, cell.
  std::vector<Tensor> gates = split(add(projected, recurrent_product(direction, state.hidden)), hidden, -1);
  std::vector<Tensor> peepholes;
  if (!direction.peepholes.is_empty_handle()) {
    peepholes = split(direction.peepholes, hidden, 0);
    gates[0] = add(gates[0], mul(peepholes[0], state.cell));
    gates[2] = add(gates[2], mul(peepholes[2], state.cell));
  }
  const Tensor input = f(direction.clipped(gates[0]));
  const Tensor forget = direction.couples_input_forget ? sub(1, input) : f(direction.clipped(gates[2]));
  const Tensor cell = add(mul(forget, state.cell), mul(input, g(direction.clipped(gates[3]))));
  if (!peepholes.empty()) gates[1] = add(gates[1], mul(peepholes[1], cell));
  const Tensor output = f(direction.clipped(gates[1]));
  return {mul(output, h(cell)), cell};
}

// Returns the activations of one direction: `count` of those that the attributes list.
std::vector<Activation> activations_of(const NodeCall& node, const std::vector<std::string>& defaults,
                                       size_t direction) {
  const size_t count = defaults.size();
  const auto names = node.texts("activations");
  const auto alphas = node.reals("activation_alpha"), betas = node.reals("activation_beta");
  std::vector<Activation> found;
  size_t alpha_count = 0, beta_count = 0;  // of the activations before
  const auto kind_of = [&](size_t position) -> const ActivationKind& {
    std::string name = names && position < names->size() ? (*names)[position] : defaults[position % count];
    for (const ActivationKind& kind : kActivations)
      if (std::ranges::equal(kind.name, name, [](char a, char b) { return std::tolower(a) == std::tolower(b); }))
        return kind;
    throw Unsupported("the activation " + in_quotes(name) + " is not supported");
  };
  for (size_t position = 0; position < (direction + 1) * count; ++position) {
    const ActivationKind& kind = kind_of(position);
    const bool has_alpha = kind.alpha != 0, has_beta = kind.beta != 0 || kind.name == "Affine";
    const double alpha =
        has_alpha && alphas && alpha_count < alphas->size() ? static_cast<double>((*alphas)[alpha_count]) : kind.alpha;
    const double beta =
        has_beta && betas && beta_count < betas->size() ? static_cast<double>((*betas)[beta_count]) : kind.beta;
    alpha_count += has_alpha;
    beta_count += has_beta;
    if (position >= direction * count)
      found.push_back([apply = kind.apply, alpha, beta](const Tensor& x) { return apply(x, alpha, beta); });
  }
  return found;
}

// Reverses the first `lengths` steps of each sequence of a batch: (time, batch, features).
Tensor reversed(const Tensor& x, const Tensor& lengths) {
  if (lengths.is_empty_handle()) return flip(x, {0});
  return gather(x, 0, broadcast_to(unsqueeze(reversed_places(x.size(0), lengths), -1), sizes_of(x)));
}

std::vector<Tensor> run_network(NodeCall& node, const Network& network, Step step) {
  const bool is_long_short = network.activations.size() == 3;
  const bool is_batch_first = node.flag("layout");
  const auto in_order = [&](const Tensor& x) { return is_batch_first ? transpose(x, 0, 1) : x; };
  const Tensor x = in_order(node.tensor(0));
  if (x.rank() != 3) throw ShapeError("the input must have rank 3");
  const Tensor &weights = node.tensor(1), &recurrent = node.tensor(2);
  const Tensor biases = node.optional_tensor(3), lengths = node.optional_tensor(4);
  const int64_t time = x.size(0), batch = x.size(1), hidden = recurrent.size(2), directions = weights.size(0);
  const auto require_shape = [&](size_t position, const Sizes& shape, const char* what) {
    if (node.has(position) && !std::ranges::equal(node.tensor(position).sizes(), shape))
      throw ShapeError(std::string(what) + " must have " + std::to_string(network.gate_count) +
                       " gates of the hidden size, as the other weights");
  };
  if (directions < 1 || directions > 2 || hidden < 1 || hidden > (int64_t{1} << 30))
    throw ShapeError("the weights must be those of one or two directions, with a hidden size of at least 1");
  require_shape(1, {directions, network.gate_count * hidden, x.size(2)}, "the weights of the input");
  require_shape(2, {directions, network.gate_count * hidden, hidden}, "the recurrent weights");
  require_shape(3, {directions, 2 * network.gate_count * hidden}, "the biases");
  if (is_long_short) require_shape(7, {directions, 3 * hidden}, "the peepholes");
  check_steps(time);
  node.decide(time);
  const std::string order = node.text("direction", "forward");
  std::vector<Tensor> outputs, last_hidden, last_cells;
  for (int64_t d = 0; d < directions; ++d) {
    const bool is_reversed = order == "reverse" || d == 1;
    const int64_t gates = network.gate_count * hidden;
    const auto part = [&](size_t position) { return select(node.tensor(position), 0, d); };
    Direction direction;
    direction.activations = activations_of(node, network.activations, static_cast<size_t>(d));
    direction.clip = node.real("clip", 0);
    direction.is_linear_before_reset = node.flag("linear_before_reset");
    direction.couples_input_forget = node.flag("input_forget");
    direction.recurrent = part(2);
    Tensor bias;
    if (!biases.is_empty_handle()) {
      bias = slice(part(3), 0, 0, gates);
      direction.recurrent_bias = slice(part(3), 0, gates, 2 * gates);
    }
    if (is_long_short && node.has(7)) direction.peepholes = part(7);
    direction.projected = linear(is_reversed ? reversed(x, lengths) : x, part(1), bias);
    const auto initial = [&](size_t position) {
      return node.has(position) ? select(in_order(node.tensor(position)), 0, d)
                                : zeros({batch, hidden}, x.dtype(), x.device());
    };
    State state{initial(5), is_long_short ? initial(6) : Tensor()};
    std::vector<Tensor> steps;
    for (int64_t t = 0; t < time; ++t) {
      State next = step(direction, select(direction.projected, 0, t), state);
      Tensor output = next.hidden;
      if (!lengths.is_empty_handle()) {
        // A sequence that has ended keeps its state, and gives zeros.
        const Tensor goes_on = unsqueeze(gt(lengths, t), 1);
        output = where(goes_on, output, 0);
        next.hidden = where(goes_on, next.hidden, state.hidden);
        if (is_long_short) next.cell = where(goes_on, next.cell, state.cell);
      }
      steps.push_back(output);
      state = next;
    }
    const Tensor joined = steps.empty() ? zeros({0, batch, hidden}, x.dtype(), x.device()) : stack(steps, 0);
    outputs.push_back(is_reversed ? reversed(joined, lengths) : joined);
    last_hidden.push_back(state.hidden);
    if (is_long_short) last_cells.push_back(state.cell);
  }
  // (time, directions, batch, hidden), or (batch, time, directions, hidden).
  Tensor all = stack(outputs, 1);
  if (is_batch_first) all = permute(all, {2, 0, 1, 3});
  std::vector<Tensor> results{all, in_order(stack(last_hidden, 0))};
  if (is_long_short) results.push_back(in_order(stack(last_cells, 0)));
  return results;
}

std::vector<Tensor> simple_network(NodeCall& node) { return run_network(node, {1, {"Tanh"}}, simple_step); }

std::vector<Tensor> gated_network(NodeCall& node) { return run_network(node, {3, {"Sigmoid", "Tanh"}}, gated_step); }

std::vector<Tensor> long_short_network(NodeCall& node) {
  return run_network(node, {4, {"Sigmoid", "Tanh", "Tanh"}}, long_short_step);
}

constexpr std::array kOperators{
    Operator{"GRU", 1, gated_network},
    Operator{"LSTM", 1, long_short_network},
    Operator{"RNN", 1, simple_network},
};

}  // namespace

std::span<const Operator> recurrent_operators() { return kOperators; }

}  // namespace oneflow::onnx
