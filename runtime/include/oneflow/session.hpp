/* The C++20 interface of graphs and sessions (graph.h, session.h).
 *
 *     #include <oneflow/session.hpp>
 *
 *     flow::Session session("model.flow");
 *     std::vector<flow::Tensor> outputs = session.run({flow::ones({3, 64})});
 *
 *     flow::Session doubled(flow::capture({x}, [](const std::vector<flow::Tensor>& inputs) {
 *       return std::vector{inputs[0] * 2};
 *     }));
 */
#ifndef ONEFLOW_SESSION_HPP_
#define ONEFLOW_SESSION_HPP_

#include <oneflow/session.h>

#include <future>
#include <memory>
#include <oneflow/oneflow.hpp>

namespace oneflow {

/// What a run of a graph computes, reads, writes and keeps in memory; see of_cost_info.
class Cost {
 public:
  /// Takes ownership of a handle from the C API.
  explicit Cost(of_cost handle) : handle_(handle, of_cost_release) {}

  /// Returns the cost of all calls, whose pointers are valid as long as the object.
  of_cost_info info() const {
    of_cost_info result{};
    result.struct_size = sizeof result;
    check(of_cost_get_info(handle_.get(), &result));
    return result;
  }
  /// Returns the cost of each operator, whose pointers are valid as long as the object.
  std::vector<of_operator_cost> operators() const {
    std::vector<of_operator_cost> results(info().operator_count);
    for (size_t i = 0; i < results.size(); ++i) {
      results[i].struct_size = sizeof(of_operator_cost);
      check(of_cost_at(handle_.get(), i, &results[i]));
    }
    return results;
  }
  /// Returns a table with a line per operator, then the totals.
  std::string table() const { return info().table; }

 private:
  std::unique_ptr<of_cost_object, decltype(&of_cost_release)> handle_;
};

/// A graph, which does not change. Copies refer to the same graph.
class Graph {
 public:
  /// Takes ownership of a handle from the C API.
  explicit Graph(of_graph handle) : handle_(handle) {}
  /// Loads a graph. With `verify`, the constants are compared with their checksum. With `share`, constants on the host
  /// share the memory of the file: see of_read_options.
  explicit Graph(const std::string& path, bool verify = false, bool share = false) {
    of_graph_load_options options{};
    options.struct_size = sizeof options;
    options.verify = verify;
    options.share = share;
    check(of_graph_load(path.c_str(), &options, &handle_));
  }
  Graph(const Graph& other) noexcept : handle_(of_graph_retain(other.handle_)) {}
  Graph& operator=(Graph other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Graph() { of_graph_release(handle_); }

  /// Saves the graph to a file, which appears complete or not at all.
  void save(const std::string& path) const { check(of_graph_save(handle_, path.c_str())); }
  /// Returns the properties, whose pointers are valid as long as the graph.
  of_graph_info info() const {
    of_graph_info result{};
    result.struct_size = sizeof result;
    check(of_graph_get_info(handle_, &result));
    return result;
  }
  /// Returns an input, an output or a constant, whose pointers are valid as long as the graph.
  of_graph_value value(of_graph_part part, uint64_t position) const {
    of_graph_value result{};
    result.struct_size = sizeof result;
    check(of_graph_value_at(handle_, part, position, &result));
    return result;
  }
  /// Returns the text of the program, a line per call.
  std::string text() const { return info().text; }
  /// Returns the handle for the C API, which this object keeps.
  of_graph get() const { return handle_; }
  /// Returns the cost of a run, from shapes alone. There must be a value for each named size.
  Cost cost(const std::vector<std::pair<std::string, int64_t>>& sizes = {}) const {
    std::vector<of_size_value> values;
    for (const auto& [name, value] : sizes) values.push_back({name.c_str(), value});
    of_cost result = nullptr;
    check(of_graph_get_cost(handle_, values.data(), values.size(), &result));
    return Cost(result);
  }
  /// Returns a drawing of the graph, an SVG image.
  std::string picture() const {
    char* text = nullptr;
    check(of_graph_picture(handle_, &text));
    const std::unique_ptr<char, decltype(&of_free)> owned(text, of_free);
    return text;
  }

 private:
  of_graph handle_ = nullptr;
};

/// A graph that is prepared for many runs, also on several threads. Copies refer to the same session.
class Session {
 public:
  explicit Session(const Graph& graph) { check(of_session_create(graph.get(), nullptr, &handle_)); }
  /// Loads a graph and prepares it.
  explicit Session(const std::string& path) { check(of_session_open(path.c_str(), nullptr, &handle_)); }
  Session(const Session& other) noexcept : handle_(of_session_retain(other.handle_)) {}
  Session& operator=(Session other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Session() { of_session_release(handle_); }

  Graph graph() const { return Graph(of_graph_retain(of_session_graph(handle_))); }
  /// Runs the graph, and returns all its outputs in their order. Throws ShapeError, DTypeError or DeviceError for an
  /// input that is not as the graph says.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, const Generator* generator = nullptr) const {
    std::vector<of_value> outputs(graph().info().output_count);
    run(inputs, outputs, generator);
    std::vector<Tensor> results;
    for (const of_value& output : outputs) results.emplace_back(output.as.tensor);
    return results;
  }
  /// Runs the graph, and writes its outputs to tensors of their shapes.
  void run_into(const std::vector<Tensor>& inputs, const std::vector<Tensor>& targets,
                const Generator* generator = nullptr) const {
    std::vector<of_value> outputs;
    for (const Tensor& target : targets) outputs.push_back({OF_VALUE_TENSOR, 0, {.tensor = target.get()}});
    run(inputs, outputs, generator);
  }
  /// Runs the graph on another thread; the result has its outputs or its error.
  std::future<std::vector<Tensor>> run_async(const std::vector<Tensor>& inputs,
                                             const Generator* generator = nullptr) const {
    struct Running {
      std::vector<of_value> outputs;
      std::promise<std::vector<Tensor>> promise;
    };
    auto running = std::make_unique<Running>();
    running->outputs.resize(graph().info().output_count);
    std::future<std::vector<Tensor>> result = running->promise.get_future();
    const auto end = [](void* context, of_status status, const char*) {
      const std::unique_ptr<Running> ended(static_cast<Running*>(context));
      try {
        check(status);
        std::vector<Tensor> results;
        for (const of_value& output : ended->outputs) results.emplace_back(output.as.tensor);
        ended->promise.set_value(std::move(results));
      } catch (...) {
        ended->promise.set_exception(std::current_exception());
      }
    };
    const std::vector<of_tensor> handles = handles_of(inputs);
    const of_run_options options = options_with(generator);
    check(of_session_run_async(handle_, handles.data(), handles.size(), running->outputs.data(),
                               running->outputs.size(), &options, end, running.get()));
    running.release();
    return result;
  }
  /// Limits the memory of a run, in bytes, for intermediate results and outputs; 0 removes the limit.
  void set_memory_limit(uint64_t bytes) { check(of_session_set_memory_limit(handle_, bytes)); }
  /// Makes the next runs as fast as later ones, for the given named sizes, or those of the example.
  void warm_up(const std::vector<int64_t>& sizes = {}) const {
    check(of_session_warm_up(handle_, sizes.data(), sizes.size()));
  }
  /// Returns the state of the session.
  of_session_info info() const {
    of_session_info result{};
    result.struct_size = sizeof result;
    check(of_session_get_info(handle_, &result));
    return result;
  }
  /// Returns the handle for the C API, which this object keeps.
  of_session get() const { return handle_; }

 private:
  void run(const std::vector<Tensor>& inputs, std::vector<of_value>& outputs, const Generator* generator) const {
    const std::vector<of_tensor> handles = handles_of(inputs);
    const of_run_options options = options_with(generator);
    check(of_session_run(handle_, handles.data(), handles.size(), outputs.data(), outputs.size(), &options));
  }

  static std::vector<of_tensor> handles_of(const std::vector<Tensor>& tensors) {
    std::vector<of_tensor> handles;
    for (const Tensor& tensor : tensors) handles.push_back(tensor.get());
    return handles;
  }
  static of_run_options options_with(const Generator* generator) {
    of_run_options options{};
    options.struct_size = sizeof options;
    options.generator = generator ? generator->get() : nullptr;
    return options;
  }

  of_session handle_ = nullptr;
};

namespace detail {

/// Captures a program: `run(capture, tensors, end)` is called for each run with tensors for the inputs, of which there
/// are `count`, and ends it with end(nodes, count).
template <class Run>
Graph capture_runs(const std::vector<of_file_node>& inputs, size_t count, const of_capture_options* options,
                   Run&& run) {
  of_capture handle = nullptr;
  check(of_capture_create(inputs.data(), inputs.size(), options, &handle));
  const std::unique_ptr<of_capture_object, decltype(&of_capture_release)> capture(handle, of_capture_release);
  std::vector<of_tensor> handles(count);
  for (bool goes_on = false; check(of_capture_begin(handle, handles.data(), &goes_on)), goes_on;) {
    try {
      run(handle, std::vector<Tensor>(handles.begin(), handles.end()),
          [&](const of_file_node* nodes, size_t size) { check(of_capture_end(handle, nodes, size)); });
    } catch (...) {
      of_capture_cancel(handle);
      throw;
    }
  }
  of_graph graph = nullptr;
  check(of_capture_finish(handle, &graph));
  return Graph(graph);
}

}  // namespace detail

/// Captures a function of tensors as a graph; see graph.h. Its inputs are called "0", "1" and so on. `options` says
/// which sizes vary.
template <class Function>
Graph capture(const std::vector<Tensor>& examples, Function&& function, const of_capture_options* options = nullptr) {
  const auto nodes_of = [](const std::vector<Tensor>& tensors) {
    std::vector<of_file_node> nodes(tensors.size() + 1);
    nodes[0].kind = OF_NODE_LIST;
    nodes[0].count = static_cast<uint32_t>(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) nodes[i + 1].as.tensor = tensors[i].get();
    return nodes;
  };
  return detail::capture_runs(nodes_of(examples), examples.size(), options,
                              [&](of_capture, const std::vector<Tensor>& inputs, auto&& end) {
                                const std::vector<Tensor> outputs = function(inputs);
                                const std::vector<of_file_node> nodes = nodes_of(outputs);
                                end(nodes.data(), nodes.size());
                              });
}

}  // namespace oneflow

#endif  // ONEFLOW_SESSION_HPP_
