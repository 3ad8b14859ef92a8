#include "autograd/view_write.h"

#include "autograd/variable.h"
#include "dispatch/dispatch.h"

namespace oneflow::autograd {

namespace {

constinit const OperatorName kAsStrided("as_strided");
constinit const OperatorName kClone("clone");
constinit const OperatorName kFill("fill");

// The gradient of the base before the write is that after it, with zeros in place of the elements of the view. That of
// what was written is the part of these elements.
class ViewWriteNode final : public Node {
 public:
  explicit ViewWriteNode(const Tensor& view)
      : sizes_(view.sizes()), strides_(view.strides()), offset_(view.offset() - view.base()->offset()) {}

  const char* name() const override { return "write to a view"; }

 private:
  Gradients compute(const Gradients& grads, const std::vector<bool>&) override {
    const TensorRef rest = call_operator(kClone, grads[0]);
    const TensorRef part = call_operator(kAsStrided, rest, sizes_, strides_, offset_);
    const TensorRef written = call_operator(kClone, part);
    call_into("fill", *part, *kFill, part, 0);
    return {rest, written};
  }

  void release_saved() noexcept override {}

  const Shape sizes_, strides_;
  const int64_t offset_;
};

}  // namespace

void record_view_write(const Tensor& view, const Ref<Node>& node, int output) {
  const Tensor& base = *view.base();
  if (!base.is_contiguous() || base.dtype() != view.dtype())
    fail(OF_UNSUPPORTED,
         "the gradient of a write to a view is known only for views of contiguous tensors, of the same "
         "dtype");
  auto write = Ref<Node>::adopt(new ViewWriteNode(view));
  write->add_edge(edge_of(base), base);
  write->add_edge({node, output, {}}, view);
  write->add_output(base);
  Variable& variable = Variable::of(base);
  const uint64_t generation = variable.generation();
  // What was written is the value of the view until the view is used: from then on it is a part of the base.
  if (Variable* const own = Variable::find(view); own && !own->is_leaf()) own->set_origin(node, output, generation);
  variable.set_origin(std::move(write), 0, generation + 1);
}

}  // namespace oneflow::autograd
