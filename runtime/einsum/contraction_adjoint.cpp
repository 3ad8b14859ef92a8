#include "einsum/contraction_adjoint.h"

#include <algorithm>
#include <string>
#include <vector>

#include "dispatch/program_body.h"
#include "einsum/plan.h"
#include "einsum/rules.h"

namespace oneflow {

namespace {

using namespace einsum;

constinit const OperatorName kCast("cast");
constinit const OperatorName kEinsum("einsum");
constinit const OperatorName kExpand("expand");
constinit const OperatorName kEye("eye");
constinit const OperatorName kReshape("reshape");
constinit const OperatorName kWhere("where");

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// Returns a term of an equation text, in which labels are numbers.
std::string term(const Labels& labels) {
  std::string text;
  for (const int label : labels) text.append(text.empty() ? "[" : ",").append(std::to_string(label));
  return text.empty() ? "[]" : text + "]";
}

// Returns the labels of an operand that the gradient or another operand has, each once.
Labels shared_labels(const Equation& equation, size_t operand) {
  Labels shared;
  for (const int label : equation.operands[operand]) {
    bool is_shared = contains(equation.output, label);
    for (size_t i = 0; i < equation.operands.size(); ++i)
      is_shared |= i != operand && contains(equation.operands[i], label);
    if (is_shared && !contains(shared, label)) shared.push_back(label);
  }
  return shared;
}

// Contracts the gradient with all operands but one. The result has the dimensions `to`.
TensorRef contract(ProgramBody& body, const Equation& equation, const std::vector<const Tensor*>& inputs,
                   size_t operand, const Tensor& grad, const Labels& to) {
  std::string text = term(equation.output);
  TensorList operands;
  operands.push_back(share(grad));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i == operand) continue;
    text.append(",").append(term(equation.operands[i]));
    operands.push_back(share(*inputs[i]));
  }
  text.append("->").append(term(to));
  return body.call(kEinsum, text.c_str(), operands);
}

// Returns a tensor that is true on the diagonal of two dimensions of size `size`, and broadcasts along the others.
TensorRef diagonal_mask(ProgramBody& body, int rank, int first, int second, int64_t size, of_device device) {
  Shape shape = Shape(rank, 1);
  shape[first] = shape[second] = size;
  return body.call(kReshape, body.call(kEye, size, kNone, OF_BOOL, device), shape);
}

// Brings the labels `from` of a tensor to the dimensions of an operand: a label that only the operand has, or that has
// size 1 in all others, is repeated; one that it has twice is put on the diagonal.
TensorRef spread(ProgramBody& body, TensorRef found, const Labels& from, const Labels& labels, const Tensor& operand) {
  Shape shape = Shape(operand.rank(), 1), sizes = operand.sizes();
  for (int d = 0; d < operand.rank(); ++d) {
    const int label = labels[static_cast<size_t>(d)];
    const auto at = std::find(from.begin(), from.end(), label);
    const bool is_first = std::find(labels.begin(), labels.end(), label) - labels.begin() == d;
    if (at == from.end()) continue;
    const int64_t size = found->size(static_cast<int>(at - from.begin()));
    sizes[d] = std::max(size, sizes[d]);
    if (is_first) shape[d] = size;
  }
  if (!same_sizes(found->sizes(), shape)) found = body.call(kReshape, std::move(found), shape);
  if (!same_sizes(shape, sizes)) found = body.call(kExpand, std::move(found), sizes);
  for (int d = 0; d < operand.rank(); ++d) {
    const auto first =
        static_cast<int>(std::find(labels.begin(), labels.end(), labels[static_cast<size_t>(d)]) - labels.begin());
    if (first == d) continue;
    const TensorRef mask = diagonal_mask(body, operand.rank(), first, d, sizes[d], operand.device());
    found = body.call(kWhere, mask, found, 0);
  }
  return found;
}

// Returns the position in the equation of the argument, or of the item of the list that is the argument.
size_t operand_of(const Call& call, const Call& forward, const AdjointRule& rule) {
  const auto count = static_cast<int>(forward.schema().arguments.size());
  if (!forward.is_tensor(rule.argument)) return static_cast<size_t>(call.integer(1 + count));
  const auto arguments = forward.op.tensor_arguments();
  return static_cast<size_t>(std::find(arguments.begin(), arguments.end(), rule.argument) - arguments.begin());
}

}  // namespace

void run_contraction_adjoint(Call& call) {
  const auto& rule = rule_of<AdjointRule>(call.schema());
  const Operator& of = *find_operator(rule.of);
  const size_t count = of.schema().arguments.size();
  of_value result{};
  Call forward(of, call.name, {&result, 1}, true, nullptr);
  check_call(forward, {call.arguments + 1, count});

  std::vector<const Tensor*> inputs;
  for_each_input(forward, [&](const Tensor& input) { inputs.push_back(&input); });
  const size_t operand = operand_of(call, forward, rule);

  const Equation equation = equation_of(forward, inputs);
  const Labels shared = shared_labels(equation, operand);
  ProgramBody body(call);
  TensorRef found = contract(body, equation, inputs, operand, call.tensor(0), shared);
  const Labels& labels = equation.operands[operand];
  found = spread(body, std::move(found), shared, labels, *inputs[operand]);
  set_result(call, 0, std::move(found));
}

}  // namespace oneflow
