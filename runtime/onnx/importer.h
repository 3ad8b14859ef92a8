// Runs a model, node by node: what is known is computed, the rest is recorded by the capture that is running.
#ifndef ONEFLOW_ONNX_IMPORTER_H_
#define ONEFLOW_ONNX_IMPORTER_H_

#include <oneflow/graph.h>

#include <deque>
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
  // The values of a scope that runs once are the same in all runs if they are constant.
  Scope(const Scope* outer, bool runs_once) : outer_(outer), runs_once_(runs_once) {}

  void set(std::string_view name, ValueRef value) { values_[name] = std::move(value); }
  // Returns the value with a name, or null.
  ValueRef find(std::string_view name) const;
  bool runs_once() const { return runs_once_; }

  const Scope* outer() const { return outer_; }

  // The versions of operators, of a model or a function; null for graphs inside it.
  const Opsets* opsets = nullptr;
  // The attributes with which a function is called.
  std::map<std::string_view, const AttributeProto*> attributes = {};

 private:
  const Scope* const outer_;
  const bool runs_once_;
  std::unordered_map<std::string_view, ValueRef> values_;
};

// Says that no sizes make the model short enough.
class TooManyNodes : public Unsupported {
  using Unsupported::Unsupported;
};

// Returns the inputs of a model that have no elements yet: they are neither initializers nor given.
std::vector<const ValueProto*> open_inputs(const ModelProto& model, const std::map<std::string, Tensor>& given);

class Importer {
 public:
  // `given` are the elements of inputs that are constants of the graph.
  Importer(const ModelProto& model, ModelFiles& files, std::map<std::string, Tensor> given, bool sizes_vary)
      : model_(model),
        files_(files),
        given_(std::move(given)),
        inputs_(open_inputs(model, given_)),
        sizes_vary_(sizes_vary) {}

  // Runs the model with tensors for these, and returns the outputs.
  std::vector<Tensor> run(of_capture capture, const std::vector<Tensor>& inputs);

  // Runs a graph in a scope, and returns its outputs.
  std::vector<ValueRef> run_graph(const GraphProto& graph, Scope& scope);
  // Makes a scope, which lives until the next run.
  Scope& new_scope(const Scope* outer, bool runs_once) { return scopes_.emplace_back(outer, runs_once); }
  bool sizes_vary() const { return sizes_vary_; }
  of_capture capture() const { return capture_; }
  Tensor tensor(const TensorProto& proto) { return to_tensor(proto, files_); }
  // Returns whether a result that varies with sizes is left to the graph. What holds in the first run holds in all, so
  // that they record the same calls.
  bool is_too_large(const NodeProto& node, int64_t elements);
  // Names a tensor that is a constant of the graph.
  void name(const Value& value) const;

 private:
  void run_nodes(std::span<const NodeProto> nodes, Scope& scope);
  std::vector<ValueRef> call(const NodeProto& node, Scope& scope);
  std::vector<ValueRef> call_operator(const NodeProto& node, const Operator& found, int64_t opset,
                                      const Operands& operands, Scope& scope);
  std::vector<ValueRef> call_function(const NodeProto& node, const FunctionProto& function, const Operands& operands,
                                      Scope& scope);
  std::vector<ValueRef> compute(const NodeProto& node, const Operator& found, int64_t opset, const Operands& operands,
                                Scope& scope);
  std::vector<ValueRef> record(const NodeProto& node, const Operator& found, int64_t opset, const Operands& operands,
                               Scope& scope);
  int64_t opset_of(const NodeProto& node, const Scope& scope) const;

  const ModelProto& model_;
  ModelFiles& files_;
  const std::map<std::string, Tensor> given_;
  const std::vector<const ValueProto*> inputs_;
  const bool sizes_vary_;
  of_capture capture_ = nullptr;
  int function_depth_ = 0;
  int64_t node_count_ = 0;  // of this run
  std::deque<Scope> scopes_;
  int run_count_ = 0;
  std::unordered_set<const NodeProto*> left_to_graph_;  // nodes whose results are too large to be computed
  std::unordered_map<const TensorProto*, ValueRef> initializers_;
  std::unordered_map<const NodeProto*, std::vector<ValueRef>> computed_;  // constants, in all runs
};

// Returns a text for errors that names a node: "node 'conv1' (Conv, opset 13)".
std::string describe(const NodeProto& node, int64_t opset);

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_IMPORTER_H_
