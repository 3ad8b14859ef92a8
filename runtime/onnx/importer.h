// Runs a model, node by node: what is known is computed, the rest is recorded by the capture that is running.
#ifndef ONEFLOW_ONNX_IMPORTER_H_
#define ONEFLOW_ONNX_IMPORTER_H_

#include <oneflow/graph.h>

#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/file.h"
#include "onnx/format.h"
#include "onnx/node_call.h"
#include "onnx/operators.h"
#include "onnx/tensors.h"
#include "onnx/value.h"

namespace oneflow::onnx {

// The names of values in a graph, and in those around it.
class Scope {
 public:
  // Scopes of the same number are the same place in several runs, where known values that do not vary are the same.
  Scope(const Scope* outer, int64_t number) : outer_(outer), number_(number) {}

  void set(std::string_view name, ValueRef value) { values_[name] = std::move(value); }
  // Returns the value with a name, or null.
  ValueRef find(std::string_view name) const;
  // Returns the attribute of a function's call that one refers to, or itself; null for one that is left out.
  const AttributeProto* resolve(const AttributeProto& attribute) const;
  int64_t number() const { return number_; }

  const Scope* outer() const { return outer_; }

  // The versions of operators, of a model or a function; null for graphs inside it.
  const Opsets* opsets = nullptr;
  // The attributes with which a function is called.
  std::map<std::string_view, const AttributeProto*> attributes = {};

 private:
  const Scope* const outer_;
  const int64_t number_;
  std::unordered_map<std::string_view, ValueRef> values_;
};

// Says that no sizes make the model short enough.
class TooManyNodes : public Unsupported {
  using Unsupported::Unsupported;
};

// Says that the capture must start again, since more is known of the model.
struct StartAgain {};

// Returns the inputs of a model that have no elements yet: they are neither initializers nor given.
std::vector<const ValueProto*> open_inputs(const ModelProto& model, const std::map<std::string, Tensor>& given);

// Runs the model, in all runs of all captures that are tried. What is constant is computed once.
class Importer {
 public:
  // `given` are the elements of inputs that are constants of the graph.
  Importer(const ModelProto& model, ModelFiles& files, std::map<std::string, Tensor> given);

  // Starts a capture, or starts it again: see StartAgain.
  void start(bool sizes_vary, bool again);
  // Runs the model with tensors for these, and returns the outputs.
  std::vector<Tensor> run(of_capture capture, const std::vector<Tensor>& inputs);
  // Returns how many nodes and steps of loops have run, and how many in the run with the most.
  int64_t work() const { return work_; }
  int64_t largest_run() const { return largest_run_; }
  // Returns how many runs the capture has begun.
  int run_count() const { return run_count_; }

  // Runs a graph in a scope, and returns its outputs.
  std::vector<ValueRef> run_graph(const GraphProto& graph, Scope& scope);
  // Makes a scope, which lives until the next run: step `step` of what a graph or a node in another scope is.
  Scope& new_scope(const Scope* outer, const Scope& caller, const void* what, int64_t step);
  // Counts work. Throws TooManyNodes if one run does too much.
  void count_work(int64_t count);
  bool sizes_vary() const { return sizes_vary_; }
  of_capture capture() const { return capture_; }
  // Returns a tensor of the model.
  const Tensor& tensor(const TensorProto& proto);
  // Checks a decision of a node that would make another program: how many steps a loop has, or which branch is taken.
  // Throws InvalidArgument if it is not the one of the first run, since it depends on sizes then.
  void decide(const NodeProto& node, const Scope& scope, int64_t decision);
  // Returns how many bytes of constants the model justifies, and how many of them may still be computed.
  uint64_t allowance() const;
  uint64_t allowance_left() const;
  // Returns whether the model justifies another table of so many numbers.
  bool has_room(int64_t count) const;
  // See NodeCall::is_constant(). The run in which numbers turn out to vary ends with StartAgain.
  bool is_constant(const NodeProto& node, const Scope& scope, size_t number, const std::vector<double>& key,
                   int64_t count);
  // Returns constant `number` that a node needs besides its operands: make(), which is called once for all runs. Throws
  // InvalidArgument if it cannot be constant.
  Tensor make_constant(const NodeProto& node, const Scope& scope, size_t number, const std::vector<double>& key,
                       int64_t count, const std::function<Tensor()>& make);
  // Names a tensor that is a constant of the graph.
  void name(const Value& value) const;

 private:
  // A node, or a graph, in a scope with a number, and what distinguishes several of the same.
  struct Place {
    int64_t scope;
    const void* what;
    int64_t number;

    friend bool operator==(const Place&, const Place&) = default;
  };
  struct PlaceHash {
    size_t operator()(const Place& place) const;
  };
  template <class Item>
  using Places = std::unordered_map<Place, Item, PlaceHash>;
  // A constant, and what it follows from.
  struct MadeConstant {
    std::vector<double> key;
    Tensor tensor;
  };

  void forget_constants();
  void run_nodes(std::span<const NodeProto> nodes, Scope& scope);
  std::vector<ValueRef> call(const NodeProto& node, Scope& scope);
  std::vector<ValueRef> call_operator(const NodeProto& node, const Operator& found, int64_t opset,
                                      const Operands& operands, Scope& scope);
  std::vector<ValueRef> call_function(const NodeProto& node, const FunctionProto& function, const Operands& operands,
                                      Scope& scope);
  std::vector<ValueRef> compute(const NodeProto& node, const Operator& found, int64_t opset, const Operands& operands,
                                Scope& scope, bool varies);
  std::vector<ValueRef> record(const NodeProto& node, const Operator& found, int64_t opset, const Operands& operands,
                               Scope& scope);
  int64_t opset_of(const NodeProto& node, const Scope& scope) const;

  const ModelProto& model_;
  ModelFiles& files_;
  const std::map<std::string, Tensor> given_;
  const std::vector<const ValueProto*> inputs_;
  uint64_t computed_bytes_ = 0;  // of constants
  bool sizes_vary_ = false;
  of_capture capture_ = nullptr;
  int function_depth_ = 0;
  int64_t work_ = 0, work_of_run_ = 0, largest_run_ = 0;
  std::deque<Scope> scopes_;
  int run_count_ = 0;
  Places<int64_t> scope_numbers_;
  std::unordered_map<const TensorProto*, Tensor> tensors_;
  std::unordered_map<const TensorProto*, ValueRef> initializers_;
  // In all runs: the results of nodes that are constants, those that nodes need besides, and decisions.
  Places<std::vector<ValueRef>> computed_;
  Places<MadeConstant> made_;
  Places<int64_t> decisions_;
  // The constants of nodes that are none, since they depend on sizes that vary, or are too large, and the error for
  // that.
  Places<Error> refused_;
  bool starts_again_ = false;  // whether this run has found more of them
  // Nodes whose results are not computed, since they need too much memory. What holds in one run holds in those after
  // it, so that they record the same calls.
  std::unordered_set<Place, PlaceHash> left_to_graph_;
};

// Returns a text for errors that names a node: "node 'conv1' (Conv, opset 13)".
std::string describe(const NodeProto& node, int64_t opset);

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_IMPORTER_H_
