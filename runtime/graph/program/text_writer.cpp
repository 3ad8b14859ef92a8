#include <charconv>
#include <cmath>
#include <set>

#include "base/error.h"
#include "device/device.h"
#include "files/json.h"
#include "graph/program/text.h"

namespace oneflow::graph {

namespace {

class Writer {
 public:
  explicit Writer(const Program& program) : program_(program) {}

  // Returns the text of the size of a value.
  std::string size_text(ValueId id, size_t dim) const {
    const SizeExpression& size = program_.values[static_cast<size_t>(id)].sizes[dim];
    const bool is_unknown = size == SizeExpression{0, {{1, {{id, static_cast<int32_t>(dim)}}}}, 1};
    return is_unknown ? "?" : size_text(size);
  }

  std::string type_of(ValueId id) const {
    const Value& value = program_.values[static_cast<size_t>(id)];
    std::string result = std::string(dtype_name(value.dtype)) + "[";
    for (size_t i = 0; i < value.sizes.size(); ++i) {
      result += (i ? ", " : "") + size_text(id, i);
    }
    result += "]";
    if (!(value.device == kHost)) result += " on " + device_name(value.device);
    return result;
  }

  std::string argument_text(const Argument& argument) const {
    switch (argument.kind) {
      case OF_VALUE_BOOL:
        return argument.number.as.integer ? "true" : "false";
      case OF_VALUE_FLOAT:
        return real_text(argument.number.as.real);
      case OF_VALUE_UINT:
        return std::to_string(argument.number.as.natural);
      case OF_VALUE_INT:
        return size_text(argument.sizes[0]);
      case OF_VALUE_INT_LIST:
        return list_text(argument.sizes, [&](const SizeExpression& size) { return size_text(size); });
      case OF_VALUE_STRING:
        return files::to_json(argument.text);
      case OF_VALUE_DTYPE:
        return dtype_name(argument.dtype);
      case OF_VALUE_DEVICE:
        return "@" + device_name(argument.devices[0]);
      case OF_VALUE_DEVICE_LIST:
        return list_text(argument.devices, [](of_device device) { return "@" + device_name(device); });
      case OF_VALUE_TENSOR:
        return name_of(argument.values[0]);
      case OF_VALUE_TENSOR_LIST:
        return "list" + list_text(argument.values, [](ValueId value) { return name_of(value); });
      default:
        return "none";
    }
  }

  std::string run() {
    text_ = "graph 1\n";
    for (const NamedSize& size : program_.sizes) write_named_size(size);
    write_operators();
    for (const Input& input : program_.inputs) write_named("input", input.value, input.name);
    for (const Constant& constant : program_.constants) write_named("constant", constant.value, constant.name);
    for (const Node& node : program_.nodes) write_node(node);
    for (size_t i = 0; i < program_.outputs.size(); ++i) {
      const Output& output = program_.outputs[i];
      line((i < program_.returned ? "output " : "state ") + name_of(output.value) + " " + files::to_json(output.name));
    }
    if (!program_.input_structure.empty()) line("inputs " + program_.input_structure);
    if (!program_.output_structure.empty()) line("outputs " + program_.output_structure);
    text_.pop_back();
    return std::move(text_);
  }

 private:
  void line(const std::string& content) { text_ += content + "\n"; }

  static std::string name_of(ValueId value) { return value == kNoValue ? "none" : "%" + std::to_string(value); }

  void write_named_size(const NamedSize& size) {
    std::string content = "size " + size.name + " = " + std::to_string(size.example) + " in " +
                          std::to_string(size.minimum) + ".." + std::to_string(size.maximum);
    if (size.step != 1) content += " step " + std::to_string(size.step);
    line(content);
  }

  void write_operators() {
    std::set<std::string> signatures;
    for (const Node& node : program_.nodes)
      signatures.insert(std::string(node.op->schema().name) + ": " + node.op->schema().signature);
    for (const std::string& signature : signatures) line("operator " + signature);
  }

  void write_named(const char* what, ValueId value, const std::string& name) {
    line(std::string(what) + " " + name_of(value) + " " + files::to_json(name) + ": " + type_of(value));
  }

  std::string size_text(const SizeExpression& size) const {
    std::string sum;
    const auto add = [&](const std::string& summand, bool is_negative) {
      sum += sum.empty() ? (is_negative ? "-" : "") : (is_negative ? " - " : " + ");
      sum += summand;
    };
    const auto magnitude = [](int64_t number) {
      const auto bits = static_cast<uint64_t>(number);
      return std::to_string(number < 0 ? 0 - bits : bits);
    };
    for (const Term& term : size.terms) {
      std::string product;
      if (term.factor != 1 && term.factor != -1) product = magnitude(term.factor);
      for (const Atom& atom : term.atoms) product += (product.empty() ? "" : "*") + atom_text(atom);
      add(product, term.factor < 0);
    }
    if (size.constant != 0 || size.terms.empty()) add(magnitude(size.constant), size.constant < 0);
    if (size.divisor == 1) return sum;
    return (size.terms.size() + (size.constant != 0) > 1 ? "(" + sum + ")" : sum) + "/" + std::to_string(size.divisor);
  }

  std::string atom_text(const Atom& atom) const {
    if (atom.value == kNoValue) return program_.sizes[static_cast<size_t>(atom.number)].name;
    return name_of(atom.value) + "." + std::to_string(atom.number);
  }

  void write_node(const Node& node) {
    std::string content;
    for (const ValueId result : node.results) {
      content += (content.empty() ? "" : ", ") + name_of(result);
      content += node.gives_results ? "!" : ": " + type_of(result);
    }
    if (!content.empty()) content += " = ";
    content += std::string(node.op->schema().name) + "(";
    bool is_first = true;
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      if (has_default(node, i)) continue;
      content += (is_first ? "" : ", ") + std::string(node.op->schema().arguments[i].name) + "=" +
                 argument_text(node.arguments[i]);
      is_first = false;
    }
    line(content + ")");
  }

  static std::string real_text(double number) {
    if (std::isnan(number)) return "nan";
    if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
    char buffer[40];
    const auto end = std::to_chars(buffer, std::end(buffer), number).ptr;
    std::string text(buffer, end);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }

  template <class Item, class ToText>
  static std::string list_text(const std::vector<Item>& items, ToText&& item_text) {
    std::string result = "[";
    for (size_t i = 0; i < items.size(); ++i) result += (i ? ", " : "") + item_text(items[i]);
    return result + "]";
  }

  const Program& program_;
  std::string text_;
};

}  // namespace

std::string size_text(const Program& program, ValueId value, size_t dim) {
  return Writer(program).size_text(value, dim);
}

std::string argument_text(const Program& program, const Argument& argument) {
  return Writer(program).argument_text(argument);
}

std::string to_text(const Program& program) { return Writer(program).run(); }

}  // namespace oneflow::graph
