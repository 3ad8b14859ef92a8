#include "onnx/serializer.h"

#include <protozero/pbf_writer.hpp>

namespace oneflow::onnx {

namespace {

using protozero::pbf_writer;

void add_text(pbf_writer& message, protozero::pbf_tag_type tag, std::string_view text) {
  message.add_string(tag, text.data(), text.size());
}

void write_tensor(pbf_writer message, const TensorProto& tensor) {
  for (const int64_t size : tensor.sizes) message.add_int64(1, size);
  message.add_int32(2, static_cast<int32_t>(tensor.type));
  if (!tensor.name.empty()) add_text(message, 8, tensor.name);
  if (!tensor.is_external) {
    add_text(message, 9, tensor.raw);
    return;
  }
  for (const auto& [key, value] : tensor.external) {
    pbf_writer pair(message, 13);
    add_text(pair, 1, key);
    add_text(pair, 2, value);
  }
  message.add_int32(14, 1);
}

void write_attribute(pbf_writer message, const AttributeProto& attribute) {
  add_text(message, 1, attribute.name);
  switch (attribute.type) {
    case AttributeType::kFloat:
      message.add_float(2, attribute.real);
      break;
    case AttributeType::kInt:
      message.add_int64(3, attribute.integer);
      break;
    case AttributeType::kString:
      add_text(message, 4, attribute.text);
      break;
    case AttributeType::kTensor:
      write_tensor(pbf_writer(message, 5), attribute.tensors[0]);
      break;
    case AttributeType::kInts:
      for (const int64_t integer : attribute.integers) message.add_int64(8, integer);
      break;
    default:
      break;
  }
  message.add_int32(20, static_cast<int32_t>(attribute.type));
}

void write_node(pbf_writer message, const NodeProto& node) {
  for (const std::string_view input : node.inputs) add_text(message, 1, input);
  for (const std::string_view output : node.outputs) add_text(message, 2, output);
  add_text(message, 3, node.name);
  add_text(message, 4, node.type);
  for (const AttributeProto& attribute : node.attributes) write_attribute(pbf_writer(message, 5), attribute);
  if (!node.domain.empty()) add_text(message, 7, node.domain);
}

void write_value(pbf_writer message, const ValueProto& value) {
  add_text(message, 1, value.name);
  pbf_writer type(message, 2);
  pbf_writer tensor(type, 1);
  tensor.add_int32(1, static_cast<int32_t>(value.type));
  if (value.dimensions.empty()) {  // protozero drops a nested message without fields
    tensor.add_message(2, "", 0);
    return;
  }
  pbf_writer shape(tensor, 2);
  for (const DimensionProto& dimension : value.dimensions) {
    pbf_writer written(shape, 1);
    if (dimension.size) written.add_int64(1, *dimension.size);
    if (!dimension.size && !dimension.name.empty()) add_text(written, 2, dimension.name);
  }
}

void write_graph(pbf_writer message, const GraphProto& graph) {
  for (const NodeProto& node : graph.nodes) write_node(pbf_writer(message, 1), node);
  add_text(message, 2, graph.name);
  for (const TensorProto& tensor : graph.initializers) write_tensor(pbf_writer(message, 5), tensor);
  for (const ValueProto& input : graph.inputs) write_value(pbf_writer(message, 11), input);
  for (const ValueProto& output : graph.outputs) write_value(pbf_writer(message, 12), output);
}

}  // namespace

std::string serialize(const ModelProto& model, std::string_view producer) {
  std::string bytes;
  pbf_writer message(bytes);
  message.add_int64(1, model.format_version);
  add_text(message, 2, producer);
  write_graph(pbf_writer(message, 7), model.graph);
  for (const auto& [domain, version] : model.opsets) {
    pbf_writer opset(message, 8);
    if (!domain.empty()) add_text(opset, 1, domain);
    opset.add_int64(2, version);
  }
  return bytes;
}

}  // namespace oneflow::onnx
