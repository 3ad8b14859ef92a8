// What oneflow_py/graph.py is made of. The Python code checks all arguments.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <oneflow/front_end.h>
#include <oneflow/onnx.h>

#include <deque>

#include "classes/classes.h"
#include "nodes.h"

namespace oneflow::python {
namespace {

// A named size: its name, minimum, maximum and step.
using Size = std::tuple<nb::bytes, int64_t, int64_t, int64_t>;

// Returns named sizes for the C API, which borrow their names.
std::vector<of_named_size> named_sizes(const std::vector<Size>& sizes) {
  std::vector<of_named_size> named;
  for (const auto& [name, minimum, maximum, step] : sizes) named.push_back({name.c_str(), minimum, maximum, step});
  return named;
}

// A capture that is under way.
struct Capture {
  Owned<of_capture, of_capture_release> handle;
  size_t input_count;

  // Returns the inputs of the next run; None if no further run is needed.
  std::optional<std::vector<OwnedTensor>> begin() const {
    std::vector<of_tensor> tensors(input_count);
    bool has_begun = false;
    require(of_capture_begin(handle.get(), tensors.data(), &has_begun));
    if (!has_begun) return {};
    return std::vector<OwnedTensor>(tensors.begin(), tensors.end());
  }
  void end(const std::vector<Node>& outputs) const {
    const std::vector<of_file_node> nodes = nodes_of(outputs);
    require(of_capture_end(handle.get(), nodes.data(), nodes.size()));
  }
  void cancel() const { require(of_capture_cancel(handle.get())); }
};

// Starts a capture. A size is its name, minimum, maximum and step, a dimension the numbers of an input, of its
// dimension and of its size.
Capture start_capture(const std::vector<Node>& inputs, const std::vector<Size>& sizes,
                      const std::vector<std::tuple<uint64_t, int32_t, int32_t>>& dimensions) {
  const std::vector<of_file_node> nodes = nodes_of(inputs);
  const std::vector<of_named_size> named = named_sizes(sizes);
  std::vector<of_named_dimension> places;
  for (const auto& [input, dim, size] : dimensions) places.push_back({input, dim, size});
  of_capture_options options{};
  options.struct_size = sizeof(options);
  options.sizes = named.data();
  options.size_count = named.size();
  options.dimensions = places.data();
  options.dimension_count = places.size();
  of_capture capture = nullptr;
  require(of_capture_create(nodes.data(), nodes.size(), &options, &capture));
  size_t count = 0;
  for (const of_file_node& node : nodes) count += node.kind == OF_NODE_TENSOR;
  return {Owned<of_capture, of_capture_release>(capture), count};
}

// A graph, and the session that runs it.
struct Graph {
  Owned<of_session, of_session_release> session;

  of_graph handle() const { return of_session_graph(session.get()); }
  of_graph_info info() const {
    of_graph_info info{};
    info.struct_size = sizeof(info);
    require(of_graph_get_info(handle(), &info));
    return info;
  }
  std::string text() const { return info().text; }
  std::string note() const { return info().note; }
  uint64_t call_count() const { return info().call_count; }
  // Returns tuples (name, minimum, maximum, step).
  nb::list sizes() const {
    nb::list list;
    const of_graph_info found = info();
    for (const of_named_size& size : std::span(found.sizes, found.size_count))
      list.append(nb::make_tuple(size.name, size.minimum, size.maximum, size.step));
    return list;
  }
  // Returns tuples (name, dtype, device, sizes as strings) of a part.
  nb::list values(int part) const;
  nb::list nodes(int part) const {
    const of_file_node* found = nullptr;
    uint64_t count = 0;
    require(of_graph_get_nodes(handle(), static_cast<of_graph_part>(part), &found, &count));
    return list_of({found, count});
  }
  OwnedTensor constant(uint64_t position) const {
    of_tensor tensor = nullptr;
    require(of_graph_constant(handle(), position, &tensor));
    return OwnedTensor(tensor);
  }
  std::vector<OwnedTensor> run(const std::vector<BorrowedTensor>& inputs, nb::handle generator) const;
  of_session_info session_info() const {
    of_session_info info{};
    info.struct_size = sizeof(info);
    require(of_session_get_info(session.get(), &info));
    return info;
  }
  uint64_t memory() const { return session_info().memory; }
  uint64_t memory_limit() const { return session_info().memory_limit; }
  void set_memory_limit(uint64_t bytes) const { require(of_session_set_memory_limit(session.get(), bytes)); }
  void warm_up(const std::vector<int64_t>& sizes) const {
    require(run_unlocked([&] { return of_session_warm_up(session.get(), sizes.data(), sizes.size()); }));
  }
  nb::tuple optimize(int level, const std::vector<nb::bytes>& without, bool measure,
                     const std::vector<BorrowedTensor>& inputs, const nb::list& rules, bool only_rules,
                     const std::optional<nb::bytes>& weights) const;
  void save(const nb::bytes& path) const {
    require(run_unlocked([&] { return of_graph_save(handle(), path.c_str()); }));
  }
  // Returns a tuple of the totals, of tuples of the operators' costs, and of the table.
  nb::tuple cost(const std::vector<std::pair<nb::bytes, int64_t>>& sizes) const;
  std::string picture() const {
    char* text = nullptr;
    require(run_unlocked([&] { return of_graph_picture(handle(), &text); }));
    const Owned<char*, of_free> owned(text);
    return text;
  }
};

Graph graph_of(of_graph graph) {
  const Owned<of_graph, of_graph_release> owned(graph);
  of_session session = nullptr;
  require(of_session_create(graph, nullptr, &session));
  return {Owned<of_session, of_session_release>(session)};
}

Graph finish_capture(const Capture& capture) {
  of_graph graph = nullptr;
  require(of_capture_finish(capture.handle.get(), &graph));
  return graph_of(graph);
}

Graph load_graph(const nb::bytes& path, bool verify, bool share) {
  of_graph_load_options options{};
  options.struct_size = sizeof(options);
  options.verify = verify;
  options.share = share;
  of_graph graph = nullptr;
  require(run_unlocked([&] { return of_graph_load(path.c_str(), &options, &graph); }));
  return graph_of(graph);
}

// Loads an ONNX model. A size is its name, minimum, maximum and step, or equal to another one; values are inputs that
// become constants.
Graph load_onnx(const nb::bytes& path, const std::vector<Size>& sizes,
                const std::vector<std::pair<nb::bytes, nb::bytes>>& equal_sizes,
                const std::vector<std::pair<nb::bytes, BorrowedTensor>>& values) {
  const std::vector<of_named_size> named = named_sizes(sizes);
  std::vector<of_equal_sizes> equal;
  for (const auto& [name, other] : equal_sizes) equal.push_back({name.c_str(), other.c_str()});
  std::vector<const char*> names;
  std::vector<of_tensor> tensors;
  for (const auto& [name, tensor] : values) {
    names.push_back(name.c_str());
    tensors.push_back(tensor.handle);
  }
  of_onnx_load_options options{};
  options.struct_size = sizeof(options);
  options.sizes = named.data();
  options.size_count = named.size();
  options.value_names = names.data();
  options.values = tensors.data();
  options.value_count = values.size();
  options.equal_sizes = equal.data();
  options.equal_size_count = equal.size();
  of_graph graph = nullptr;
  require(run_unlocked([&] { return of_onnx_load(path.c_str(), &options, &graph); }));
  return graph_of(graph);
}

void save_onnx(const Graph& graph, const nb::bytes& path, int64_t opset, uint64_t external_bytes) {
  of_onnx_save_options options{};
  options.struct_size = sizeof(options);
  options.opset = opset;
  options.external_bytes = external_bytes;
  require(run_unlocked([&] { return of_onnx_save(graph.handle(), path.c_str(), &options); }));
}

nb::list Graph::values(int part) const {
  const of_graph_info found = info();
  const uint64_t counts[] = {found.input_count, found.output_count, found.constant_count};
  nb::list list;
  for (uint64_t i = 0; i < counts[part]; ++i) {
    of_graph_value value{};
    value.struct_size = sizeof(value);
    require(of_graph_value_at(handle(), static_cast<of_graph_part>(part), i, &value));
    nb::list sizes;
    for (int dim = 0; dim < value.rank; ++dim) sizes.append(nb::str(value.size_texts[dim]));
    list.append(nb::make_tuple(value.name, value.dtype, value.device, nb::tuple(sizes)));
  }
  return list;
}

std::vector<OwnedTensor> Graph::run(const std::vector<BorrowedTensor>& inputs, nb::handle generator) const {
  std::vector<of_tensor> tensors;
  for (const BorrowedTensor& input : inputs) tensors.push_back(input.handle);
  std::vector<of_value> outputs(info().output_count);
  of_run_options options{};
  options.struct_size = sizeof(options);
  options.generator = static_cast<of_generator>(handle_of_class(generator.ptr(), "Generator"));
  require([&] {
    UnlockedScope unlocked(of_run_is_long(session.get(), tensors.data(), tensors.size()));
    return of_session_run(session.get(), tensors.data(), tensors.size(), outputs.data(), outputs.size(), &options);
  }());
  std::vector<OwnedTensor> results;
  for (const of_value& output : outputs) results.emplace_back(output.as.tensor);
  return results;
}

// A rule of the caller: a tuple of its name, its left side, the names of constants, its right side and its error.
struct Rule {
  explicit Rule(const nb::tuple& parts)
      : name(nb::cast<nb::bytes>(parts[0])),
        left(nb::cast<const Graph&>(parts[1]).handle()),
        names(nb::cast<std::vector<nb::bytes>>(parts[2])),
        right(parts[3]),
        error(nb::cast<double>(parts[4])) {
    for (const nb::bytes& each : names) constants.push_back(each.c_str());
  }

  of_rule describe() { return {name.c_str(), left, constants.data(), constants.size(), run, this, error}; }

  // Calls the right side, which returns a tensor or None.
  static of_status run(void* user, const of_tensor* inputs, uint64_t count, of_tensor* output) {
    Rule& rule = *static_cast<Rule*>(user);
    const LockedScope locked;
    if (!locked) return of_fail(OF_UNSUPPORTED, "the interpreter is ending");
    try {
      nb::list tensors;
      for (uint64_t i = 0; i < count; ++i) tensors.append(nb::cast(OwnedTensor(of_tensor_retain(inputs[i]))));
      const nb::object result = rule.right(*tensors);
      if (!result.is_none()) *output = of_tensor_retain(nb::cast<BorrowedTensor>(result).handle);
      return OF_OK;
    } catch (nb::python_error& error) {
      rule.raised.emplace(std::move(error));
      return of_fail(OF_INTERNAL_ERROR, "the right side of a rule has raised an exception");
    }
  }

  const nb::bytes name;
  const of_graph left;
  const std::vector<nb::bytes> names;
  std::vector<const char*> constants;
  const nb::object right;
  const double error;
  std::optional<nb::python_error> raised;
};

// Returns the graph that passes have made, what each has done as tuples (name, changes, calls before, calls after,
// error), the error of the whole, and a table.
nb::tuple Graph::optimize(int level, const std::vector<nb::bytes>& without, bool measure,
                          const std::vector<BorrowedTensor>& inputs, const nb::list& rule_list, bool only_rules,
                          const std::optional<nb::bytes>& weights) const {
  std::vector<const char*> names;
  for (const nb::bytes& name : without) names.push_back(name.c_str());
  std::deque<Rule> rules;
  std::vector<of_rule> described;
  for (const nb::handle item : rule_list) described.push_back(rules.emplace_back(nb::cast<nb::tuple>(item)).describe());
  std::vector<of_tensor> tensors;
  for (const BorrowedTensor& input : inputs) tensors.push_back(input.handle);
  of_optimize_options options{};
  options.struct_size = sizeof(options);
  options.level = level;
  options.without = names.data();
  options.without_count = names.size();
  options.measure = measure;
  options.inputs = tensors.data();
  options.input_count = tensors.size();
  options.rules = described.data();
  options.rule_count = described.size();
  options.only_rules = only_rules;
  options.weights = weights ? weights->c_str() : nullptr;
  of_graph graph = nullptr;
  of_report report = nullptr;
  const of_status status = run_unlocked([&] { return of_graph_optimize(handle(), &options, &graph, &report); });
  for (Rule& rule : rules)
    if (rule.raised) throw std::move(*rule.raised);
  require(status);
  const Owned<of_report, of_report_release> owned(report);
  Graph optimized = graph_of(graph);
  of_report_info info{};
  info.struct_size = sizeof(info);
  require(of_report_get_info(report, &info));
  nb::list rows;
  for (const of_pass_report& pass : std::span(info.passes, info.pass_count))
    rows.append(nb::make_tuple(pass.name, pass.changes, pass.calls_before, pass.calls_after, pass.error));
  return nb::make_tuple(std::move(optimized), rows, info.error, info.text);
}

// Returns tuples (name, summary, level, error).
nb::list passes() {
  const of_pass* found = nullptr;
  uint64_t count = 0;
  require(of_graph_passes(&found, &count));
  nb::list list;
  for (const of_pass& pass : std::span(found, count))
    list.append(nb::make_tuple(pass.name, pass.summary, pass.level, pass.error));
  return list;
}

nb::tuple Graph::cost(const std::vector<std::pair<nb::bytes, int64_t>>& sizes) const {
  std::vector<of_size_value> values;
  for (const auto& [name, value] : sizes) values.push_back({name.c_str(), value});
  of_cost found = nullptr;
  require(run_unlocked([&] { return of_graph_get_cost(handle(), values.data(), values.size(), &found); }));
  const Owned<of_cost, of_cost_release> owned(found);
  of_cost_info info{};
  info.struct_size = sizeof(info);
  require(of_cost_get_info(found, &info));
  const auto integer = [](double operations) { return take(PyLong_FromDouble(operations)); };
  nb::list operators;
  for (uint64_t i = 0; i < info.operator_count; ++i) {
    of_operator_cost each{};
    each.struct_size = sizeof(each);
    require(of_cost_at(found, i, &each));
    operators.append(
        nb::make_tuple(each.name, each.calls, integer(each.operations), each.bytes_read, each.bytes_written));
  }
  return nb::make_tuple(integer(info.operations), info.bytes_read, info.bytes_written, info.constant_bytes,
                        info.peak_bytes, operators, info.table);
}

}  // namespace

void add_graph_functions(PyObject* module) {
  auto scope = nb::borrow<nb::module_>(module);
  scope.def("_start_capture", start_capture);
  scope.def("_finish_capture", finish_capture);
  scope.def("_load_graph", load_graph);
  scope.def("_load_onnx", load_onnx);
  scope.def("_passes", passes);
  scope.def("_save_onnx", save_onnx);
  nb::class_<Capture>(scope, "_Capture", nb::is_final())
      .def("begin", &Capture::begin)
      .def("end", &Capture::end)
      .def("cancel", &Capture::cancel)
      .def("name", [](const Capture& capture, BorrowedTensor tensor, const nb::bytes& name) {
        require(of_capture_name(capture.handle.get(), tensor.handle, name.c_str()));
      });
  nb::class_<Graph>(scope, "_Graph", nb::is_final())
      .def("text", &Graph::text)
      .def("note", &Graph::note)
      .def("call_count", &Graph::call_count)
      .def("sizes", &Graph::sizes)
      .def("values", &Graph::values)
      .def("nodes", &Graph::nodes)
      .def("constant", &Graph::constant)
      .def("run", &Graph::run, nb::arg("inputs"), nb::arg("generator").none())
      .def("optimize", &Graph::optimize, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg().none())
      .def("memory", &Graph::memory)
      .def("memory_limit", &Graph::memory_limit)
      .def("set_memory_limit", &Graph::set_memory_limit)
      .def("warm_up", &Graph::warm_up)
      .def("save", &Graph::save)
      .def("cost", &Graph::cost)
      .def("picture", &Graph::picture);
}

}  // namespace oneflow::python
