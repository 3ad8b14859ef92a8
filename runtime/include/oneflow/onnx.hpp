/* The C++20 interface of ONNX models (onnx.h).
 *
 *     #include <oneflow/onnx.hpp>
 *
 *     flow::Session session(flow::load_onnx("model.onnx", {.sizes = {{"batch", {1, 64}}}}));
 */
#ifndef ONEFLOW_ONNX_HPP_
#define ONEFLOW_ONNX_HPP_

#include <oneflow/onnx.h>

#include <map>
#include <oneflow/session.hpp>

namespace oneflow {

/// The values that a size can have.
struct SizeRange {
  /// A size that does not vary.
  SizeRange(int64_t size) : minimum(size), maximum(size) {}
  SizeRange(int64_t minimum, int64_t maximum, int64_t step = 1) : minimum(minimum), maximum(maximum), step(step) {}
  /// A size that is equal to another one.
  SizeRange(const std::string& name) : equal_to(name) {}
  template <size_t length>
  SizeRange(const char (&name)[length]) : equal_to(name) {}

  int64_t minimum = 1, maximum = INT64_MAX;
  int64_t step = 1;
  std::string equal_to = {};  ///< the name of the other size; empty for those with values of their own
};

/// The options of load_onnx().
struct OnnxLoadOptions {
  /// What is known of sizes that the model leaves open, by their names: "batch", or "x_0" for dimension 0 of an input x
  /// where the model has no name.
  std::map<std::string, SizeRange> sizes = {};
  /// Inputs of the model that become constants of the graph.
  std::map<std::string, Tensor> values = {};
};

/// Loads an ONNX model as a graph; see of_onnx_load(). Throws FileError if a file cannot be read, InvalidArgument if it
/// is malformed, and Unsupported for operators that are not there.
inline Graph load_onnx(const std::string& path, const OnnxLoadOptions& options = {}) {
  std::vector<of_named_size> sizes;
  std::vector<of_equal_sizes> equal;
  for (const auto& [name, range] : options.sizes) {
    if (range.equal_to.empty())
      sizes.push_back({name.c_str(), range.minimum, range.maximum, range.step});
    else
      equal.push_back({name.c_str(), range.equal_to.c_str()});
  }
  std::vector<const char*> names;
  std::vector<of_tensor> values;
  for (const auto& [name, value] : options.values) {
    names.push_back(name.c_str());
    values.push_back(value.get());
  }
  of_onnx_load_options given{};
  given.struct_size = sizeof given;
  given.sizes = sizes.data();
  given.size_count = sizes.size();
  given.equal_sizes = equal.data();
  given.equal_size_count = equal.size();
  given.value_names = names.data();
  given.values = values.data();
  given.value_count = values.size();
  of_graph graph = nullptr;
  check(of_onnx_load(path.c_str(), &given, &graph));
  return Graph(graph);
}

/// The options of save_onnx().
struct OnnxSaveOptions {
  int64_t opset = 17;
  /// Constants of at least this many bytes go to a file beside the model. 0: only if the model is too large for one
  /// file.
  uint64_t external_bytes = 0;
};

/// Saves a graph as an ONNX model; see of_onnx_save(). Throws Unsupported for calls that ONNX cannot express.
inline void save_onnx(const Graph& graph, const std::string& path, const OnnxSaveOptions& options = {}) {
  of_onnx_save_options given{};
  given.struct_size = sizeof given;
  given.opset = options.opset;
  given.external_bytes = options.external_bytes;
  check(of_onnx_save(graph.get(), path.c_str(), &given));
}

}  // namespace oneflow

#endif  // ONEFLOW_ONNX_HPP_
