// Losses.
#include <array>
#include <oneflow/oneflow.hpp>

#include "onnx/operators.h"

namespace oneflow::onnx {

namespace {

// Our losses ignore a class that no target has, unless the model names one.
int64_t ignored(const NodeCall& node) { return node.integer("ignore_index", -100); }

std::vector<Tensor> negative_log_likelihood(NodeCall& node) {
  return {nll_loss(node.tensor(0), node.tensor(1).to(int64), node.optional_tensor(2), ignored(node),
                   node.text("reduction", "mean"))};
}

std::vector<Tensor> softmax_cross_entropy(NodeCall& node) {
  const Tensor likelihoods = log_softmax(node.tensor(0), 1);
  return {nll_loss(likelihoods, node.tensor(1).to(int64), node.optional_tensor(2), ignored(node),
                   node.text("reduction", "mean")),
          likelihoods};
}

constexpr std::array kOperators{
    Operator{"NegativeLogLikelihoodLoss", 12, negative_log_likelihood},
    Operator{"SoftmaxCrossEntropyLoss", 12, softmax_cross_entropy},
};

}  // namespace

std::span<const Operator> loss_operators() { return kOperators; }

}  // namespace oneflow::onnx
