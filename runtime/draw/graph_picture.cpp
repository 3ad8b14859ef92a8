#include "draw/graph_picture.h"

#include <map>
#include <set>
#include <span>

#include "draw/diagram.h"
#include "draw/text.h"

namespace oneflow::draw {

namespace {

constexpr Style kStyle{R"(    g.input rect { fill: #e2f1e0; stroke: #559150; }
    g.output rect { fill: #deebf7; stroke: #4479ad; }
    g.state rect { fill: #ece6f5; stroke: #7b62a8; }
    g.constant rect { fill: #fdf1de; stroke: #b98435; }
)",
                       R"(    text.weight { fill: #935d0f; }
)"};
constexpr int kCallRadius = 4, kValueRadius = 12;

class GraphPicture {
 public:
  explicit GraphPicture(const Graph& graph) : graph_(graph), info_(graph.info()) {}

  std::string run() {
    for (uint64_t i = 0; i < info_.constant_count; ++i) {
      const of_graph_value constant = graph_.value(OF_GRAPH_CONSTANT, i);
      constants_[constant.id] = constant.name;
    }
    for (uint64_t i = 0; i < info_.input_count; ++i) {
      const of_graph_value input = graph_.value(OF_GRAPH_INPUT, i);
      define(input.id, add_value_box("input", input));
    }
    for (uint64_t i = 0; i < info_.call_count; ++i) add_call(i);
    for (uint64_t i = 0; i < info_.output_count; ++i) add_output(i);
    return std::move(diagram_).draw(kStyle);
  }

 private:
  // Returns the type and the sizes of a value: "float32[batch, 3] on cuda:0". That it is on the host is not said.
  static std::string type_of(const of_graph_value& value) {
    std::string text = std::string(of_dtype_name(value.dtype)) + "[";
    for (int32_t dim = 0; dim < value.rank; ++dim) text += (dim ? ", " : "") + std::string(value.size_texts[dim]);
    text += "]";
    const of_device host{};
    if (value.device.type == host.type && value.device.index == host.index) return text;
    char name[64];
    return text + " on " + of_device_name(value.device, name);
  }
  std::string type_of(int32_t id) const {
    of_graph_value value{};
    value.struct_size = sizeof value;
    check(of_graph_value_by_id(graph_.get(), id, &value));
    return type_of(value);
  }

  // Adds the box of an input, an output or a constant.
  int add_value_box(const char* kind, const of_graph_value& value) {
    return diagram_.add_box({kind, kValueRadius, printable(value.name), kind, {{type_of(value)}}});
  }

  // Says that a box gives a value, or changes it.
  void define(int32_t value, int box) { sources_[value] = {box, -1}; }

  // Leads a value to a box.
  void use(int32_t value, int box) {
    const auto found = sources_.find(value);
    if (found == sources_.end()) return;
    auto& [source, line] = found->second;
    if (line < 0) line = diagram_.add_line(source, "%" + std::to_string(value) + " " + type_of(value));
    diagram_.lead(line, box);
  }

  void add_call(uint64_t number) {
    of_graph_call call{};
    call.struct_size = sizeof call;
    check(of_graph_call_at(graph_.get(), number, &call));
    of_op_info op{};
    op.struct_size = sizeof op;
    check(of_op_get_info(call.op, &op));
    const int box = diagram_.add_box({"call", kCallRadius, op.name, "call " + std::to_string(number), {}});
    for (int32_t i = 0; i < call.argument_count; ++i) {
      const of_graph_argument& argument = call.arguments[i];
      const std::string name = op.arguments[i].name;
      if (argument.kind == OF_VALUE_TENSOR) {
        add_operand(box, name, argument.as.values[0]);
      } else if (argument.kind == OF_VALUE_TENSOR_LIST) {
        for (int32_t k = 0; k < argument.count; ++k)
          add_operand(box, name + "[" + std::to_string(k) + "]", argument.as.values[k]);
      } else if (argument.kind != OF_VALUE_NONE && call.argument_texts[i]) {
        diagram_.box(box).lines.push_back({name + "=" + call.argument_texts[i]});
      }
    }
    const std::span results(call.results, call.result_count), written(call.written, call.written_count);
    if (call.gives_results)
      for (const int32_t result : results) use(result, box);
    std::set<int32_t> changed(written.begin(), written.end());
    changed.insert(results.begin(), results.end());
    for (const int32_t value : changed)
      if (!constants_.contains(value)) define(value, box);
  }

  void add_operand(int box, const std::string& name, int32_t value) {
    if (value < 0) return;
    const auto constant = constants_.find(value);
    if (constant == constants_.end()) return use(value, box);
    Box& user = diagram_.box(box);
    user.lines.push_back({name + " " + type_of(value), "weight"});
    user.hint += "\n" + name + ": %" + std::to_string(value) + " " + printable(constant->second);
  }

  void add_output(uint64_t number) {
    const of_graph_value output = graph_.value(OF_GRAPH_OUTPUT, number);
    if (const auto constant = constants_.find(output.id);
        constant != constants_.end() && !sources_.contains(output.id)) {
      of_graph_value named = output;
      named.name = constant->second.c_str();
      define(output.id, add_value_box("constant", named));
    }
    use(output.id, add_value_box(number < info_.returned_count ? "output" : "state", output));
  }

  const Graph& graph_;
  const of_graph_info info_;
  std::map<int32_t, std::string> constants_;        // their names
  std::map<int32_t, std::pair<int, int>> sources_;  // the box that gave each value last, and its line; -1: none yet
  Diagram diagram_;
};

}  // namespace

std::string graph_picture(const Graph& graph) { return GraphPicture(graph).run(); }

}  // namespace oneflow::draw
