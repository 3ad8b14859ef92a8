#include "onnx/save.h"

#include <algorithm>
#include <optional>
#include <set>

#include "onnx/exporter.h"
#include "onnx/exporters.h"

namespace oneflow::onnx {

namespace {

constexpr int64_t kOldestOpset = 11, kUsualOpset = 17, kNewestOpset = 22;
// Files of the format have less than 2 GiB. Nodes need some of them.
constexpr uint64_t kMostInOneFile = uint64_t{1800} << 20, kLargeConstant = 1024;
// An error names this many calls.
constexpr size_t kMostReasons = 20;

std::vector<of_graph_call> calls_of(const Graph& graph) {
  std::vector<of_graph_call> calls(graph.info().call_count);
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i].struct_size = sizeof calls[i];
    check(of_graph_call_at(graph.get(), i, &calls[i]));
  }
  return calls;
}

of_op_info info_of(of_op op) {
  of_op_info info{};
  info.struct_size = sizeof info;
  check(of_op_get_info(op, &info));
  return info;
}

bool is_composite(of_op op) { return std::string_view(info_of(op).kind) == "composite"; }

// Expands the composites that have no form in the opset, or are among `refused`, to the calls of their bodies.
Graph expanded(const Graph& graph, int64_t opset, const std::set<of_op>& refused) {
  std::vector<of_op> kept;
  bool is_needed = false;
  std::vector<of_op> all(of_op_count());
  for (size_t i = 0; i < all.size(); ++i) all[i] = of_op_at(i);
  for (const of_op op : all)
    if (is_composite(op) && is_exported(info_of(op).name, opset) && !refused.contains(op)) kept.push_back(op);
  for (const of_graph_call& call : calls_of(graph))
    is_needed |= is_composite(call.op) && std::ranges::find(kept, call.op) == kept.end();
  if (!is_needed) return graph;
  of_graph result = nullptr;
  check(of_graph_expand(graph.get(), kept.data(), kept.size(), &result));
  return Graph(result);
}

std::span<const int32_t> written_by(const of_graph_call& call) { return {call.written, call.written_count}; }

// Follows which values share memory, so that writes to it can be told from new tensors.
class Writes {
 public:
  Writes(const Graph& graph, const std::vector<of_graph_call>& calls) : graph_(graph), calls_(calls) {
    roots_.resize(graph.info().value_count);
    for (size_t i = 0; i < roots_.size(); ++i) roots_[i] = static_cast<int32_t>(i);
    first_calls_.resize(roots_.size(), 0);
    for (size_t number = 0; number < calls.size(); ++number) {
      const of_graph_call& call = calls[number];
      if (call.gives_results) continue;
      for (size_t i = 0; i < call.result_count; ++i) {
        const int32_t result = call.results[i], operand = aliased_operand(call, i);
        if (result == operand) continue;
        first_calls_[static_cast<size_t>(result)] = number + 1;
        if (operand >= 0) roots_[static_cast<size_t>(result)] = roots_[static_cast<size_t>(operand)];
      }
    }
  }

  // Throws Unsupported if another value with the memory of one that is written is used after a call. Those that are
  // made from it afterwards have what was written.
  void check_write(int32_t written, size_t call) const {
    const auto shares = [&](int32_t value) {
      return value >= 0 && value != written && first_calls_[static_cast<size_t>(value)] <= call &&
             roots_[static_cast<size_t>(value)] == roots_[static_cast<size_t>(written)];
    };
    bool is_shared = false;
    for (size_t i = call + 1; i < calls_.size(); ++i)
      for_each_operand(calls_[i], [&](int32_t value) { is_shared |= shares(value); });
    for (uint64_t i = 0; i < graph_.info().output_count; ++i) is_shared |= shares(graph_.value(OF_GRAPH_OUTPUT, i).id);
    if (is_shared) throw Unsupported("it writes to memory that another tensor shares, which is used later");
  }

 private:
  template <class Visit>
  static void for_each_operand(const of_graph_call& call, Visit&& visit) {
    for (const of_graph_argument& argument : std::span(call.arguments, static_cast<size_t>(call.argument_count)))
      if (argument.kind == OF_VALUE_TENSOR || argument.kind == OF_VALUE_TENSOR_LIST)
        for (const int32_t value : std::span(argument.as.values, static_cast<size_t>(argument.count))) visit(value);
  }
  // Returns the operand whose memory a result may share, or -1.
  static int32_t aliased_operand(const of_graph_call& call, size_t result) {
    const of_op_info info = info_of(call.op);
    const int32_t position = info.result_aliases[info.result_count == 1 ? 0 : result];
    if (position < 0) return -1;
    const of_graph_argument& argument = call.arguments[position];
    return argument.as.values[argument.kind == OF_VALUE_TENSOR_LIST ? result : 0];
  }

  const Graph& graph_;
  const std::vector<of_graph_call>& calls_;
  std::vector<int32_t> roots_;
  std::vector<size_t> first_calls_;  // from which each value is there
};

// What cannot be written: the reasons, and the composites among the operators.
struct Refused {
  std::vector<std::string> reasons;
  size_t count = 0;
  std::set<of_op> composites;
};

void write_calls(Exporter& exporter, Refused& refused) {
  const std::vector<of_graph_call> calls = calls_of(exporter.graph());
  const Writes writes(exporter.graph(), calls);
  for (size_t i = 0; i < calls.size(); ++i) {
    const of_graph_call& call = calls[i];
    const ExportCall given(exporter, call);
    std::vector<Name> results(call.result_count);
    try {
      for (const int32_t written : written_by(call)) writes.check_write(written, i);
      results = export_call(given);
    } catch (const Error& error) {
      if (error.status() != OF_UNSUPPORTED) throw;
      if (is_composite(call.op)) refused.composites.insert(call.op);
      if (++refused.count <= kMostReasons)
        refused.reasons.push_back("call " + std::to_string(i) + ", " + std::string(given.name()) + ": " + error.what());
      for (size_t k = 0; k < results.size(); ++k) results[k] = "unwritten";
    }
    for (size_t k = 0; k < results.size(); ++k) exporter.set(call.results[k], results[k]);
    if (!call.gives_results)
      for (const int32_t written : written_by(call)) exporter.set(written, results[0]);
  }
}

// Returns the bytes of a model, without the constants that go to `external`.
std::string bytes_of(const Graph& graph, int64_t opset, ExternalData* external) {
  // A composite whose arguments have no form in ONNX is written as its body.
  std::set<of_op> refused_composites;
  while (true) {
    Exporter exporter(expanded(graph, opset, refused_composites), opset);
    Refused refused;
    write_calls(exporter, refused);
    if (!refused.count) return exporter.finish(external);
    const size_t before = refused_composites.size();
    refused_composites.insert(refused.composites.begin(), refused.composites.end());
    if (refused_composites.size() > before) continue;
    std::string text = "the graph has calls that ONNX cannot express in opset " + std::to_string(opset) + ": ";
    for (size_t i = 0; i < refused.reasons.size(); ++i) text += (i ? "; " : "") + refused.reasons[i];
    if (refused.count > refused.reasons.size())
      text += "; and " + std::to_string(refused.count - refused.reasons.size()) + " more";
    throw Unsupported(text);
  }
}

uint64_t constant_bytes(const Graph& graph) {
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < graph.info().constant_count; ++i) {
    const of_graph_value value = graph.value(OF_GRAPH_CONSTANT, i);
    uint64_t each = of_dtype_size(value.dtype);
    for (int32_t dim = 0; dim < value.rank; ++dim) each *= static_cast<uint64_t>(value.sizes[dim]);
    bytes += each;
  }
  return bytes;
}

}  // namespace

void save(const Graph& graph, const of_onnx_save_options& options, std::string_view location, const Write& write) {
  const int64_t opset = options.opset ? options.opset : kUsualOpset;
  if (opset < kOldestOpset || opset > kNewestOpset)
    throw InvalidArgument("opset must be between " + std::to_string(kOldestOpset) + " and " +
                          std::to_string(kNewestOpset) + ", got " + std::to_string(opset));
  ExternalData external{std::string(location), options.external_bytes};
  const bool is_too_large = constant_bytes(graph) > kMostInOneFile;
  if (!external.smallest && is_too_large) external.smallest = kLargeConstant;
  const std::string bytes = bytes_of(graph, opset, external.smallest ? &external : nullptr);
  uint64_t written = 0;
  for (const Tensor& tensor : external.tensors) {
    const std::string gap((ExternalData::kAlignment - written % ExternalData::kAlignment) % ExternalData::kAlignment,
                          0);
    const std::string_view elements = elements_of(tensor);
    write(true, gap);
    write(true, elements);
    written += gap.size() + elements.size();
  }
  write(false, bytes);
}

}  // namespace oneflow::onnx
