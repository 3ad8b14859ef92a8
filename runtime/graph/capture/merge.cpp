#include "graph/capture/merge.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "device/device.h"
#include "files/document.h"

namespace oneflow::graph {

namespace {

// Returns whether two tensors have the same dtype, shape and bytes.
bool have_equal_elements(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.sizes() == b.sizes())) return false;
  const files::RowMajorElements left(a), right(b);
  return std::memcmp(left.data(), right.data(), left.bytes()) == 0;
}

class Merger {
 public:
  explicit Merger(const Runs& runs) : runs_(runs), first_(*runs.recordings[0]) {
    for (size_t i = 0; i < runs.sizes.size(); ++i) {
      SampledSize size{{kNoValue, static_cast<int32_t>(i)}, {}};
      for (const std::vector<int64_t>& sample : runs.samples) size.samples.push_back(sample[i]);
      add_size(std::move(size));
    }
  }

  Program run() {
    check_structure();
    // The sizes of a value may follow from those of earlier values.
    for (size_t i = 0; i < first_.values().size(); ++i) add_value(static_cast<ValueId>(i));
    for (size_t i = 0; i < first_.nodes().size(); ++i) add_node(i);
    add_outputs();
    return std::move(program_);
  }

 private:
  const Recording& recording(size_t run) const { return *runs_.recordings[run]; }
  size_t run_count() const { return runs_.recordings.size(); }

  // Describes the sizes of a run, for error texts: "batch = 7".
  std::string sizes_of(size_t run) const {
    std::string text;
    for (size_t i = 0; i < runs_.sizes.size(); ++i)
      text += (i ? ", " : "") + runs_.sizes[i].name + " = " + std::to_string(runs_.samples[run][i]);
    return text;
  }

  [[noreturn]] void fail_difference(size_t run, const std::string& what) const {
    fail(OF_INVALID_ARGUMENT,
         "the program does other things with %s than with %s: %s. What depends on sizes must be computed from tensors "
         "or sizes alike for all sizes; make the size fixed, or limit its range",
         sizes_of(run).c_str(), sizes_of(0).c_str(), what.c_str());
  }

  static std::string called(const Recording& recording, size_t node) {
    return node < recording.nodes().size() ? recording.nodes()[node].op->schema().name : "missing";
  }
  std::string described(size_t node) const {
    return "call " + std::to_string(node) + ", " + called(first_, node) + ",";
  }

  void check_structure() const {
    for (size_t run = 1; run < run_count(); ++run) {
      const Recording& other = recording(run);
      const size_t count = std::max(first_.nodes().size(), other.nodes().size());
      for (size_t i = 0; i < count; ++i)
        if (i >= first_.nodes().size() || i >= other.nodes().size() || first_.nodes()[i].op != other.nodes()[i].op ||
            first_.nodes()[i].results != other.nodes()[i].results)
          fail_difference(run, "call " + std::to_string(i) + " is " + called(other, i) + ", not " + called(first_, i));
      check_values(run, other);
      check_constants(run, other);
    }
  }

  void check_values(size_t run, const Recording& other) const {
    if (first_.values().size() != other.values().size()) fail_difference(run, "it uses another number of tensors");
    for (size_t i = 0; i < first_.values().size(); ++i) {
      const RecordedValue &a = first_.values()[i], &b = other.values()[i];
      if (a.dtype != b.dtype || a.sizes.rank() != b.sizes.rank() || !(a.device == b.device))
        fail_difference(run, "a tensor has shape " + to_text(b.sizes) + ", not one like " + to_text(a.sizes));
    }
  }

  void check_constants(size_t run, const Recording& other) const {
    if (first_.constants().size() != other.constants().size())
      fail_difference(run, "it uses another number of tensors");
    for (size_t i = 0; i < first_.constants().size(); ++i) {
      const auto& [value, tensor] = first_.constants()[i];
      const auto& [other_value, other_tensor] = other.constants()[i];
      const bool is_same =
          value == other_value && (tensor.get() == other_tensor.get() || have_equal_elements(*tensor, *other_tensor));
      if (!is_same)
        fail_difference(
            run, "it makes a tensor of shape " + to_text(other_tensor->sizes()) + " whose elements depend on sizes");
    }
  }

  void add_size(SampledSize size) {
    if (std::all_of(size.samples.begin(), size.samples.end(), [&](int64_t each) { return each == size.samples[0]; }))
      return;
    for (const SampledSize& known : known_)
      if (known.samples == size.samples) return;
    known_.push_back(std::move(size));
  }

  void add_value(ValueId id) {
    const RecordedValue& recorded = first_.values()[static_cast<size_t>(id)];
    Value value{recorded.dtype, recorded.device, {}};
    for (int dim = 0; dim < recorded.sizes.rank(); ++dim) {
      SampledSize size{{id, dim}, {}};
      for (size_t run = 0; run < run_count(); ++run)
        size.samples.push_back(recording(run).values()[static_cast<size_t>(id)].sizes[dim]);
      const std::optional<SizeExpression> found = fit(size.samples, known_);
      value.sizes.push_back(found ? *found : SizeExpression{0, {{1, {size.atom}}}, 1});
      add_size(std::move(size));
    }
    program_.values.push_back(std::move(value));
  }

  void add_node(size_t number) {
    Node node = first_.nodes()[number];
    // An integer may follow from the sizes of values that are there at the call.
    const ValueId before = node.results.empty() ? static_cast<ValueId>(program_.values.size())
                                                : *std::min_element(node.results.begin(), node.results.end());
    const auto end = std::partition_point(known_.begin(), known_.end(),
                                          [&](const SampledSize& size) { return size.atom.value < before; });
    const std::span sizes(known_.begin(), end);
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      Argument& argument = node.arguments[i];
      for (size_t run = 1; run < run_count(); ++run) {
        const Argument& other = recording(run).nodes()[number].arguments[i];
        Argument comparable = other;
        comparable.sizes = argument.sizes;
        if (!(comparable == argument) || other.sizes.size() != argument.sizes.size())
          fail_difference(run, described(number) + " has another " + name_of(node, i));
      }
      for (size_t item = 0; item < argument.sizes.size(); ++item) {
        std::vector<int64_t> samples;
        for (size_t run = 0; run < run_count(); ++run)
          samples.push_back(recording(run).nodes()[number].arguments[i].sizes[item].constant);
        const std::optional<SizeExpression> found = fit(samples, sizes);
        if (!found) fail_difference(1, described(number) + " has a " + name_of(node, i) + " that follows from no size");
        argument.sizes[item] = *found;
      }
    }
    program_.nodes.push_back(std::move(node));
  }

  static std::string name_of(const Node& node, size_t argument) { return node.op->schema().arguments[argument].name; }

  void add_outputs() {
    const RecordedOutputs& outputs = runs_.outputs[0];
    for (size_t run = 1; run < run_count(); ++run) {
      const RecordedOutputs& other = runs_.outputs[run];
      if (other.names != outputs.names || other.structure != outputs.structure || other.values != outputs.values)
        fail_difference(run, "it returns other things");
    }
    for (size_t i = 0; i < outputs.names.size(); ++i) program_.outputs.push_back({outputs.names[i], outputs.values[i]});
    program_.returned = program_.outputs.size();
    program_.output_structure = outputs.structure;
  }

  const Runs& runs_;
  const Recording& first_;
  // Sizes that differ from run to run, no two in the same way, in the order of their values.
  std::vector<SampledSize> known_;
  Program program_;
};

}  // namespace

Program merge(const Runs& runs) { return Merger(runs).run(); }

}  // namespace oneflow::graph
