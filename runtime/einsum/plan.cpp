#include "einsum/plan.h"

#include <algorithm>

#include "einsum/complex_product.h"
#include "einsum/path.h"
#include "einsum/rules.h"
#include "einsum/sizes.h"

namespace oneflow::einsum {

namespace {

// Builds the stages of products, and keeps the layouts of all inputs and of the results of all stages.
class Stages {
 public:
  Stages(std::vector<Layout> inputs, of_dtype dtype)
      : layouts_(std::move(inputs)), computes_directly_(dtype != OF_BOOL && compute_type(dtype) == dtype) {}

  // Adds a stage that sums operand `a` over the labels that `out` lacks.
  void sum(size_t a, Layout out) { add(make_single(Stage::Kind::kSum, a, std::move(out), layouts_[a])); }

  // Adds the stages of the product of two operands.
  void multiply(size_t a, size_t b, const Layout& out) {
    a = without_own_sums(a, b, out);
    b = without_own_sums(b, a, out);
    Layout layout_a = layouts_[a], layout_b = layouts_[b];
    const bool is_complex = find(layout_a, kPart) && find(layout_b, kPart);
    if (!is_complex || !(sums(layout_a, out) || is_outer(layout_a, layout_b)))
      return multiply_real(a, b, out, std::move(layout_a), std::move(layout_b));
    switch (choose_complex_product(layout_a, layout_b, out)) {
      case ComplexProduct::kOuterOfParts:
        return multiply_parts(a, b, out, std::move(layout_a), std::move(layout_b));
      case ComplexProduct::kMatricesOfA:
        write_matrices(a, layout_a, layout_b, out);
        break;
      case ComplexProduct::kMatricesOfB:
        write_matrices(b, layout_b, layout_a, out);
        break;
    }
    multiply_real(a, b, out, std::move(layout_a), std::move(layout_b));
  }

  // Returns the layout of the product of two operands with the given labels. Its dimensions have the memory order of
  // the first of `models` that has all labels, so that both are traversed in the same order. Without such a model, the
  // dimensions of the larger operand come last, in its order, so that most accesses are contiguous.
  Layout product_layout(size_t a, size_t b, const LabelList& labels, const std::vector<Layout>& models) const {
    // Labels are sorted. kPart is not among them, because the labels of equations are not negative.
    const auto is_kept = [&](const LabelledDim& dim) {
      return std::binary_search(labels.begin(), labels.end(), dim.label);
    };
    Layout layout;
    for (const Layout& model : models) {
      if (layout.size() == labels.size()) break;
      layout.clear();
      for (const LabelledDim& dim : in_memory_order(model))
        if (is_kept(dim)) layout.push_back(dim);
    }
    if (layout.size() != labels.size()) {
      layout.clear();
      if (elements_of(layouts_[a]) > elements_of(layouts_[b])) std::swap(a, b);
      for (const LabelledDim& dim : layouts_[a])
        if (is_kept(dim) && !find(layouts_[b], dim.label)) layout.push_back(dim);
      for (const LabelledDim& dim : layouts_[b])
        if (is_kept(dim)) layout.push_back(dim);
    }
    if (find(layouts_[a], kPart) || find(layouts_[b], kPart)) layout.push_back({kPart, 2, 1});
    return contiguous_layout(std::move(layout));
  }

  const Layout& layout(size_t number) const { return layouts_[number]; }
  size_t last() const { return layouts_.size() - 1; }
  std::vector<Stage> take() { return std::move(stages_); }

 private:
  void add(Stage stage) {
    layouts_.push_back(stage.out);
    stages_.push_back(std::move(stage));
  }

  void multiply_real(size_t a, size_t b, const Layout& out, Layout layout_a, Layout layout_b) {
    const Stage::Kind kind = product_kind(out, layout_a, layout_b, computes_directly_);
    add(make_product(kind, a, b, out, std::move(layout_a), std::move(layout_b)));
  }

  void multiply_parts(size_t a, size_t b, const Layout& out, Layout layout_a, Layout layout_b) {
    rename_part(layout_a);
    Layout products = products_of_parts(layout_a, out);
    multiply_real(a, b, products, std::move(layout_a), std::move(layout_b));
    add(make_single(Stage::Kind::kCombine, last(), out, std::move(products)));
  }

  // Adds a stage that writes the matrices of operand `number`, and updates its number and layout. The product sums over
  // the part of the other operand, whose layout is `whole`.
  void write_matrices(size_t& number, Layout& layout, Layout& whole, const Layout& out) {
    Layout matrices = matrices_of(layout, out);
    add(make_single(Stage::Kind::kMatrices, number, matrices, std::move(layout)));
    number = last();
    layout = std::move(matrices);
    rename_part(whole);
  }

  static void rename_part(Layout& layout) {
    for (LabelledDim& dim : layout)
      if (dim.label == kPart) dim.label = kSummedPart;
  }

  // Sums `a` over the labels that neither `b` nor `out` has, because the product would repeat that sum for every
  // element of `b`. Returns the number of the sum, or `a` if there are no such labels.
  size_t without_own_sums(size_t a, size_t b, const Layout& out) {
    Layout kept;
    for (const LabelledDim& dim : layouts_[a])
      if (find(layouts_[b], dim.label) || find(out, dim.label)) kept.push_back(dim);
    if (kept.size() == layouts_[a].size()) return a;
    sum(a, contiguous_layout(std::move(kept)));
    return last();
  }

  std::vector<Layout> layouts_;
  const bool computes_directly_;
  std::vector<Stage> stages_;
};

std::vector<Stage> make_stages(std::vector<Layout> inputs, of_dtype dtype, const Layout& output, const Network& network,
                               const Path& path) {
  Stages stages(std::move(inputs), dtype);
  if (path.empty()) {
    stages.sum(0, output);
    return stages.take();
  }
  const std::vector<PairProduct> products = follow(network, path);
  std::vector<size_t> numbers;  // for each operand and product of the path, its number as an operand of stages
  for (size_t i = 0; i < network.operands.size(); ++i) numbers.push_back(i);
  // Returns the layouts that the next intermediate should resemble: that of the operand that it is multiplied with, if
  // that exists already, and that of the output, if their product is the result.
  const auto models_of = [&] {
    const size_t number = numbers.size();
    const auto next = std::find_if(path.begin(), path.end(),
                                   [&](const Step& step) { return step.left == number || step.right == number; });
    const size_t other = next->left == number ? next->right : next->left;
    std::vector<Layout> models;
    if (other < number) models.push_back(stages.layout(numbers[other]));
    if (next + 1 == path.end()) models.push_back(output);
    return models;
  };
  for (size_t i = 0; i < path.size(); ++i) {
    const size_t a = numbers[path[i].left], b = numbers[path[i].right];
    const bool is_last = i + 1 == path.size();
    stages.multiply(a, b, is_last ? output : stages.product_layout(a, b, products[i].labels, models_of()));
    numbers.push_back(stages.last());
  }
  return stages.take();
}

// Returns the search that a call requests, by a string or by a bool.
Search search_of(const Call& call, int argument) {
  if (argument < 0 || !call.is_given(argument)) return Search::kAuto;
  const Argument& given = call.schema().arguments[static_cast<size_t>(argument)];
  if (given.type == ArgumentType::kBool) return call.boolean(argument) ? Search::kAuto : Search::kInOrder;
  return parse_search(call.string(argument), given.name);
}

// Returns the path of a call: the given one, or one found by the requested search.
Path path_of(const Call& call, const Network& network) {
  const ContractionRule& rule = rule_of<ContractionRule>(call.schema());
  const auto name = [&](int argument) { return call.schema().arguments[static_cast<size_t>(argument)].name; };
  const bool is_limited = rule.limit >= 0 && call.is_given(rule.limit);
  const double limit = is_limited ? limit_of(call.integer(rule.limit), name(rule.limit)) : kUnlimited;
  const Search search = search_of(call, rule.search);
  if (rule.path >= 0 && call.is_given(rule.path))
    return from_positions(call.integers(rule.path), network.operands.size(), name(rule.path));
  return find_path(network, search, limit);
}

// Returns the names of the operands for error texts: "input", or "tensors[1]" in a list. Returns none for a list with
// an equation, whose labels errors name instead.
std::vector<std::string> names_of(const Call& call, const Equation& equation) {
  const int addend = rule_of<ContractionRule>(call.schema()).addend;
  std::vector<std::string> names;
  for (const uint8_t argument : call.op.tensor_arguments()) {
    const Argument& described = call.schema().arguments[argument];
    if (argument == addend) continue;
    if (call.is_tensor(argument)) names.emplace_back(described.name);
    if (!described.is_list || !equation.text.empty()) continue;
    for (size_t i = 0; i < call.tensors(argument).size(); ++i)
      names.push_back(std::string(described.name) + "[" + std::to_string(i) + "]");
  }
  return names;
}

// Returns the strides with which the result is a view of the operand, or nothing if elements are summed or repeated.
std::optional<Shape> strides_within(const Tensor& operand, const Labels& labels, const Labels& output,
                                    const Shape& shape) {
  Shape strides(shape.rank());
  for (int d = 0; d < operand.rank(); ++d) {
    const auto found = std::find(output.begin(), output.end(), labels[static_cast<size_t>(d)]);
    if (found == output.end()) return std::nullopt;
    const int to = static_cast<int>(found - output.begin());
    if (operand.size(d) != shape[to]) return std::nullopt;
    strides[to] += operand.stride(d);
  }
  return strides;
}

}  // namespace

Plan make_plan(const Call& call) {
  std::vector<const Tensor*> inputs;
  for_each_input(call, [&](const Tensor& input) { inputs.push_back(&input); });
  const Equation equation = equation_of(call, inputs);
  std::vector<Sizes> shapes;
  for (const Tensor* tensor : inputs) shapes.push_back(tensor->sizes());
  const std::vector<int64_t> sizes = label_sizes(equation, shapes, names_of(call, equation));
  Plan plan{};
  plan.shape.resize(static_cast<int>(equation.output.size()));
  for (size_t d = 0; d < equation.output.size(); ++d)
    plan.shape[static_cast<int>(d)] = sizes[static_cast<size_t>(equation.output[d])];
  count_elements(plan.shape);  // throws if the number of elements overflows
  plan.output = equation.output;
  plan.dtype = dtypes_of(call).results[0];
  plan.working = part_dtype(plan.dtype);
  const Network network = make_network(equation, shapes, sizes);
  const Path path = path_of(call, network);
  // The size 0 may also be one of the result, which then has no elements to compute.
  plan.is_empty_sum = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  if (plan.is_empty_sum) return plan;

  const ContractionRule& rule = rule_of<ContractionRule>(call.schema());
  const bool adds = rule.addend >= 0 && call.is_given(rule.addend);
  if (inputs.size() == 1 && !adds && inputs[0]->dtype() == plan.dtype)
    plan.strides = strides_within(*inputs[0], equation.operands[0], plan.output, plan.shape);

  std::vector<Layout> layouts;
  const auto make_all = [&](of_dtype working) {
    layouts.clear();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_converted = part_dtype(inputs[i]->dtype()) != working;  // to a contiguous tensor
      layouts.push_back(lay_out(equation.operands[i], shapes[i],
                                is_converted ? contiguous_strides(shapes[i]) : inputs[i]->strides(),
                                inputs[i]->dtype()));
    }
    const Layout output = lay_out(plan.output, plan.shape, contiguous_strides(plan.shape), plan.dtype);
    return make_stages(layouts, working, output, network, path);
  };
  plan.stages = make_all(plan.working);
  if (is_floating(plan.dtype) && (plan.stages.size() > 1 || adds) && compute_type(plan.dtype) != plan.dtype) {
    plan.working = compute_type(plan.dtype);
    plan.stages = make_all(plan.working);
  }
  for (const Tensor* input : inputs) plan.conversions.push_back(part_dtype(input->dtype()) != plan.working);
  plan.is_single = plan.stages.size() == 1 && !is_complex(plan.dtype) &&
                   std::find(plan.conversions.begin(), plan.conversions.end(), true) == plan.conversions.end();
  return plan;
}

}  // namespace oneflow::einsum
