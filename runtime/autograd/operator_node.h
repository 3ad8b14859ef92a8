// The node of a call of an operator, whose gradients are those of its record.
#ifndef ONEFLOW_AUTOGRAD_OPERATOR_NODE_H_
#define ONEFLOW_AUTOGRAD_OPERATOR_NODE_H_

#include <vector>

#include "autograd/node.h"
#include "autograd/saved.h"
#include "dispatch/call.h"

namespace oneflow::autograd {

class OperatorNode final : public Node {
 public:
  // Creates the node of a call that is about to run: saves its arguments, and adds the edges of its operands.
  static Ref<OperatorNode> create(const Call& call);
  // Saves the results, once the call has run, and adds the outputs.
  void save_results(const Call& call);

  const char* name() const override { return name_; }

 private:
  // What an edge is for: a rule of the schema, and the position in the list if its argument is one.
  struct Target {
    const GradientRule* rule;
    int item;
  };
  // The memory of the arguments of a call of a gradient.
  struct Inputs;

  Gradients compute(const Gradients& grads, const std::vector<bool>& wanted) override;
  void release_saved() noexcept override;
  explicit OperatorNode(const Call& call) : op_(call.op), name_(call.name) {}
  void add_edges(const Call& call, const GradientRule& rule);
  // Returns the value of an argument of a gradient.
  of_value input(const GradientInput& input, const Gradients& grads, int item, Inputs& memory);
  // Calls the operator of a rule. Returns its results, or the items of the list that it returns.
  Gradients call_gradient(const Target& target, const Gradients& grads, bool conjugates);

  const Operator& op_;
  const char* const name_;
  std::vector<Target> targets_;  // of the edges
  std::vector<SavedValue> arguments_;
  std::vector<SavedTensor> results_;
};

}  // namespace oneflow::autograd

#endif  // ONEFLOW_AUTOGRAD_OPERATOR_NODE_H_
