#include "onnx/load.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "onnx/importer.h"
#include "onnx/operators.h"
#include "side/printable.h"

namespace oneflow::onnx {

namespace {

// The versions of the format whose meaning is known.
constexpr int64_t kNewestFormat = 14;
// The size at which the capture begins, for sizes that vary.
constexpr int64_t kExampleSize = 64;
// What sizes may have to be multiples of.
constexpr int64_t kLargestStep = 64;
// How large they may have to be.
constexpr int64_t kLargestMinimum = 4096;
// What one of them may have to be: a multiple of kFixedStep.
constexpr int64_t kFixedStep = 16, kLargestFixed = 256;
// How often other sizes are tried, and how many nodes run for that: these, or those of several captures of the model.
constexpr int kMostAttempts = 100;
constexpr int64_t kMostWork = 1000000, kMostRuns = 256;
// Errors name this many operators.
constexpr size_t kMostNamed = 20;

// A size that the model leaves open.
struct OpenSize {
  std::string name;
  of_named_size range;    // `name` is unset
  bool is_given;          // whether the caller has said what it can be
  bool is_batch = false;  // whether it is the first dimension of an input

  bool is_fixed() const { return range.minimum == range.maximum; }
  int64_t example() const {
    if (range.minimum < 0 || range.minimum >= kExampleSize || range.step < 1) return range.minimum;
    const int64_t steps = (kExampleSize - range.minimum - 1) / range.step + 1, above = steps * range.step;
    return above <= range.maximum - range.minimum ? range.minimum + above : range.minimum;
  }
};

// An input with the numbers of its open sizes, -1 for others.
struct OpenInput {
  std::string name;
  DType dtype;
  std::vector<int64_t> sizes;
  std::vector<int> open;
};

// Returns a word of letters, digits and _.
std::string word_of(std::string_view name) {
  std::string word(name);
  for (char& letter : word)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return word;
}

class Loader {
 public:
  Loader(const std::string& path, const of_onnx_load_options& options)
      : files_(path), model_(parse_model(files_.model())) {
    if (model_.format_version > kNewestFormat)
      throw Unsupported("the file has version " + std::to_string(model_.format_version) +
                        " of the format; versions up to " + std::to_string(kNewestFormat) + " are supported");
    for (size_t i = 0; i < options.value_count; ++i) add_value(options.value_names[i], options.values[i]);
    check_operators();
    add_sizes(options);
    find_inputs();
    importer_.emplace(model_, files_, given_);
  }

  // Some models only take sizes that are the same, multiples of a number, large, or a single one: that is tried.
  Graph load() {
    if (attempt() || attempt_with_one_batch()) return *found_;
    for (OpenSize& size : sizes_)
      if (!size.is_given) free_.push_back(&size);
    if (!may_be_of_sizes(*first_error_) || free_.empty()) throw *first_error_;
    if (!guess()) throw shape_error();
    return *found_;
  }

 private:
  // Returns whether other sizes may help.
  static bool may_be_of_sizes(const Error& error) {
    return error.status() == OF_SHAPE_ERROR || error.status() == OF_INVALID_ARGUMENT ||
           error.status() == OF_INDEX_OUT_OF_RANGE;
  }

  // Looks for sizes that the model takes.
  bool guess() {
    if (attempt_with_batch_of_one()) return true;
    const auto attempt_all = [&](int64_t minimum, int64_t step) {
      for (OpenSize* const size : free_) size->range = {nullptr, minimum, INT64_MAX, step};
      return attempt();
    };
    const auto attempt_minimums = [&] {
      for (int64_t least = 4 * kExampleSize; least <= kLargestMinimum; least *= 4) {
        const int before = attempts_;
        if (attempt_all(least, 1)) return true;
        // What is said of all sizes alike is not about sizes.
        if (attempts_ > before && std::string_view(last_error_->what()) == first_error_->what()) throw *first_error_;
      }
      return false;
    };
    const auto attempt_steps = [&] {
      for (int64_t step = 2; step <= kLargestStep; step *= 2)
        if (attempt_all(step, step)) return true;
      return false;
    };
    // With any step, the first run has the same sizes.
    if ((runs_of_first_ > 1 && attempt_steps()) || attempt_minimums()) {
      for (OpenSize* const size : free_) widen(*size);
      return true;
    }
    return fix_one();
  }

  void fix(OpenSize& size, int64_t value) { size.range = {nullptr, value, value, 1}; }

  // Captures the model with a batch of one. Exporters leave the size open, though other sizes do not work.
  bool attempt_with_batch_of_one() {
    std::vector<OpenSize*> batches;
    for (OpenSize* const size : free_)
      if (size->is_batch) batches.push_back(size);
    for (OpenSize* const size : batches) fix(*size, 1);
    if (!batches.empty() && attempt()) return true;
    for (OpenSize* const size : batches) size->range = {nullptr, 1, INT64_MAX, 1};
    return false;
  }

  // Captures the model with the same size for the first dimensions of all inputs, of which exporters make several
  // names.
  bool attempt_with_one_batch() {
    if (first_error_->status() != OF_SHAPE_ERROR) return false;
    const std::vector<OpenInput> before = inputs_;
    int batch = -1;
    bool has_changed = false;
    for (OpenInput& input : inputs_) {
      if (input.open.empty() || input.open[0] < 0 || sizes_[static_cast<size_t>(input.open[0])].is_given) continue;
      if (batch < 0) batch = input.open[0];
      has_changed |= std::exchange(input.open[0], batch) != batch;
    }
    if (has_changed && attempt()) return true;
    inputs_ = before;
    return false;
  }

  // Gives one size the smallest of some common values with which the model takes any other sizes.
  bool fix_one() {
    for (OpenSize* const size : free_) size->range = {nullptr, 1, INT64_MAX, 1};
    for (int64_t value = kFixedStep; value <= kLargestFixed; value += kFixedStep)
      for (OpenSize* const size : free_) {
        const of_named_size before = size->range;
        fix(*size, value);
        if (attempt()) return true;
        size->range = before;
      }
    return false;
  }

  // Captures the model with the sizes as they are, and returns whether that is possible.
  bool attempt() {
    const int64_t most_work = std::max(kMostWork, kMostRuns * importer_->largest_run());
    if (first_error_ && (attempts_ == kMostAttempts || importer_->work() - work_of_first_ > most_work)) return false;
    ++attempts_;
    try {
      found_ = capture_until_known();
      return true;
    } catch (const TooManyNodes&) {
      throw;
    } catch (const Error& error) {
      last_error_ = error;
    }
    if (!first_error_) {
      first_error_ = last_error_;
      runs_of_first_ = importer_->run_count();
      work_of_first_ = importer_->work();
    }
    return false;
  }

  // Each time it starts again, more of the model's constants are known to follow from sizes.
  Graph capture_until_known() {
    for (bool again = false;; again = true) {
      try {
        return capture(again);
      } catch (const StartAgain&) {
      }
    }
  }

  // Returns what the graph says of sizes that have been fixed, in its errors, too.
  std::string note() const {
    std::string fixed;
    for (const OpenSize* const size : free_)
      if (size->is_fixed())
        fixed += (fixed.empty() ? "" : ", ") + size->name + " = " + std::to_string(size->range.minimum);
    return fixed.empty() ? ""
                         : "the model does not work for all sizes, and was loaded with " + fixed +
                               "; `sizes` of load says which ones it should have";
  }

  // Returns the error of the first attempt, with the sizes that the caller might give.
  Error shape_error() const {
    std::string names;
    for (const OpenSize& size : sizes_)
      if (!size.is_given) names += (names.empty() ? "" : ", ") + size.name;
    const std::string hint = names.empty() ? "" : "; `sizes` can say what is known of " + names;
    return Error(first_error_->status(), first_error_->what() + hint);
  }

  // Lets a size have more values, if the model takes them.
  void widen(OpenSize& size) {
    const of_named_size before = size.range;
    std::vector<int64_t> minimums{1};
    if (before.step == 1) minimums.insert(minimums.end(), {before.minimum / 4, before.minimum / 2});
    for (const int64_t minimum : minimums) {
      size.range = {nullptr, minimum, INT64_MAX, 1};
      if (attempt()) return;
    }
    size.range = before;
  }

  static DType dtype_of(const ValueProto& input) {
    try {
      return onnx::dtype_of(input.type);
    } catch (const Unsupported& error) {
      throw Unsupported("the input " + in_quotes(input.name) + ": " + error.what());
    }
  }

  void add_value(const char* name, of_tensor handle) {
    const auto input = std::ranges::find(model_.graph.inputs, name, &ValueProto::name);
    if (input == model_.graph.inputs.end()) throw InvalidArgument("values: the model has no input " + in_quotes(name));
    const Tensor tensor(of_tensor_retain(handle));
    const std::string what = "values: the input " + in_quotes(name) + " must ";
    if (const DType dtype = dtype_of(*input); tensor.dtype() != dtype)
      throw DTypeError(what + "be a " + of_dtype_name(dtype) + " tensor, got " + of_dtype_name(tensor.dtype()));
    if (input->has_shape) check_shape(what, *input, tensor.sizes());
    given_.insert_or_assign(name, tensor);
  }

  static void check_shape(const std::string& what, const ValueProto& input, std::span<const int64_t> shape) {
    const std::vector<DimensionProto>& dimensions = input.dimensions;
    if (shape.size() != dimensions.size())
      throw ShapeError(what + "have rank " + std::to_string(dimensions.size()) + ", got " +
                       std::to_string(shape.size()));
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (dimensions[dim].size && *dimensions[dim].size > 0 && *dimensions[dim].size != shape[dim])
        throw ShapeError(what + "have size " + std::to_string(*dimensions[dim].size) + " in dimension " +
                         std::to_string(dim) + ", got " + std::to_string(shape[dim]));
  }

  // Throws Unsupported with all operators that cannot be loaded.
  void check_operators() const {
    std::map<std::string, size_t> missing;
    std::string text;
    const auto note = [&](const NodeProto& node, int64_t opset) {
      const std::string key = std::string(node.domain) + "." + std::string(node.type);
      if (missing[key]++) return;
      if (missing.size() > kMostNamed) return;
      const std::string help = suggestion(node.domain, node.type, opset);
      text += (text.empty() ? "" : "; ") + describe(node, opset);
      if (!help.empty()) text += ", " + help;
    };
    visit(model_.graph, model_.opsets, note);
    for (const FunctionProto& function : model_.functions)
      for (const NodeProto& node : function.nodes) visit(node, function.opsets, note);
    if (missing.size() > kMostNamed) text += "; and " + std::to_string(missing.size() - kMostNamed) + " others";
    if (!missing.empty()) throw Unsupported("operators that cannot be loaded: " + text);
  }

  template <class Note>
  void visit(const GraphProto& graph, const Opsets& opsets, Note& note) const {
    for (const NodeProto& node : graph.nodes) visit(node, opsets, note);
  }

  template <class Note>
  void visit(const NodeProto& node, const Opsets& opsets, Note& note) const {
    const int64_t opset = version_of(opsets, node.domain);
    if (!model_.find_function(node) && !find_operator(node.domain, node.type, opset)) note(node, opset);
    for (const AttributeProto& attribute : node.attributes)
      for (const GraphProto& graph : attribute.graphs) visit(graph, opsets, note);
  }

  // Returns the name of the size that one is said to be equal to, or itself.
  const std::string& representative(const std::string& name) const {
    const std::string* found = &name;
    for (size_t step = 0; step <= equal_.size(); ++step) {
      const auto next = equal_.find(*found);
      if (next == equal_.end()) return *found;
      found = &next->second;
    }
    throw InvalidArgument("sizes: " + in_quotes(name) + " is said to be equal to itself");
  }

  // Returns the number of a size by its name, which is new or known.
  int size_number(const std::string& name) {
    const auto [found, is_new] = size_numbers_.try_emplace(name, static_cast<int>(sizes_.size()));
    if (!is_new) return found->second;
    OpenSize size{name, {nullptr, 1, INT64_MAX, 1}, false};
    if (const auto given = given_sizes_.find(name); given != given_sizes_.end()) {
      size.range = given->second;
      size.is_given = true;
    }
    sizes_.push_back(size);
    return found->second;
  }

  // Notes what the caller says of sizes, by the names that they have here.
  void add_sizes(const of_onnx_load_options& options) {
    for (const of_named_size& range : std::span(options.sizes, options.size_count)) {
      const std::string name = word_of(range.name);
      if (range.minimum < 0 || range.maximum < range.minimum || range.step < 1)
        throw InvalidArgument("sizes: " + in_quotes(name) + " must have 0 <= minimum <= maximum and step >= 1");
      given_sizes_[name] = {nullptr, range.minimum, range.maximum, range.step};
      said_.emplace_back(range.name);
    }
    for (const of_equal_sizes& pair : std::span(options.equal_sizes, options.equal_size_count)) {
      equal_[word_of(pair.name)] = word_of(pair.other);
      said_.emplace_back(pair.name);
      said_.emplace_back(pair.other);
    }
  }

  // Throws InvalidArgument if two inputs or outputs have the same name.
  static void check_names(const std::vector<ValueProto>& values, const char* what) {
    std::set<std::string_view> names;
    for (const ValueProto& each : values)
      if (!names.insert(each.name).second)
        throw InvalidArgument(std::string("the model has two ") + what + " " + in_quotes(each.name));
  }

  void find_inputs() {
    check_names(model_.graph.inputs, "inputs");
    check_names(model_.graph.outputs, "outputs");
    std::set<std::string> known_names;  // in the model, and here
    std::vector<std::string> own_names;
    for (const ValueProto* const input : open_inputs(model_, given_)) {
      const std::string name(input->name);
      if (!input->is_tensor) throw Unsupported("the input " + in_quotes(name) + " is not a tensor");
      if (!input->has_shape)
        throw Unsupported("the model does not say what rank the input " + in_quotes(name) + " has");
      OpenInput open{name, dtype_of(*input), {}, {}};
      for (size_t dim = 0; dim < input->dimensions.size(); ++dim) {
        const DimensionProto& dimension = input->dimensions[dim];
        if (dimension.size && *dimension.size >= 0) {
          open.sizes.push_back(*dimension.size);
          open.open.push_back(-1);
          continue;
        }
        // Some exporters name all unknown sizes "?".
        const bool has_name = dimension.name.find_first_not_of("?") != std::string_view::npos;
        const std::string in_model = has_name ? std::string(dimension.name) : name + "_" + std::to_string(dim);
        const std::string own = word_of(in_model);
        const int number = size_number(representative(own));
        sizes_[static_cast<size_t>(number)].is_batch |= dim == 0;
        if (known_names.insert(own).second) own_names.push_back(own);
        known_names.insert(in_model);
        open.sizes.push_back(0);
        open.open.push_back(number);
      }
      inputs_.push_back(std::move(open));
    }
    for (const std::string& said : said_) {
      if (known_names.contains(said)) continue;
      std::string names;
      for (const std::string& name : own_names) names += (names.empty() ? "" : ", ") + printable(name);
      throw InvalidArgument("sizes: the model has no open size " + in_quotes(said) + "; it has " +
                            (names.empty() ? "none" : names));
    }
    for (const auto& [name, other] : equal_)
      if (given_sizes_.contains(name))
        throw InvalidArgument("sizes: " + in_quotes(name) + " is said to be equal to " + in_quotes(other) +
                              ", and has values of its own");
  }

  Graph capture(bool again) {
    std::vector<of_named_size> ranges;
    std::vector<int> numbers(sizes_.size(), -1);
    std::vector<int64_t> examples;
    std::set<int> used;
    for (const OpenInput& input : inputs_) used.insert(input.open.begin(), input.open.end());
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const OpenSize& size = sizes_[i];
      examples.push_back(size.example());
      if (size.is_fixed() || !used.contains(static_cast<int>(i))) continue;
      numbers[i] = static_cast<int>(ranges.size());
      ranges.push_back({size.name.c_str(), size.range.minimum, size.range.maximum, size.range.step});
    }
    std::vector<Tensor> tensors;
    std::vector<of_named_dimension> dimensions;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      std::vector<int64_t> sizes = inputs_[i].sizes;
      for (size_t dim = 0; dim < sizes.size(); ++dim) {
        const int open = inputs_[i].open[dim];
        if (open < 0) continue;
        sizes[dim] = examples[static_cast<size_t>(open)];
        const int number = numbers[static_cast<size_t>(open)];
        if (number >= 0) dimensions.push_back({i, static_cast<int32_t>(dim), number});
      }
      // Only the shape counts: one element stands for all.
      const std::vector<int64_t> ones(sizes.size(), 1);
      tensors.push_back(expand(empty(ones, inputs_[i].dtype), sizes));
    }
    of_capture_options options{};
    options.struct_size = sizeof options;
    options.sizes = ranges.data();
    options.size_count = ranges.size();
    options.dimensions = dimensions.data();
    options.dimension_count = dimensions.size();
    const std::string said = note();
    if (!said.empty()) options.note = said.c_str();
    const auto dictionary = [](size_t count) {
      std::vector<of_file_node> nodes(count + 1);
      nodes[0].kind = OF_NODE_DICTIONARY;
      nodes[0].count = static_cast<uint32_t>(count);
      return nodes;
    };
    std::vector<of_file_node> nodes = dictionary(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      nodes[i + 1].key = inputs_[i].name.c_str();
      nodes[i + 1].as.tensor = tensors[i].get();
    }
    importer_->start(!ranges.empty(), again);
    const auto run = [&](of_capture capture, const std::vector<Tensor>& given, auto&& end) {
      const std::vector<Tensor> outputs = importer_->run(capture, given);
      std::vector<of_file_node> results = dictionary(outputs.size());
      std::vector<std::string> names;
      for (const ValueProto& output : model_.graph.outputs) names.emplace_back(output.name);
      for (size_t i = 0; i < outputs.size(); ++i) {
        results[i + 1].key = names[i].c_str();
        results[i + 1].as.tensor = outputs[i].get();
      }
      // One output is a tensor by itself.
      const size_t skipped = outputs.size() == 1 ? 1 : 0;
      if (skipped) results[1].key = nullptr;
      end(results.data() + skipped, results.size() - skipped);
    };
    return detail::capture_runs(nodes, tensors.size(), &options, run);
  }

  ModelFiles files_;
  const ModelProto model_;
  std::map<std::string, Tensor> given_;
  std::vector<OpenInput> inputs_;
  std::vector<OpenSize> sizes_;
  std::map<std::string, int> size_numbers_;
  // What the caller says of sizes: values, which are equal, and the names in it.
  std::map<std::string, of_named_size> given_sizes_;
  std::map<std::string, std::string> equal_;
  std::vector<std::string> said_;
  std::optional<Importer> importer_;
  std::vector<OpenSize*> free_;  // the sizes of which nothing is said
  std::optional<Graph> found_;
  std::optional<Error> first_error_, last_error_;
  int attempts_ = 0, runs_of_first_ = 0;
  int64_t work_of_first_ = 0;
};

}  // namespace

Graph load(const std::string& path, const of_onnx_load_options& options) { return Loader(path, options).load(); }

}  // namespace oneflow::onnx
