#include "onnx/node_call.h"

#include <algorithm>

#include "onnx/importer.h"
#include "onnx/tensors.h"
#include "side/printable.h"

namespace oneflow::onnx {

namespace {

constexpr int64_t kMaxTable = int64_t{1} << 25;
constexpr int64_t kMaxList = 65536;
constexpr int64_t kMaxSteps = 32768;  // each becomes tens of calls of the graph

}  // namespace

int64_t wrap_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    throw IndexOutOfRange("axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
  return axis < 0 ? axis + rank : axis;
}

int64_t count_elements(std::span<const int64_t> sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes)
    if (__builtin_mul_overflow(count, size, &count))
      throw ShapeError("a result has more elements than an int64 can count");
  return count;
}

void check_table(std::span<const int64_t> sizes) {
  if (count_elements(sizes) > kMaxTable)
    throw Unsupported("it needs a table of more than " + std::to_string(kMaxTable) + " numbers");
}

void check_steps(int64_t steps) {
  if (steps > kMaxSteps) throw Unsupported("the loop has more than " + std::to_string(kMaxSteps) + " steps");
}

Tensor call_function(const char* name, const std::vector<Tensor>& operands) {
  of_op op = of_op_find(name);
  std::vector<of_value> values;
  for (const Tensor& operand : operands) values.push_back(of_tensor_value(operand.get()));
  return detail::call<1>(op, name, values)[0];
}

std::vector<int64_t> to_integers(const Tensor& tensor) { return tensor.to(int64).to_vector<int64_t>(); }

const ValueRef& NodeCall::value(size_t position) const {
  if (!has(position)) throw InvalidArgument("it has no input number " + std::to_string(position));
  return operands_[position];
}

const Tensor& NodeCall::tensor(size_t position) const {
  Value& found = *value(position);
  if (computes_) return found.known;
  if (found.is_known() && !found.varies) importer_.name(found);
  return found.in_graph();
}

std::vector<Tensor> NodeCall::tensors(size_t first) const {
  std::vector<Tensor> found;
  for (size_t i = first; i < count(); ++i) found.push_back(tensor(i));
  return found;
}

const Tensor& NodeCall::known(size_t position) const {
  const Value& found = *value(position);
  if (!found.is_known())
    throw Unsupported("it reads the elements of " + in_quotes(found.name) +
                      ", which are known only when the graph runs; if they follow from an input of the model, give "
                      "that input in `values`");
  return found.known;
}

bool NodeCall::can_read(size_t position) const {
  const Tensor& found = known(position);
  return static_cast<uint64_t>(found.count()) <= importer_.allowance() / of_dtype_size(found.dtype());
}

const Tensor& NodeCall::list(size_t position) const {
  const Tensor& found = known(position);
  if (found.count() > kMaxList)
    throw InvalidArgument(in_quotes(value(position)->name) + " has " + std::to_string(found.count()) +
                          " numbers, which are too many for sizes or axes");
  return found;
}

std::vector<int64_t> NodeCall::integers(size_t position) const {
  return computed([&] { return to_integers(list(position)); });
}

int64_t NodeCall::integer(size_t position) const {
  return computed([&] { return known(position).item<int64_t>(); });
}

double NodeCall::number(size_t position) const {
  return computed([&] { return known(position).item<double>(); });
}

std::optional<std::vector<int64_t>> NodeCall::optional_integers(size_t position) const {
  if (!has(position)) return {};
  return integers(position);
}

const AttributeProto* NodeCall::attribute(std::string_view name) const {
  const auto found = std::ranges::find(node_.attributes, name, &AttributeProto::name);
  if (found == node_.attributes.end()) return nullptr;
  return scope_.resolve(*found);
}

const AttributeProto* NodeCall::attribute(std::string_view name, AttributeType type) const {
  const AttributeProto* const found = attribute(name);
  // Files of the first version of the format do not give the types.
  if (found && found->type != type && found->type != AttributeType{})
    throw InvalidArgument("its attribute " + in_quotes(name) + " is of another type");
  return found;
}

int64_t NodeCall::integer(std::string_view name, int64_t otherwise) const {
  const AttributeProto* const found = attribute(name, AttributeType::kInt);
  return found ? found->integer : otherwise;
}

int64_t NodeCall::required_integer(std::string_view name) const {
  if (!attribute(name)) throw InvalidArgument("it must have an attribute " + in_quotes(name));
  return integer(name, 0);
}

double NodeCall::real(std::string_view name, double otherwise) const {
  const AttributeProto* const found = attribute(name, AttributeType::kFloat);
  return found ? static_cast<double>(found->real) : otherwise;
}

std::string NodeCall::text(std::string_view name, std::string_view otherwise) const {
  const AttributeProto* const found = attribute(name, AttributeType::kString);
  return std::string(found ? found->text : otherwise);
}

std::optional<std::vector<int64_t>> NodeCall::integers(std::string_view name) const {
  const AttributeProto* const found = attribute(name, AttributeType::kInts);
  if (!found) return {};
  return found->integers;
}

std::vector<int64_t> NodeCall::integers(std::string_view name, const std::vector<int64_t>& otherwise) const {
  return integers(name).value_or(otherwise);
}

std::optional<std::vector<float>> NodeCall::reals(std::string_view name) const {
  const AttributeProto* const found = attribute(name, AttributeType::kFloats);
  if (!found) return {};
  return found->reals;
}

std::optional<std::vector<std::string>> NodeCall::texts(std::string_view name) const {
  const AttributeProto* const found = attribute(name, AttributeType::kStrings);
  if (!found) return {};
  return std::vector<std::string>(found->texts.begin(), found->texts.end());
}

DType NodeCall::dtype(std::string_view name, DType otherwise) const {
  const AttributeProto* const found = attribute(name, AttributeType::kInt);
  return found ? dtype_of(static_cast<ElementType>(found->integer)) : otherwise;
}

Tensor NodeCall::tensor_attribute(std::string_view name) const {
  const AttributeProto* const found = attribute(name, AttributeType::kTensor);
  if (!found || found->tensors.empty()) return {};
  return importer_.tensor(found->tensors[0]);
}

std::optional<std::vector<int64_t>> NodeCall::axes(size_t position) const {
  return has(position) ? integers(position) : integers("axes");
}

std::vector<ValueRef> NodeCall::run_graph(std::string_view name, const std::vector<ValueRef>& inputs,
                                          int64_t step) const {
  const AttributeProto* const found = attribute(name, AttributeType::kGraph);
  if (!found || found->graphs.empty())
    throw InvalidArgument("it must have a graph as its attribute " + in_quotes(name));
  const GraphProto& graph = found->graphs[0];
  if (graph.inputs.size() != inputs.size())
    throw InvalidArgument("the graph " + in_quotes(name) + " must have " + std::to_string(inputs.size()) +
                          " inputs, got " + std::to_string(graph.inputs.size()));
  Scope& inner = importer_.new_scope(&scope_, scope_, &graph, step);
  for (size_t i = 0; i < inputs.size(); ++i) inner.set(graph.inputs[i].name, inputs[i]);
  return importer_.run_graph(graph, inner);
}

void NodeCall::decide(int64_t decision) const { importer_.decide(node_, scope_, decision); }

bool NodeCall::is_constant(const std::vector<double>& key, int64_t count) const {
  if (computes_) return importer_.has_room(count);
  if (importer_.is_constant(node_, scope_, constant_count_, key, count)) return true;
  ++constant_count_;
  return false;
}

Tensor NodeCall::constant(const std::vector<double>& key, int64_t count, const std::function<Tensor()>& make) const {
  if (!computes_) return importer_.make_constant(node_, scope_, constant_count_++, key, count, make);
  if (!importer_.has_room(count)) throw Unsupported("it needs a table of numbers that is too large for this model");
  return make();
}

of_capture NodeCall::capture() const { return importer_.capture(); }
uint64_t NodeCall::most_bytes() const { return importer_.allowance(); }

const Tensor& NodeCall::shape_source(size_t position) const {
  const Value& found = *value(position);
  return found.is_known() ? found.known : found.recorded;
}

bool NodeCall::sizes_vary() const { return importer_.sizes_vary(); }

ValueRef NodeCall::known_value(Tensor tensor) const { return std::make_shared<Value>(Value{"", std::move(tensor)}); }

ValueRef NodeCall::graph_value(Tensor tensor) const {
  return std::make_shared<Value>(Value{"", {}, false, std::move(tensor)});
}

}  // namespace oneflow::onnx
