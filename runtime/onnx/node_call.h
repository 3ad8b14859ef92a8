// A node of a model with its operands: what converters of operators see.
#ifndef ONEFLOW_ONNX_NODE_CALL_H_
#define ONEFLOW_ONNX_NODE_CALL_H_

#include <oneflow/graph.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/format.h"
#include "onnx/value.h"

namespace oneflow::onnx {

class Importer;
class Scope;

using Operands = std::vector<ValueRef>;  // null for those that are left out

// Lets calls compute, instead of being recorded, for as long as the object lives.
class Computing {
 public:
  // A call that needs more than so many bytes, together with those before, fails with OF_OUT_OF_MEMORY.
  Computing(of_capture capture, uint64_t most) : capture_(capture) {
    check(of_capture_limit(capture_, most, nullptr));
    check(of_capture_pause(capture_, true));
  }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;
  ~Computing() {
    of_capture_limit(capture_, UINT64_MAX, nullptr);
    of_capture_pause(capture_, false);
  }

  // Ends the limit, and returns how many bytes the calls have allocated.
  uint64_t allocated() const {
    uint64_t bytes = 0;
    check(of_capture_limit(capture_, UINT64_MAX, &bytes));
    return bytes;
  }

 private:
  const of_capture capture_;
};

class NodeCall {
 public:
  // Operands are read as elements if `computes`, and as values of the graph otherwise.
  NodeCall(Importer& importer, Scope& scope, const NodeProto& node, int64_t opset, const Operands& operands,
           bool computes)
      : importer_(importer), scope_(scope), node_(node), opset_(opset), operands_(operands), computes_(computes) {}

  const NodeProto& node() const { return node_; }
  int64_t opset() const { return opset_; }

  // ---- operands

  size_t count() const { return operands_.size(); }
  bool has(size_t position) const { return position < operands_.size() && operands_[position]; }
  // Returns an operand, which must be there.
  const ValueRef& value(size_t position) const;
  const Tensor& tensor(size_t position) const;
  // Returns an operand, or an empty tensor.
  Tensor optional_tensor(size_t position) const { return has(position) ? tensor(position) : Tensor(); }
  std::vector<Tensor> tensors(size_t first = 0) const;
  // Returns the elements of an operand, which must be known.
  const Tensor& known(size_t position) const;
  // The same of sizes, axes or other numbers for dimensions, which are few.
  const Tensor& list(size_t position) const;
  // Returns whether the model justifies the memory of all elements of a known operand, which may be a view of fewer.
  bool can_read(size_t position) const;
  std::vector<int64_t> integers(size_t position) const;
  int64_t integer(size_t position) const;
  double number(size_t position) const;
  // The same of an operand that can be left out.
  std::optional<std::vector<int64_t>> optional_integers(size_t position) const;
  int64_t integer_or(size_t position, int64_t otherwise) const { return has(position) ? integer(position) : otherwise; }
  double number_or(size_t position, double otherwise) const { return has(position) ? number(position) : otherwise; }

  // ---- attributes

  const AttributeProto* attribute(std::string_view name) const;
  // Returns an attribute, or null. Throws InvalidArgument for one of another type.
  const AttributeProto* attribute(std::string_view name, AttributeType type) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  // Returns an attribute that must be there.
  int64_t required_integer(std::string_view name) const;
  double real(std::string_view name, double otherwise) const;
  bool flag(std::string_view name, bool otherwise = false) const { return integer(name, otherwise) != 0; }
  std::string text(std::string_view name, std::string_view otherwise = "") const;
  std::optional<std::vector<int64_t>> integers(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name, const std::vector<int64_t>& otherwise) const;
  std::optional<std::vector<float>> reals(std::string_view name) const;
  std::optional<std::vector<std::string>> texts(std::string_view name) const;
  DType dtype(std::string_view name, DType otherwise) const;
  Tensor tensor_attribute(std::string_view name) const;

  // Returns the axes that operand `position` gives in newer opsets, and the attribute "axes" in older ones.
  std::optional<std::vector<int64_t>> axes(size_t position) const;

  // ---- results and subgraphs

  size_t result_count() const { return node_.outputs.size(); }
  bool wants(size_t result) const { return result < node_.outputs.size() && !node_.outputs[result].empty(); }
  // Runs a graph that is an attribute, as step `step` of a loop.
  std::vector<ValueRef> run_graph(std::string_view attribute, const std::vector<ValueRef>& inputs,
                                  int64_t step = 0) const;
  // See Importer::decide().
  void decide(int64_t decision) const;
  // Whether the model has sizes that vary.
  bool sizes_vary() const;
  // Returns what a function computes from elements, without recording it.
  template <class Function>
  auto computed(Function&& function) const {
    if (computes_) return function();
    const Computing computing(capture(), most_bytes());
    return function();
  }
  // Returns whether a table of `count` numbers can be a constant: it is not too large, and `key`, from which its
  // elements follow, is the same in all runs. If not, the node needs other calls, which compute what would be the
  // constant; a node that has none asks for it all the same, which is an error.
  bool is_constant(const std::vector<double>& key, int64_t count) const;
  // Returns the constant of `count` numbers that make() computes.
  Tensor constant(const std::vector<double>& key, int64_t count, const std::function<Tensor()>& make) const;
  // Returns an operand for its sizes, without recording it.
  const Tensor& shape_source(size_t position) const;
  // Makes a value of known elements, or of a tensor of the graph.
  ValueRef known_value(Tensor tensor) const;
  ValueRef graph_value(Tensor tensor) const;

 private:
  of_capture capture() const;
  uint64_t most_bytes() const;  // see Importer::allowance()

  Importer& importer_;
  Scope& scope_;
  const NodeProto& node_;
  const int64_t opset_;
  const Operands& operands_;
  const bool computes_;
  mutable size_t constant_count_ = 0;
};

// Returns a dimension between 0 and rank - 1. Throws IndexOutOfRange.
int64_t wrap_axis(int64_t axis, int64_t rank);
// Returns the product of sizes. Throws ShapeError if it is too large.
int64_t count_elements(std::span<const int64_t> sizes);
// Throws Unsupported for a table that is too large to be computed here, element by element.
void check_table(std::span<const int64_t> sizes);
// Throws Unsupported for a loop of too many steps, each of which becomes a part of the graph.
void check_steps(int64_t steps);
// Calls an operator of ours, by its name, with tensors.
Tensor call_function(const char* name, const std::vector<Tensor>& operands);
// Returns the elements of a tensor of integers.
std::vector<int64_t> to_integers(const Tensor& tensor);

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_NODE_CALL_H_
