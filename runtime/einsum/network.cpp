#include "einsum/network.h"

#include <algorithm>

namespace oneflow::einsum {

Network make_network(const Equation& equation, std::span<const Sizes> shapes, std::span<const int64_t> label_sizes) {
  Network network;
  const auto list = [&](const Labels& labels, const auto& size_of) {
    LabelList kept;
    for (size_t d = 0; d < labels.size(); ++d)
      if (size_of(d) != 1) kept.push_back(labels[d]);
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    return kept;
  };
  for (size_t i = 0; i < shapes.size(); ++i)
    network.operands.push_back(list(equation.operands[i], [&](size_t d) { return shapes[i][d]; }));
  network.output =
      list(equation.output, [&](size_t d) { return label_sizes[static_cast<size_t>(equation.output[d])]; });
  network.sizes.assign(label_sizes.begin(), label_sizes.end());
  return network;
}

Contraction::Contraction(const Network& network) : network_(network), uses_(network.sizes.size()) {
  for (const LabelList& labels : network.operands) count(labels, 1);
  count(network.output, 1);
}

void Contraction::count(const LabelList& labels, int change) {
  for (const int label : labels) uses_[static_cast<size_t>(label)] += change;
}

PairProduct Contraction::product(const LabelList& left, const LabelList& right) const {
  PairProduct product{{}, 1};
  bool sums = false;
  const auto add = [&](int label, int inside) {
    product.operations *= network_.sizes[static_cast<size_t>(label)];
    if (uses_[static_cast<size_t>(label)] > inside) {
      product.labels.push_back(label);
    } else {
      sums = true;
    }
  };
  auto a = left.begin(), b = right.begin();
  while (a != left.end() && b != right.end()) {
    if (*a == *b) {
      add(*a++, 2);
      ++b;
    } else {
      add(*a < *b ? *a++ : *b++, 1);
    }
  }
  while (a != left.end()) add(*a++, 1);
  while (b != right.end()) add(*b++, 1);
  if (sums) product.operations *= 2;
  return product;
}

void Contraction::replace(const LabelList& left, const LabelList& right, const LabelList& product) {
  count(left, -1);
  count(right, -1);
  count(product, 1);
}

double operations_at_once(const Network& network) {
  LabelList all = network.output;
  for (const LabelList& labels : network.operands) all.insert(all.end(), labels.begin(), labels.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const double products = std::max<double>(1, static_cast<double>(network.operands.size()) - 1);
  return network.volume(all) * (all.size() > network.output.size() ? products + 1 : products);
}

std::vector<PairProduct> follow(const Network& network, const Path& path) {
  Contraction contraction(network);
  std::vector<PairProduct> products;
  products.reserve(path.size());
  const size_t operands = network.operands.size();
  const auto labels = [&](size_t number) -> const LabelList& {
    return number < operands ? network.operands[number] : products[number - operands].labels;
  };
  for (const Step& step : path) {
    products.push_back(contraction.product(labels(step.left), labels(step.right)));
    contraction.replace(labels(step.left), labels(step.right), products.back().labels);
  }
  return products;
}

Cost cost_of(const Network& network, const Path& path) {
  Cost cost;
  const std::vector<PairProduct> products = follow(network, path);
  for (size_t i = 0; i < products.size(); ++i) {
    cost.operations += products[i].operations;
    cost.largest = std::max(cost.largest, network.volume(products[i].labels));
  }
  return cost;
}

}  // namespace oneflow::einsum
