// Captures of functions as graphs.
#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "objects/binder.h"
#include "objects/graph.h"
#include "objects/nested.h"

namespace oneflow::objects {
namespace {

// The positions of the parameters of capture().
enum { kFunction, kExampleInputs, kDynamic, kRanges, kWeights, kNames };

using OwnedTensor = Owned<of_tensor, of_tensor_release>;

// Returns "a dict" or "an object".
std::string with_article(const std::string& word) {
  return (std::string_view("aeiou").find(word[0]) != std::string_view::npos ? "an " : "a ") + word;
}

// The sizes that vary, and where they are.
class Dynamic {
 public:
  Dynamic(const of_data* given, std::span<const NamedTensor> inputs, Results& results)
      : inputs_(inputs), results_(results) {
    read(given[kDynamic]);
    set_ranges(given[kRanges]);
  }

  of_capture_options options() const {
    auto options = sized<of_capture_options>();
    options.sizes = sizes_.data();
    options.size_count = sizes_.size();
    options.dimensions = dimensions_.data();
    options.dimension_count = dimensions_.size();
    return options;
  }

 private:
  void read(const of_data& dynamic) {
    const of_data* only = &dynamic;
    if (dynamic.kind == OF_DATA_ABSENT || dynamic.kind == OF_DATA_NONE) return;
    if (dynamic.kind == OF_DATA_LIST && dynamic.count == 1) only = &dynamic.as.items[0];
    if (only->kind == OF_DATA_TEXT) {
      for (size_t i = 0; i < inputs_.size(); ++i)
        if (of_tensor_rank(inputs_[i].tensor) > 0) add(i, 0, only->as.text);
      return;
    }
    if (dynamic.kind != OF_DATA_MAP) {
      const of_native own = dynamic.own[0];
      results_.fail(OF_TYPE_MISMATCH,
                    results_.parameter(kDynamic) + " must be one name for the first dimension of all inputs, or " +
                        with_article(results_.language().map_word) + " of the inputs' dimensions, got " +
                        (dynamic.kind == OF_DATA_LIST ? results_.print(own) : results_.type_name(own)));
    }
    for (uint32_t i = 0; i < dynamic.count; ++i) read_input(dynamic.of.keys[i], dynamic.own[i], dynamic.as.items[i]);
  }

  void read_input(const std::string& key, of_native own_key, const of_data& dims) {
    const auto has_name = [&](const NamedTensor& input) { return input.name == key; };
    auto at = static_cast<size_t>(std::find_if(inputs_.begin(), inputs_.end(), has_name) - inputs_.begin());
    if (at == inputs_.size() && !number_in(key, own_key, &at)) at = inputs_.size();
    if (at >= inputs_.size()) {
      std::string names;
      for (const NamedTensor& input : inputs_) names += (names.empty() ? "" : ", ") + input.name;
      results_.fail(OF_INVALID_ARGUMENT,
                    results_.parameter(kDynamic) + " has no input " + shown(key, own_key) + "; there are " + names);
    }
    const of_language& language = results_.language();
    if (dims.kind != OF_DATA_MAP && dims.kind != OF_DATA_LIST) {
      const std::string name = results_.parameter(kDynamic);
      results_.fail(OF_TYPE_MISMATCH,
                    (language.names_fields ? name + "." + key : name + "[" + results_.print(own_key) + "]") +
                        " must be " + language.map_word + " or " + language.list_word + ", got " +
                        results_.type_name(dims.own[0]));
    }
    for (uint32_t i = 0; i < dims.count; ++i) {
      const of_data& size = dims.as.items[i];
      if (size.kind == OF_DATA_NONE || size.kind == OF_DATA_ABSENT) continue;
      size_t dim = i;
      const bool is_list = dims.kind == OF_DATA_LIST;
      if ((!is_list && !number_in(dims.of.keys[i], dims.own[i], &dim)) || dim > INT32_MAX ||
          size.kind != OF_DATA_TEXT) {
        results_.fail(OF_TYPE_MISMATCH, results_.parameter(kDynamic) + " must give names of sizes by dimension, got " +
                                            results_.print(size.own[size.kind == OF_DATA_MAP ? size.count : 0]) +
                                            " for " + (is_list ? std::to_string(i) : results_.print(dims.own[i])));
      }
      add(at, static_cast<int32_t>(dim), size.as.text);
    }
  }

  // Returns a key as the language shows it.
  std::string shown(const std::string& key, of_native own_key) const {
    return results_.language().names_fields ? quoted(key) : results_.print(own_key);
  }

  // Gets the number that a key is: an integer, or its digits in a language whose keys are texts.
  bool number_in(std::string_view text, of_native key, size_t* number) const {
    of_data found{};
    if (!results_.language().names_fields && (!results_.look(key, &found) || found.kind != OF_DATA_INT)) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    return error == std::errc() && end == text.data() + text.size();
  }

  void add(size_t input, int32_t dim, const char* name) {
    const auto has_name = [&](const of_named_size& size) { return std::string_view(size.name) == name; };
    const auto size = static_cast<int32_t>(std::find_if(sizes_.begin(), sizes_.end(), has_name) - sizes_.begin());
    if (static_cast<size_t>(size) == sizes_.size()) sizes_.push_back({name, 1, INT64_MAX, 1});
    dimensions_.push_back({input, dim, size});
  }

  void set_ranges(const of_data& ranges) {
    for (uint32_t i = 0; ranges.kind == OF_DATA_MAP && i < ranges.count; ++i) {
      const std::string name = ranges.of.keys[i];
      const auto has_name = [&](const of_named_size& size) { return name == size.name; };
      const auto size = std::find_if(sizes_.begin(), sizes_.end(), has_name);
      if (size == sizes_.end()) {
        results_.fail(OF_INVALID_ARGUMENT, results_.parameter(kRanges) + " has " + quoted(name) +
                                               ", which no dimension has in " + results_.parameter(kDynamic));
      }
      const of_data* bounds = ranges.as.items[i].as.items;
      size->minimum = bounds[0].as.integer;
      size->maximum = bounds[1].as.integer;
      size->step = bounds[2].as.integer;
    }
  }

  const std::span<const NamedTensor> inputs_;
  Results& results_;
  std::vector<of_named_size> sizes_;
  std::vector<of_named_dimension> dimensions_;
};

// Returns names for the parameters of a function: its own, those that are given, or `input0`, `input1`.
std::vector<std::string> parameter_names(const of_data* given, const std::string& parameter, size_t count,
                                         Results& results) {
  std::vector<std::string> names;
  if (given[kNames].kind == OF_DATA_LIST) {
    if (given[kNames].count != count)
      results.fail(OF_TYPE_MISMATCH, parameter + " must have as many items as there are inputs, which are " +
                                         std::to_string(count) + ", got " + std::to_string(given[kNames].count));
    for (uint32_t i = 0; i < count; ++i) names.emplace_back(given[kNames].as.items[i].as.text);
    return names;
  }
  names = given[kFunction].as.function->function->parameters();
  if (names.size() >= count) {
    names.resize(count);
    std::vector<std::string> sorted = names;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return names;
  }
  names.clear();
  for (size_t i = 0; i < count; ++i) names.push_back("input" + std::to_string(i));
  return names;
}

// Calls the function with the inputs of a run, and ends the run with what it returns.
void record(of_capture capture, const Function& function, std::span<const of_data> examples,
            std::span<const of_data> tensors, Results& results) {
  std::vector<of_data> arguments;
  const of_data* next = tensors.data();
  for (const of_data& example : examples) arguments.push_back(replaced(example, next, results.memory()));
  static const of_type nested = {OF_TYPE_NESTED, false, nullptr, nullptr, 0, nullptr, nullptr};
  of_type type = nested;
  type.word = function.language().nested_word;
  function.call(arguments, [&](void* context, of_native value) {
    Store store;
    Binder binder(results.method().name, {}, function.language(), context, store);
    std::vector<of_file_node> outputs;
    const of_data result = binder.convert("the result", type, value);
    binder.require_accepted();
    add_nodes(result, nullptr, &outputs);
    check(of_capture_end(capture, outputs.data(), outputs.size()));
  });
}

}  // namespace

// Captures a function, with the arguments of capture(). Texts call the last one `names_parameter`.
of_graph captured(const of_data* given, const std::string& names_parameter, Results& results) {
  const of_data& inputs = given[kExampleInputs];
  const bool is_list = inputs.kind == OF_DATA_LIST;
  const std::span<const of_data> examples(is_list ? inputs.as.items : &inputs, is_list ? inputs.count : 1);
  const std::vector<std::string> names = parameter_names(given, names_parameter, examples.size(), results);
  std::vector<NamedTensor> tensors;
  for (size_t i = 0; i < examples.size(); ++i) add_named_tensors(examples[i], names[i], &tensors);
  const Dynamic dynamic(given, tensors, results);
  const std::vector<of_file_node> nodes = nodes_of_map(examples, names);
  const of_capture_options options = dynamic.options();
  of_capture handle = nullptr;
  check(of_capture_create(nodes.data(), nodes.size(), &options, &handle));
  const Owned<of_capture, of_capture_release> capture(handle);
  std::vector<NamedTensor> weights;
  if (given[kWeights].kind == OF_DATA_MAP) add_named_tensors(given[kWeights], "", &weights);
  for (const NamedTensor& weight : weights) check(of_capture_name(handle, weight.tensor, weight.name.c_str()));
  for (;;) {
    std::vector<of_tensor> run(tensors.size());
    bool has_begun = false;
    check(of_capture_begin(handle, run.data(), &has_begun));
    if (!has_begun) break;
    std::vector<of_data> values;
    for (of_tensor tensor : run) values.push_back(results.tensor(tensor));
    try {
      record(handle, *given[kFunction].as.function->function, examples, values, results);
    } catch (...) {
      const KeptError error;
      of_capture_cancel(handle);
      error.restore();
      throw;
    }
  }
  of_graph graph = nullptr;
  check(of_capture_finish(handle, &graph));
  return graph;
}

of_status graph_capture(void*, const of_data* given, Results& results) {
  results.give(new_graph(results, captured(given, results.parameter(kNames), results)));
  return OF_OK;
}

}  // namespace oneflow::objects
