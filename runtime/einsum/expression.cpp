#include "einsum/expression.h"

#include <algorithm>

#include "base/error.h"
#include "einsum/equation.h"
#include "einsum/equation_text.h"
#include "einsum/sizes.h"

namespace oneflow::einsum {

namespace {

// The columns of the report after which a product and the equation are cut.
constexpr int kProductColumns = 40, kEquationColumns = 100;

std::string term_of(const Equation& equation, const LabelList& labels) {
  std::string term;
  bool is_ellipsis = false;
  for (const int label : labels) {
    const std::string& symbol = equation.symbols[static_cast<size_t>(label)];
    if (symbol != "..." || !is_ellipsis) term += symbol;
    is_ellipsis = symbol == "...";
  }
  return term;
}

std::string padded(const std::string& text, int width, bool right) {
  const std::string blanks(static_cast<size_t>(std::max(0, width - columns_of(text))), ' ');
  return right ? blanks + text : text + blanks;
}

std::string report_of(const Expression& expression, const Equation& equation, const Network& network,
                      const Path& path) {
  const size_t operands = network.operands.size();
  std::string report =
      format_text("%s: %zu operand%s, %zu product%s\n", cut_to(expression.equation(), kEquationColumns).c_str(),
                  operands, operands == 1 ? "" : "s", path.size(), path.size() == 1 ? "" : "s");
  report += format_text("operations           %.4g, all at once %.4g\n", expression.operations(),
                        expression.operations_at_once());
  report += format_text("largest intermediate %.4g elements\n", expression.largest());
  if (path.empty()) return report;

  const std::vector<PairProduct> products = follow(network, path);
  const auto term = [&](size_t number) {
    return term_of(equation, number < operands ? network.operands[number] : products[number - operands].labels);
  };
  std::vector<std::string> texts;
  int width = columns_of("product");
  for (size_t i = 0; i < path.size(); ++i) {
    const std::string text = term(path[i].left) + "," + term(path[i].right) + "->" +
                             (i + 1 == path.size() ? term_of(equation, network.output) : term(operands + i));
    texts.push_back(cut_to(text, kProductColumns));
    width = std::max(width, columns_of(texts.back()));
  }
  report += '\n';
  report += padded("positions", 12, false) + padded("product", width, false) + "   operations     elements\n";
  for (size_t i = 0; i < path.size(); ++i) {
    const auto positions = format_text("%ld, %ld", static_cast<long>(expression.path()[2 * i]),
                                       static_cast<long>(expression.path()[2 * i + 1]));
    report += padded(positions, 12, false) + padded(texts[i], width, false) +
              padded(format_text("%.4g", products[i].operations), 13, true) +
              padded(format_text("%.4g", network.volume(products[i].labels)), 13, true) + "\n";
  }
  return report;
}

}  // namespace

Expression::Expression(std::string_view text, std::vector<Shape> shapes, const Options& options)
    : equation_(text), shapes_(std::move(shapes)) {
  std::vector<int> ranks;
  std::vector<Sizes> sizes;
  for (const Shape& shape : shapes_) {
    count_elements(shape);  // throws for negative sizes and for an overflow
    ranks.push_back(shape.rank());
    sizes.push_back(shape);
  }
  const Equation equation = resolve_equation(parse_equation(text), ranks);
  const std::vector<int64_t> label_sizes = einsum::label_sizes(equation, sizes, {});
  for (const int label : equation.output) result_.push_back(label_sizes[static_cast<size_t>(label)]);

  const Network network = make_network(equation, sizes, label_sizes);
  const size_t operands = shapes_.size();
  const Path path = options.path ? from_positions(*options.path, operands, "optimize")
                                 : find_path(network, options.search, options.limit);
  path_ = to_positions(path, operands);
  operations_at_once_ = einsum::operations_at_once(network);
  cost_ = path.empty() ? Cost{operations_at_once_, network.volume(network.output)} : cost_of(network, path);
  report_ = report_of(*this, equation, network, path);
}

size_t Expression::memory() const {
  return sizeof(*this) + equation_.capacity() + shapes_.capacity() * sizeof(Shape) +
         path_.capacity() * sizeof(path_[0]) + report_.capacity();
}

}  // namespace oneflow::einsum
