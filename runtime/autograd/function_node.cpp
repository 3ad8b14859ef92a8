#include "autograd/function_node.h"

#include <algorithm>

#include "autograd/mode.h"
#include "autograd/variable.h"
#include "base/error.h"
#include "dispatch/dispatch.h"

namespace oneflow::autograd {

namespace {

class FunctionNode final : public Node {
 public:
  FunctionNode(const char* name, of_backward_function backward, Context context)
      : name_(name), backward_(backward), context_(std::move(context)) {}

  const char* name() const override { return name_.c_str(); }

 private:
  Gradients compute(const Gradients& grads, const std::vector<bool>& wanted) override {
    const Gradients given = with_zeros(grads);
    std::vector<of_tensor> handles, results(edges().size());
    for (const TensorRef& grad : given) handles.push_back(to_handle(grad.get()));
    const std::unique_ptr<bool[]> flags(new bool[wanted.size()]);
    std::copy(wanted.begin(), wanted.end(), flags.get());
    const of_status status =
        backward_(context_.get(), handles.data(), handles.size(), flags.get(), results.data(), results.size());
    Gradients found;
    for (const of_tensor result : results) found.push_back(TensorRef::adopt(to_tensor(result)));
    if (status != OF_OK) throw Error(status, last_error(), last_error_is_complete());
    for (size_t i = 0; i < found.size(); ++i)
      if (found[i] && wanted[i]) found[i] = checked(std::move(found[i]), i);
    return found;
  }

  void release_saved() noexcept override { context_.reset(); }

  TensorRef checked(TensorRef grad, size_t input) const {
    const Form& form = edge_form(input);
    if (!same_sizes(grad->sizes(), form.sizes))
      fail(OF_SHAPE_ERROR, "%s: the gradient of input %zu has shape %s, but the input has shape %s", name(), input,
           to_text(grad->sizes()).c_str(), to_text(form.sizes).c_str());
    return in_form(std::move(grad), form);
  }

  const std::string name_;
  const of_backward_function backward_;
  Context context_;
};

}  // namespace

void record_function(const char* name, std::span<const of_tensor> inputs, std::span<const of_tensor> outputs,
                     of_backward_function backward, Context context) {
  if (!is_recording()) return;
  const bool is_wanted =
      std::any_of(inputs.begin(), inputs.end(), [](of_tensor each) { return each && requires_grad(*to_tensor(each)); });
  if (!is_wanted) return;
  auto node = Ref<Node>::adopt(new FunctionNode(name, backward, std::move(context)));
  for (const of_tensor each : inputs) node->add_edge(edge_of(*to_tensor(each)), *to_tensor(each));
  for (const of_tensor each : outputs) node->add_output(*to_tensor(each));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = *to_tensor(outputs[i]);
    if (is_differentiable(output.dtype())) Variable::of(output).set_origin(node, static_cast<int>(i));
  }
}

}  // namespace oneflow::autograd
