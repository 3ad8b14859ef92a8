#include "einsum/rules.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "einsum/contraction.h"

namespace oneflow::einsum {

namespace {

const char* plural(int64_t count) { return count == 1 ? "" : "s"; }

// Returns `count` consecutive labels, beginning with `first`.
Labels label_range(int first, int count) {
  Labels labels(static_cast<size_t>(count));
  std::iota(labels.begin(), labels.end(), first);
  return labels;
}

// Returns an equation without label names, so that error texts name the operands. Labels below `broadcasting`
// broadcast.
Equation unnamed(std::vector<Labels> operands, Labels output, int label_count, int broadcasting = 0) {
  Equation equation;
  equation.operands = std::move(operands);
  equation.output = std::move(output);
  equation.names.resize(static_cast<size_t>(label_count));
  equation.broadcasts.assign(static_cast<size_t>(label_count), false);
  std::fill_n(equation.broadcasts.begin(), broadcasting, true);
  return equation;
}

// Returns the equation [..., i, k] x [..., k, j] -> [..., i, j]. A vector lacks i (on the left) or j (on the right).
Equation matmul(const Call& call, std::span<const Tensor* const> operands) {
  int ranks[2];
  for (int side = 0; side < 2; ++side) {
    ranks[side] = operands[static_cast<size_t>(side)]->rank();
    if (ranks[side] == 0)
      fail(OF_SHAPE_ERROR, "%s must have at least 1 dimension, got 0",
           call.schema().arguments[static_cast<size_t>(side)].name);
  }
  const int left = std::max(0, ranks[0] - 2), right = std::max(0, ranks[1] - 2);
  const int batch = std::max(left, right);
  const int i = batch, j = batch + 1, k = batch + 2;
  Labels a = label_range(batch - left, left), b = label_range(batch - right, right), c = label_range(0, batch);
  if (ranks[0] > 1) {
    a.push_back(i);
    c.push_back(i);
  }
  a.push_back(k);
  b.push_back(k);
  if (ranks[1] > 1) {
    b.push_back(j);
    c.push_back(j);
  }
  return unnamed({a, b}, c, batch + 3, batch);
}

// Returns the equation [..., k] x [j, k] -> [..., j]. A vector on the right lacks j.
Equation linear(const Call& call, std::span<const Tensor* const> operands) {
  const auto arguments = call.schema().arguments;
  const int rank = operands[0]->rank(), weight_rank = operands[1]->rank();
  if (rank == 0) fail(OF_SHAPE_ERROR, "%s must have at least 1 dimension, got 0", arguments[0].name);
  if (weight_rank != 1 && weight_rank != 2)
    fail(OF_SHAPE_ERROR, "%s must have 1 or 2 dimensions, got %d", arguments[1].name, weight_rank);
  const int k = rank - 1, j = rank;
  Labels c = label_range(0, rank - 1), weight{k};
  if (weight_rank == 2) {
    weight = {j, k};
    c.push_back(j);
  }
  return unnamed({label_range(0, rank), weight}, c, rank + 1);
}

// Returns the equation [..., k] x [..., k], whose result has the remaining dimensions of the first operand, then those
// of the second. A 0-d operand is only multiplied.
Equation inner(const Call&, std::span<const Tensor* const> operands) {
  const int rank_a = operands[0]->rank(), rank_b = operands[1]->rank();
  Labels a = label_range(0, rank_a), b = label_range(rank_a, rank_b);
  Labels c = label_range(0, rank_a + rank_b);
  if (rank_a > 0 && rank_b > 0) {
    b.back() = a.back();
    c.pop_back();
    c.erase(c.begin() + a.back());
  }
  return unnamed({a, b}, c, rank_a + rank_b);
}

// Returns the dimensions in a list argument, made non-negative. Throws InvalidArgument for duplicates, IndexOutOfRange
// for dimensions that the operand does not have.
Labels dims_of(const Call& call, int argument, int rank) {
  const char* name = call.schema().arguments[static_cast<size_t>(argument)].name;
  Labels dims;
  for (const int64_t dim : call.integers(argument)) {
    const int position = normalize_dim(dim, rank, name);
    // normalize_dim() accepts 0 and -1 for a 0-d tensor, which has no dimension to contract.
    if (rank == 0)
      fail(OF_INDEX_OUT_OF_RANGE, "%s must be empty for a tensor with 0 dimensions, got %ld", name,
           static_cast<long>(dim));
    if (std::find(dims.begin(), dims.end(), position) != dims.end())
      fail(OF_INVALID_ARGUMENT, "%s names dimension %d twice", name, position);
    dims.push_back(position);
  }
  return dims;
}

// Returns an equation that contracts pairs of dimensions, in which sizes of 1 broadcast. The result has the remaining
// dimensions of the first operand, then those of the second.
Equation tensordot(const Call& call, std::span<const Tensor* const> operands) {
  const int rank_a = operands[0]->rank(), rank_b = operands[1]->rank();
  Labels dims_a, dims_b;
  if (call.arguments[2].kind == OF_VALUE_INT) {
    const int64_t count = call.integer(2);
    const int most = std::min(rank_a, rank_b);
    if (count < 0 || count > most)
      fail(OF_INVALID_ARGUMENT, "dims must be between 0 and %d for tensors with %d and %d dimensions, got %ld", most,
           rank_a, rank_b, static_cast<long>(count));
    dims_a = label_range(rank_a - static_cast<int>(count), static_cast<int>(count));
    dims_b = label_range(0, static_cast<int>(count));
  } else {
    const size_t count_a = call.integers(2).size(), count_b = call.integers(3).size();
    if (count_a != count_b)
      fail(OF_INVALID_ARGUMENT, "%s and %s must have the same length, got %zu and %zu", call.schema().arguments[2].name,
           call.schema().arguments[3].name, count_a, count_b);
    dims_a = dims_of(call, 2, rank_a);
    dims_b = dims_of(call, 3, rank_b);
  }
  Labels a = label_range(0, rank_a), b = label_range(rank_a, rank_b);
  for (size_t i = 0; i < dims_a.size(); ++i) b[static_cast<size_t>(dims_b[i])] = dims_a[i];
  Labels c;
  for (int d = 0; d < rank_a; ++d)
    if (std::find(dims_a.begin(), dims_a.end(), d) == dims_a.end()) c.push_back(d);
  for (const int label : b)
    if (label >= rank_a) c.push_back(label);
  Equation equation = unnamed({a, b}, c, rank_a + rank_b);
  for (const int label : dims_a) equation.broadcasts[static_cast<size_t>(label)] = true;
  return equation;
}

// Returns the equation [a, b] x [b, c] x [c, d] x ... of a product of matrices. A vector lacks its outer dimension, and
// may be the first or the last operand.
Equation chain(const Call&, std::span<const Tensor* const> operands) {
  const int count = static_cast<int>(operands.size());
  if (count < 2) fail(OF_INVALID_ARGUMENT, "tensors must have at least 2 tensors, got %d", count);
  std::vector<Labels> labels;
  Labels output;
  for (int i = 0; i < count; ++i) {
    const int rank = operands[static_cast<size_t>(i)]->rank();
    const bool is_first = i == 0, is_last = i == count - 1;
    if (rank != 2 && !(rank == 1 && (is_first || is_last)))
      fail(OF_SHAPE_ERROR, "tensors[%d] must have %s2 dimensions, got %d", i, is_first || is_last ? "1 or " : "", rank);
    if (rank == 2 && (is_first || is_last)) output.push_back(is_first ? 0 : count);
    labels.push_back(rank == 2 ? Labels{i, i + 1} : Labels{is_first ? 1 : i});
  }
  return unnamed(std::move(labels), output, count + 1);
}

// A rule that generates equations, and the name by which records refer to it.
struct Rule {
  const char* name;
  Equation (*equation)(const Call& call, std::span<const Tensor* const> operands);
};
constexpr Rule kRules[] = {
    {"matmul", matmul}, {"linear", linear}, {"inner", inner}, {"tensordot", tensordot}, {"chain", chain}};

// Returns an equation in the record. Throws ShapeError unless the operands have the ranks of its terms. Labels do not
// broadcast.
Equation fixed(const Call& call, const char* text, std::span<const Tensor* const> operands,
               std::span<const int> ranks) {
  const ParsedEquation parsed = parse_equation(text);
  for (size_t i = 0; i < operands.size(); ++i) {
    const int letters = parsed.operands[i].rank();
    if (operands[i]->rank() != letters)
      fail(OF_SHAPE_ERROR, "%s must have %d dimension%s, got %d", call.schema().arguments[i].name, letters,
           plural(letters), operands[i]->rank());
  }
  Equation equation = resolve_equation(parsed, ranks);
  equation.broadcasts.assign(equation.names.size(), false);
  return equation;
}

}  // namespace

Equation equation_of(const Call& call, std::span<const Tensor* const> operands) {
  std::vector<int> ranks;
  for (const Tensor* operand : operands) ranks.push_back(operand->rank());
  const char* source = rule_of<ContractionRule>(call.schema()).equation;
  if (std::strstr(source, "->")) return fixed(call, source, operands, ranks);
  for (const Rule& rule : kRules)
    if (std::strcmp(rule.name, source) == 0) return rule.equation(call, operands);
  const auto arguments = call.schema().arguments;
  const auto argument = std::find_if(arguments.begin(), arguments.end(),
                                     [&](const Argument& a) { return std::strcmp(a.name, source) == 0; });
  if (argument == arguments.end()) fail(OF_INTERNAL_ERROR, "the record names no equation: %s", source);
  return resolve_equation(parse_equation(call.string(static_cast<int>(argument - arguments.begin()))), ranks);
}

}  // namespace oneflow::einsum
