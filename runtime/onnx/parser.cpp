// Protozero reads the encoding, protocol buffers. Debian's own static library of protocol buffers cannot become part of
// a shared one, and reads no file above 2 GiB.
#include <oneflow/oneflow.hpp>
#include <protozero/exception.hpp>

// A field with a type that its number does not have is an error of the file.
#define protozero_assert(holds) \
  if (!(holds)) throw protozero::unknown_pbf_wire_type_exception()
#include <protozero/pbf_reader.hpp>

#include "onnx/format.h"

namespace oneflow::onnx {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// How deep graphs may be nested in attributes.
constexpr int kMaxNesting = 32;

std::string_view text_of(pbf_reader& message) {
  const protozero::data_view view = message.get_view();
  return {view.data(), view.size()};
}

// Appends the numbers of a repeated field, which is packed or not.
template <class T, class Packed, class Single>
void append(std::vector<T>& numbers, pbf_reader& message, Packed&& packed, Single&& single) {
  if (message.wire_type() == pbf_wire_type::length_delimited) {
    for (const auto number : packed()) numbers.push_back(static_cast<T>(number));
  } else {
    numbers.push_back(static_cast<T>(single()));
  }
}

void append_int64(std::vector<int64_t>& numbers, pbf_reader& message) {
  append(
      numbers, message, [&] { return message.get_packed_int64(); }, [&] { return message.get_int64(); });
}

void append_float(std::vector<float>& numbers, pbf_reader& message) {
  append(
      numbers, message, [&] { return message.get_packed_float(); }, [&] { return message.get_float(); });
}

std::pair<std::string_view, std::string_view> read_pair(pbf_reader message) {
  std::pair<std::string_view, std::string_view> pair;
  while (message.next()) {
    if (message.tag() == 1)
      pair.first = text_of(message);
    else if (message.tag() == 2)
      pair.second = text_of(message);
    else
      message.skip();
  }
  return pair;
}

TensorProto read_tensor(pbf_reader message) {
  TensorProto tensor;
  while (message.next()) switch (message.tag()) {
      case 1:
        append_int64(tensor.sizes, message);
        break;
      case 2:
        tensor.type = static_cast<ElementType>(message.get_int32());
        break;
      case 4:
        append_float(tensor.floats, message);
        break;
      case 5:
        append(
            tensor.int32s, message, [&] { return message.get_packed_int32(); }, [&] { return message.get_int32(); });
        break;
      case 7:
        append_int64(tensor.int64s, message);
        break;
      case 8:
        tensor.name = text_of(message);
        break;
      case 9:
        tensor.raw = text_of(message);
        break;
      case 10:
        append(
            tensor.doubles, message, [&] { return message.get_packed_double(); }, [&] { return message.get_double(); });
        break;
      case 11:
        append(
            tensor.uint64s, message, [&] { return message.get_packed_uint64(); }, [&] { return message.get_uint64(); });
        break;
      case 13:
        tensor.external.insert(read_pair(message.get_message()));
        break;
      case 14:
        tensor.is_external = message.get_int32() == 1;
        break;
      default:
        message.skip();
    }
  return tensor;
}

GraphProto read_graph(pbf_reader message, int depth);

AttributeProto read_attribute(pbf_reader message, int depth) {
  AttributeProto attribute;
  while (message.next()) switch (message.tag()) {
      case 1:
        attribute.name = text_of(message);
        break;
      case 2:
        attribute.real = message.get_float();
        break;
      case 3:
        attribute.integer = message.get_int64();
        break;
      case 4:
        attribute.text = text_of(message);
        break;
      case 5:
        attribute.tensors.push_back(read_tensor(message.get_message()));
        break;
      case 6:
        attribute.graphs.push_back(read_graph(message.get_message(), depth + 1));
        break;
      case 7:
        append_float(attribute.reals, message);
        break;
      case 8:
        append_int64(attribute.integers, message);
        break;
      case 9:
        attribute.texts.push_back(text_of(message));
        break;
      case 20:
        attribute.type = static_cast<AttributeType>(message.get_int32());
        break;
      case 21:
        attribute.referred = text_of(message);
        break;
      default:
        message.skip();
    }
  return attribute;
}

NodeProto read_node(pbf_reader message, int depth) {
  NodeProto node;
  while (message.next()) switch (message.tag()) {
      case 1:
        node.inputs.push_back(text_of(message));
        break;
      case 2:
        node.outputs.push_back(text_of(message));
        break;
      case 3:
        node.name = text_of(message);
        break;
      case 4:
        node.type = text_of(message);
        break;
      case 5:
        node.attributes.push_back(read_attribute(message.get_message(), depth));
        break;
      case 7:
        node.domain = text_of(message);
        if (node.domain == "ai.onnx") node.domain = "";
        break;
      default:
        message.skip();
    }
  return node;
}

DimensionProto read_dimension(pbf_reader message) {
  DimensionProto dimension;
  while (message.next()) {
    if (message.tag() == 1)
      dimension.size = message.get_int64();
    else if (message.tag() == 2)
      dimension.name = text_of(message);
    else
      message.skip();
  }
  return dimension;
}

void read_tensor_type(pbf_reader message, ValueProto& value) {
  value.is_tensor = true;
  while (message.next()) {
    if (message.tag() == 1) {
      value.type = static_cast<ElementType>(message.get_int32());
    } else if (message.tag() == 2) {
      value.has_shape = true;
      for (pbf_reader shape = message.get_message(); shape.next(1);)
        value.dimensions.push_back(read_dimension(shape.get_message()));
    } else {
      message.skip();
    }
  }
}

ValueProto read_value(pbf_reader message) {
  ValueProto value;
  while (message.next()) {
    if (message.tag() == 1) {
      value.name = text_of(message);
    } else if (message.tag() == 2) {
      for (pbf_reader type = message.get_message(); type.next();) {
        if (type.tag() == 1)
          read_tensor_type(type.get_message(), value);
        else
          type.skip();
      }
    } else {
      message.skip();
    }
  }
  return value;
}

GraphProto read_graph(pbf_reader message, int depth) {
  if (depth > kMaxNesting) throw InvalidArgument("graphs are nested more than 32 deep");
  GraphProto graph;
  while (message.next()) switch (message.tag()) {
      case 1:
        graph.nodes.push_back(read_node(message.get_message(), depth));
        break;
      case 2:
        graph.name = text_of(message);
        break;
      case 5:
        graph.initializers.push_back(read_tensor(message.get_message()));
        break;
      case 11:
        graph.inputs.push_back(read_value(message.get_message()));
        break;
      case 12:
        graph.outputs.push_back(read_value(message.get_message()));
        break;
      case 15:
        graph.has_sparse_initializers = true;
        message.skip();
        break;
      default:
        message.skip();
    }
  return graph;
}

void read_opset(pbf_reader message, Opsets& opsets) {
  std::string_view domain;
  int64_t version = 0;
  while (message.next()) {
    if (message.tag() == 1)
      domain = text_of(message);
    else if (message.tag() == 2)
      version = message.get_int64();
    else
      message.skip();
  }
  opsets[domain == "ai.onnx" ? "" : domain] = version;
}

FunctionProto read_function(pbf_reader message) {
  FunctionProto function;
  while (message.next()) switch (message.tag()) {
      case 1:
        function.name = text_of(message);
        break;
      case 4:
        function.inputs.push_back(text_of(message));
        break;
      case 5:
        function.outputs.push_back(text_of(message));
        break;
      case 7:
        function.nodes.push_back(read_node(message.get_message(), 0));
        break;
      case 9:
        read_opset(message.get_message(), function.opsets);
        break;
      case 10:
        function.domain = text_of(message);
        if (function.domain == "ai.onnx") function.domain = "";
        break;
      case 11:
        function.defaults.push_back(read_attribute(message.get_message(), 0));
        break;
      default:
        message.skip();
    }
  return function;
}

ModelProto read_model(pbf_reader message) {
  ModelProto model;
  bool has_graph = false;
  while (message.next()) switch (message.tag()) {
      case 1:
        model.format_version = message.get_int64();
        break;
      case 7:
        model.graph = read_graph(message.get_message(), 0);
        has_graph = true;
        break;
      case 8:
        read_opset(message.get_message(), model.opsets);
        break;
      case 25:
        model.functions.push_back(read_function(message.get_message()));
        break;
      default:
        message.skip();
    }
  if (!has_graph) throw InvalidArgument("it has no graph");
  for (size_t i = 0; i < model.functions.size(); ++i)
    model.function_numbers.try_emplace({model.functions[i].domain, model.functions[i].name}, i);
  return model;
}

// Calls a reader, and says of what it cannot read that the file is no ONNX model.
template <class Read>
auto read_all(std::span<const char> bytes, Read&& read) {
  try {
    return read(pbf_reader(bytes.data(), bytes.size()));
  } catch (const protozero::exception& error) {
    throw InvalidArgument(std::string("the file is not an ONNX file, or is damaged: ") + error.what());
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(std::string("the file is not an ONNX file, or is damaged: ") + error.what());
  }
}

}  // namespace

const FunctionProto* ModelProto::find_function(const NodeProto& node) const {
  const auto found = function_numbers.find({node.domain, node.type});
  return found == function_numbers.end() ? nullptr : &functions[found->second];
}

ModelProto parse_model(std::span<const char> bytes) {
  return read_all(bytes, [](pbf_reader message) { return read_model(message); });
}

TensorProto parse_tensor(std::span<const char> bytes) {
  return read_all(bytes, [](pbf_reader message) { return read_tensor(message); });
}

}  // namespace oneflow::onnx
