#include "onnx/exporter.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>
#include <oneflow/oneflow.hpp>

#include "onnx/operators.h"
#include "onnx/serializer.h"
#include "onnx/tensors.h"

namespace oneflow::onnx {

namespace {

// Returns the version of the format that came with an opset.
int64_t format_of(int64_t opset) {
  if (opset <= 11) return 6;
  if (opset <= 14) return 7;
  if (opset <= 18) return 8;
  return opset <= 20 ? 9 : 10;
}

// Returns an operator's first opset, at which converters of models need not stop.
int64_t first_opset(std::string_view type) {
  for (int64_t opset = 1; opset <= 30; ++opset)
    if (find_operator("", type, opset)) return opset;
  return 0;
}

}  // namespace

std::string_view elements_of(const Tensor& tensor) {
  const void* memory = nullptr;
  check(of_tensor_data(tensor.get(), &memory));
  return {static_cast<const char*>(memory), static_cast<size_t>(tensor.count()) * of_dtype_size(tensor.dtype())};
}

std::string key_of(const of_graph_integer& value) {
  std::string key = std::to_string(value.constant);
  for (const of_graph_term& term : std::span(value.terms, value.term_count)) {
    key += "+" + std::to_string(term.factor);
    for (const of_graph_atom& atom : std::span(term.atoms, term.atom_count))
      key += "*" + std::to_string(atom.value) + "." + std::to_string(atom.number);
  }
  return key + "/" + std::to_string(value.divisor);
}

Exporter::Exporter(Graph graph, int64_t opset) : graph_(std::move(graph)), opset_(opset) {
  const of_graph_info info = graph_.info();
  for (uint64_t id = 0; id < info.value_count; ++id) {
    of_graph_value value{};
    value.struct_size = sizeof value;
    check(of_graph_value_by_id(graph_.get(), static_cast<int32_t>(id), &value));
    types_.push_back(value);
  }
  names_.resize(types_.size());
  for (uint64_t i = 0; i < info.input_count; ++i) {
    const of_graph_value input = graph_.value(OF_GRAPH_INPUT, i);
    names_[static_cast<size_t>(input.id)] = free_name(input.name);
    model_.inputs.push_back(described(input, names_[static_cast<size_t>(input.id)]));
  }
  for (uint64_t i = 0; i < info.output_count; ++i) taken_.insert(graph_.value(OF_GRAPH_OUTPUT, i).name);
  for (uint64_t i = 0; i < info.constant_count; ++i) {
    const of_graph_value constant = graph_.value(OF_GRAPH_CONSTANT, i);
    of_tensor tensor = nullptr;
    check(of_graph_constant(graph_.get(), i, &tensor));
    constants_.emplace(constant.id, std::pair(std::string(constant.name), Tensor(tensor)));
  }
}

// ---------------------------------------------------------------- values of the graph

Name Exporter::value(int32_t value) {
  Name& name = names_[static_cast<size_t>(value)];
  if (!name.empty()) return name;
  const auto constant = constants_.find(value);
  if (constant == constants_.end()) throw Error(OF_INTERNAL_ERROR, "a value of the graph is not defined");
  name = free_name(constant->second.first);
  add_initializer(name, constant->second.second);
  return name;
}

void Exporter::set(int32_t value, Name name) { names_[static_cast<size_t>(value)] = std::move(name); }

const Tensor* Exporter::constant_of(int32_t value) const {
  const auto found = constants_.find(value);
  return found == constants_.end() ? nullptr : &found->second.second;
}

Name Exporter::free_name(const std::string& wanted) {
  Name name = wanted;
  while (name.empty() || !taken_.insert(name).second) name = wanted + "." + std::to_string(++counts_[wanted]);
  return name;
}

// ---------------------------------------------------------------- nodes

std::vector<Name> Exporter::add(std::string_view type, std::vector<Name> inputs, const Attributes& attributes,
                                size_t results) {
  if (!find_operator("", type, opset_)) {
    const int64_t first = first_opset(type);
    throw Unsupported("it needs " + std::string(type) + ", which " +
                      (first ? "opset " + std::to_string(first) + " has" : "no opset has"));
  }
  NodeProto node;
  node.type = keep(std::string(type));
  node.name = keep(free_name(std::string(type) + "_node"));
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  for (Name& input : inputs) node.inputs.push_back(keep(std::move(input)));
  std::vector<Name> names;
  for (size_t i = 0; i < results; ++i) {
    names.push_back(free_name(std::string(type)));
    results_.insert(names.back());
    node.outputs.push_back(keep(names.back()));
  }
  for (const Attribute& each : attributes) node.attributes.push_back(attribute(each));
  model_.nodes.push_back(std::move(node));
  return names;
}

Name Exporter::add(std::string_view type, std::vector<Name> inputs, const Attributes& attributes) {
  return add(type, std::move(inputs), attributes, 1)[0];
}

AttributeProto Exporter::attribute(const Attribute& given) {
  AttributeProto attribute;
  attribute.name = given.name;
  if (const auto* const integer = std::get_if<int64_t>(&given.value)) {
    attribute.type = AttributeType::kInt;
    attribute.integer = *integer;
  } else if (const auto* const real = std::get_if<double>(&given.value)) {
    attribute.type = AttributeType::kFloat;
    attribute.real = static_cast<float>(*real);
  } else if (const auto* const text = std::get_if<std::string>(&given.value)) {
    attribute.type = AttributeType::kString;
    attribute.text = keep(*text);
  } else if (const auto* const integers = std::get_if<std::vector<int64_t>>(&given.value)) {
    attribute.type = AttributeType::kInts;
    attribute.integers = *integers;
  } else {
    attribute.type = AttributeType::kTensor;
    kept_.push_back(std::get<Tensor>(given.value));
    attribute.tensors.push_back(tensor_proto("", kept_.back(), nullptr));
  }
  return attribute;
}

Name Exporter::cast(Name name, DType from, DType to) {
  if (from == to) return name;
  return add("Cast", {std::move(name)}, {{"to", static_cast<int64_t>(element_type_of(to))}});
}

// ---------------------------------------------------------------- constants and sizes

void Exporter::add_initializer(const Name& name, const Tensor& tensor) {
  initializers_.emplace_back(
      name, tensor.device().get().type == Device("cpu").get().type ? contiguous(tensor) : tensor.to_device("cpu"));
}

Name Exporter::constant(const Tensor& tensor) {
  const Tensor stored = contiguous(tensor);
  std::string key = std::to_string(static_cast<int>(stored.dtype()));
  for (const int64_t size : stored.sizes()) key += "," + std::to_string(size);
  key += ":" + std::string(elements_of(stored));
  const auto [found, is_new] = known_constants_.try_emplace(key);
  if (is_new) {
    found->second = free_name("number");
    add_initializer(found->second, stored);
  }
  return found->second;
}

Tensor element_of(const Number& value, DType dtype) {
  const auto own = [&] {
    switch (value.value().kind) {
      case OF_VALUE_INT:
        return int64;
      case OF_VALUE_UINT:
        return uint64;
      case OF_VALUE_BOOL:
        return bool_;
      default:
        return float64;
    }
  };
  return full(std::vector<int64_t>(), value, own()).to(dtype);
}

Name Exporter::number(DType dtype, const Number& value) { return constant(element_of(value, dtype)); }

Name Exporter::integer(int64_t value) { return constant(Tensor::copy_of(std::vector<int64_t>{value}, {})); }

Name Exporter::integers(const std::vector<int64_t>& values) {
  return constant(Tensor::copy_of(values, {static_cast<int64_t>(values.size())}));
}

Name Exporter::size_of(const of_graph_atom& atom) {
  of_graph_atom found = atom;
  for (uint64_t i = 0; found.value < 0 && i < graph_.info().input_count; ++i) {
    const of_graph_value input = graph_.value(OF_GRAPH_INPUT, i);
    for (int32_t dim = 0; dim < input.rank; ++dim) {
      const of_graph_integer& size = input.integers[dim];
      if (size.term_count && size.terms[0].atoms[0].number == atom.number) found = {input.id, dim};
    }
  }
  const std::string key = "%" + std::to_string(found.value);
  if (!computed_.contains(key)) computed_[key] = add("Shape", {value(found.value)});
  return add("Gather", {computed_[key], integers({found.number})}, {{"axis", int64_t{0}}});
}

// Returns a list of one integer.
Name Exporter::list(const of_graph_integer& value) {
  if (is_constant(value)) return integers({value.constant});
  const std::string key = key_of(value);
  if (const auto known = computed_.find(key); known != computed_.end()) return known->second;
  Name sum;
  for (const of_graph_term& term : std::span(value.terms, value.term_count)) {
    Name product;
    for (const of_graph_atom& atom : std::span(term.atoms, term.atom_count)) {
      const std::string atom_key = std::to_string(atom.value) + "." + std::to_string(atom.number);
      if (!computed_.contains(atom_key)) computed_[atom_key] = size_of(atom);
      product = product.empty() ? computed_[atom_key] : add("Mul", {product, computed_[atom_key]});
    }
    if (term.factor != 1) product = add("Mul", {product, integers({term.factor})});
    sum = sum.empty() ? product : add("Add", {sum, product});
  }
  if (value.constant) sum = add("Add", {sum, integers({value.constant})});
  if (value.divisor != 1) {
    // Div rounds towards zero, and Mod has the sign of the divisor.
    const Name divisor = integers({value.divisor});
    sum = add("Div", {add("Sub", {sum, add("Mod", {sum, divisor})}), divisor});
  }
  return computed_[key] = sum;
}

Name Exporter::integers(std::span<const of_graph_integer> values) {
  std::vector<Name> parts;
  std::vector<int64_t> constants;
  const auto add_constants = [&] {
    if (!constants.empty()) parts.push_back(integers(std::exchange(constants, {})));
  };
  for (const of_graph_integer& value : values) {
    if (is_constant(value)) {
      constants.push_back(value.constant);
      continue;
    }
    add_constants();
    parts.push_back(list(value));
  }
  if (parts.empty()) return integers(constants);
  add_constants();
  return parts.size() == 1 ? parts[0] : add("Concat", parts, {{"axis", int64_t{0}}});
}

Name Exporter::scalar(const of_graph_integer& value) {
  return is_constant(value) ? integer(value.constant) : squeeze(list(value), {0});
}

Name Exporter::sizes(int32_t value) {
  const of_graph_value& found = type(value);
  return integers(std::span(found.integers, static_cast<size_t>(found.rank)));
}

// ---------------------------------------------------------------- operators whose form depends on the opset

Name Exporter::reduce(std::string_view type, Name x, const std::vector<int64_t>& dims, bool keepdims) {
  Attributes attributes{{"keepdims", int64_t{keepdims}}};
  std::vector<Name> inputs{std::move(x)};
  if (!dims.empty()) {
    if (opset_ >= (type == "ReduceSum" ? 13 : 18))
      inputs.push_back(integers(dims));
    else
      attributes.push_back({"axes", dims});
  }
  return add(type, std::move(inputs), attributes);
}

Name Exporter::squeeze(Name x, const std::vector<int64_t>& dims) {
  if (opset_ >= 13) return add("Squeeze", {std::move(x), integers(dims)});
  return add("Squeeze", {std::move(x)}, {{"axes", dims}});
}

Name Exporter::unsqueeze(Name x, const std::vector<int64_t>& dims) {
  if (dims.empty()) return x;
  if (opset_ >= 13) return add("Unsqueeze", {std::move(x), integers(dims)});
  return add("Unsqueeze", {std::move(x)}, {{"axes", dims}});
}

Name Exporter::slice(Name x, int64_t dim, Name start, Name end, int64_t step) {
  return add("Slice", {std::move(x), std::move(start), std::move(end), integers({dim}), integers({step})});
}

Name Exporter::reshape(Name x, std::span<const of_graph_integer> from, std::span<const of_graph_integer> to) {
  const auto equal = [](const of_graph_integer& a, const of_graph_integer& b) { return key_of(a) == key_of(b); };
  if (std::ranges::equal(from, to, equal)) return x;
  const auto is_zero = [](const of_graph_integer& size) { return is_constant(size) && size.constant == 0; };
  if (std::ranges::any_of(to, is_zero)) {
    if (opset_ < 14) throw Unsupported("a reshaped tensor without elements needs opset 14");
    return add("Reshape", {std::move(x), integers(to)}, {{"allowzero", int64_t{1}}});
  }
  // 0 stands for the size in the same position, and -1 for the size that is left.
  std::vector<int64_t> sizes;
  size_t unknown = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    if (is_constant(to[i])) {
      sizes.push_back(to[i].constant);
    } else if (i < from.size() && equal(from[i], to[i])) {
      sizes.push_back(0);
    } else {
      sizes.push_back(-1);
      ++unknown;
    }
  }
  return add("Reshape", {std::move(x), unknown <= 1 ? integers(sizes) : integers(to)});
}

// ---------------------------------------------------------------- the model

ValueProto Exporter::described(const of_graph_value& value, const std::string& name) {
  ValueProto result{keep(name), true, element_type_of(static_cast<DType>(value.dtype)), true, {}};
  for (int32_t dim = 0; dim < value.rank; ++dim) {
    DimensionProto dimension;
    if (value.sizes[dim] >= 0)
      dimension.size = value.sizes[dim];
    else if (std::strchr(value.size_texts[dim], '%') == nullptr && std::strcmp(value.size_texts[dim], "?") != 0)
      dimension.name = value.size_texts[dim];
    result.dimensions.push_back(dimension);
  }
  return result;
}

void Exporter::add_outputs(std::map<Name, Name>& renamed) {
  std::set<std::string> inputs;
  for (const ValueProto& input : model_.inputs) inputs.emplace(input.name);
  for (uint64_t i = 0; i < graph_.info().output_count; ++i) {
    const of_graph_value output = graph_.value(OF_GRAPH_OUTPUT, i);
    const Name held = value(output.id);
    const Name name = inputs.contains(output.name) ? free_name(output.name) : Name(output.name);
    if (results_.contains(held) && !renamed.contains(held)) {
      renamed[held] = name;
    } else {
      const Name copy = add("Identity", {held});
      renamed[copy] = name;
    }
    model_.outputs.push_back(described(output, name));
  }
}

TensorProto Exporter::tensor_proto(std::string_view name, const Tensor& tensor, ExternalData* external) {
  TensorProto proto{
      name, {tensor.sizes().begin(), tensor.sizes().end()}, element_type_of(tensor.dtype()), elements_of(tensor)};
  if (!external || proto.raw.size() < std::max<uint64_t>(1, external->smallest)) return proto;
  constexpr uint64_t alignment = ExternalData::kAlignment;
  external->bytes = (external->bytes + alignment - 1) / alignment * alignment;
  proto.is_external = true;
  proto.external = {{"location", external->location},
                    {"offset", keep(std::to_string(external->bytes))},
                    {"length", keep(std::to_string(proto.raw.size()))}};
  external->bytes += proto.raw.size();
  external->tensors.push_back(tensor);
  return proto;
}

std::string Exporter::finish(ExternalData* external) {
  std::map<Name, Name> renamed;
  add_outputs(renamed);
  for (NodeProto& node : model_.nodes)
    for (std::vector<std::string_view>* const names : {&node.inputs, &node.outputs})
      for (std::string_view& name : *names)
        if (const auto found = renamed.find(Name(name)); found != renamed.end()) name = found->second;
  for (const auto& [name, tensor] : initializers_) model_.initializers.push_back(tensor_proto(name, tensor, external));
  model_.name = "graph";
  ModelProto model;
  model.format_version = format_of(opset_);
  model.opsets = {{"", opset_}};
  model.graph = model_;
  return serialize(model, "oneflow");
}

}  // namespace oneflow::onnx
