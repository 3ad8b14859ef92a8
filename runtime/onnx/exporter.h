// Writes a graph as a model, call by call: the nodes, the names and the sizes that its converters share.
#ifndef ONEFLOW_ONNX_EXPORTER_H_
#define ONEFLOW_ONNX_EXPORTER_H_

#include <oneflow/graph.h>

#include <deque>
#include <map>
#include <oneflow/session.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "onnx/format.h"

namespace oneflow::onnx {

// The name of a tensor in the model; empty for an input of a node that is left out.
using Name = std::string;

struct Attribute {
  std::string_view name;
  std::variant<int64_t, double, std::string, std::vector<int64_t>, Tensor> value;
};
using Attributes = std::vector<Attribute>;

// Where the elements of large constants go.
struct ExternalData {
  static constexpr uint64_t kAlignment = 4096;  // of each constant, for readers that map the file

  std::string location;             // the name of the file, in the model's folder
  uint64_t smallest = 0;            // constants of fewer bytes stay in the model
  std::deque<Tensor> tensors = {};  // in the order of the file
  uint64_t bytes = 0;
};

class Exporter {
 public:
  // Throws Unsupported for a type that ONNX does not have.
  Exporter(Graph graph, int64_t opset);
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  const Graph& graph() const { return graph_; }
  int64_t opset() const { return opset_; }

  // ---- values of the graph

  const of_graph_value& type(int32_t value) const { return types_[static_cast<size_t>(value)]; }
  // Returns the name of what a value holds now.
  Name value(int32_t value);
  // Says that a value holds a tensor from now on.
  void set(int32_t value, Name name);
  // Returns the tensor of a value that is a constant of the graph; null for others.
  const Tensor* constant_of(int32_t value) const;

  // ---- nodes

  // Adds a node, and returns the names of its results. Throws Unsupported if the opset does not have the operator.
  std::vector<Name> add(std::string_view type, std::vector<Name> inputs, const Attributes& attributes, size_t results);
  // The same for a node with one result.
  Name add(std::string_view type, std::vector<Name> inputs, const Attributes& attributes = {});
  Name cast(Name name, DType from, DType to);

  // ---- constants and sizes

  Name constant(const Tensor& tensor);
  // A scalar.
  Name number(DType dtype, const Number& value);
  Name integer(int64_t value);
  // A list of int64.
  Name integers(const std::vector<int64_t>& values);
  // Returns a list of the values of integers, which nodes compute where they vary.
  Name integers(std::span<const of_graph_integer> values);
  // The same for one integer, as a scalar.
  Name scalar(const of_graph_integer& value);
  // The sizes of a value.
  Name sizes(int32_t value);

  // ---- operators whose form depends on the opset

  // Reduces dimensions; all of them for an empty list.
  Name reduce(std::string_view type, Name x, const std::vector<int64_t>& dims, bool keepdims);
  Name squeeze(Name x, const std::vector<int64_t>& dims);
  Name unsqueeze(Name x, const std::vector<int64_t>& dims);
  Name slice(Name x, int64_t dim, Name start, Name end, int64_t step = 1);
  // Gives a tensor the sizes of a value, with as few nodes as possible. `from` are its sizes now.
  Name reshape(Name x, std::span<const of_graph_integer> from, std::span<const of_graph_integer> to);

  // Makes the model's bytes. Its outputs are those of the graph.
  std::string finish(ExternalData* external);

 private:
  struct Input {
    std::string name;
    int32_t value;
  };

  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }
  Name free_name(const std::string& wanted);
  Name list(const of_graph_integer& value);
  Name size_of(const of_graph_atom& atom);
  void add_initializer(const Name& name, const Tensor& tensor);
  AttributeProto attribute(const Attribute& given);
  ValueProto described(const of_graph_value& value, const std::string& name);
  void add_outputs(std::map<Name, Name>& renamed);
  TensorProto tensor_proto(std::string_view name, const Tensor& tensor, ExternalData* external);

  const Graph graph_;
  const int64_t opset_;
  // What the parts of the model refer to.
  std::deque<std::string> texts_;
  std::deque<Tensor> kept_;
  std::vector<of_graph_value> types_;
  std::map<int32_t, std::pair<std::string, Tensor>> constants_;
  std::vector<Name> names_;  // of values
  std::set<std::string> taken_;
  std::map<std::string, int> counts_;
  std::deque<std::pair<Name, Tensor>> initializers_;
  std::map<std::string, Name> known_constants_;  // by type, sizes and elements
  std::map<std::string, Name> computed_;         // sizes
  std::set<Name> results_;                       // of nodes
  GraphProto model_;
};

// Returns a text that is the same for equal integers.
std::string key_of(const of_graph_integer& value);
// Returns the bytes of a contiguous tensor, which it keeps.
std::string_view elements_of(const Tensor& tensor);
// Returns a number as a tensor without dimensions: the number itself, if the dtype has it.
Tensor element_of(const Number& value, DType dtype);

inline bool is_constant(const of_graph_integer& value) { return value.term_count == 0; }

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_EXPORTER_H_
