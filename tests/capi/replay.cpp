// Replays conformance vectors through of_call(), on the first device of every available type.
//
// Usage: capi_replay KNOWN FILE...
// KNOWN is tests/devices.json. The variable ONEFLOW_VECTORS says which cases are replayed (docs/reference/vectors.md);
// without it, all on the first device, which is the host, and a sample on the others. Prints one line per failed case,
// one per file and device, and one per plugin without devices. Exits with 1 if a case failed or a file has no cases.
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "vectors.h"

namespace {

using nlohmann::json;
using vectors::Argument;
using vectors::TensorPtr;

// The results of a call. Releases them, unless the caller gave the tensors to write to.
class Results {
 public:
  explicit Results(size_t count) : values_(count) {}
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  ~Results() {
    for (size_t i = 0; i < values_.size(); ++i)
      if (!is_given_) of_value_release(&values_[i]);
  }

  void give(size_t position, of_tensor target) {
    of_value value{};
    value.kind = OF_VALUE_TENSOR;
    value.as.tensor = target;
    give(position, value);
  }
  void give(size_t position, const of_value& target) {
    values_[position] = target;
    is_given_ = true;
  }
  of_value* data() { return values_.data(); }
  size_t size() const { return values_.size(); }
  // Returns all result tensors, including the items of a list.
  std::vector<of_tensor> tensors() const {
    std::vector<of_tensor> all;
    for (const of_value& value : values_) {
      const bool is_list = value.kind == OF_VALUE_TENSOR_LIST;
      const of_tensor* first = is_list ? value.as.tensors : &value.as.tensor;
      all.insert(all.end(), first, first + (is_list ? value.count : 1));
    }
    return all;
  }

 private:
  std::vector<of_value> values_;
  bool is_given_ = false;  // whether the tensors belong to the caller
};

std::string name_of(of_device device) {
  char name[64];
  return of_device_name(device, name);
}

// The cases to replay: all, or those of the sample and a share of the random equations.
class Selection {
 public:
  // Reads "all" or "INDEX/COUNT". Throws std::invalid_argument for another text.
  Selection(const std::string& text, bool is_host) : is_host_(is_host) {
    if (text == "all") return;
    index_ = std::stoll(text);
    count_ = std::stoll(text.substr(text.find('/') + 1));
  }

  bool includes(const json& test) const {
    if (count_ == 0) return true;
    const json& sample = test.at("sample");
    if (sample.is_string()) return is_host_;
    return sample.is_boolean() ? sample.get<bool>() : sample.get<int64_t>() % count_ == index_;
  }

 private:
  bool is_host_;
  int64_t index_ = 0, count_ = 0;  // 0: all
};

// A device under test, and the factor by which the tolerances of the vectors are multiplied on it.
struct TestedDevice {
  of_device id;
  std::string name;
  bool is_host;  // whether its memory is host memory
  double tolerance;
  Selection cases;

  // `types` are those of tests/devices.json.
  TestedDevice(of_device device, const json& types, const Selection& selection)
      : id(device), name(name_of(device)), tolerance(1), cases(selection) {
    const std::string type = name.substr(0, name.find(':'));
    if (types.contains(type)) tolerance = types.at(type).value("tolerance", 1.0);
    of_device_properties properties{};
    properties.struct_size = sizeof properties;
    vectors::check(of_device_get_properties(device, &properties));
    is_host = std::string(properties.capabilities).find("host_accessible") != std::string::npos;
  }
};

// Runs a case. Returns the description of a failure, or an empty string.
std::string run_case(of_op op, const of_op_info& info, const json& test, const TestedDevice& device) {
  const json& given = test.at("arguments");
  std::vector<Argument> arguments;
  std::vector<of_value> values;
  arguments.reserve(static_cast<size_t>(info.argument_count));
  size_t used = 0;
  int32_t replaced = -1;  // the argument that the in-place form overwrites
  for (int32_t i = 0; i < info.argument_count; ++i) {
    const of_argument_info& argument = info.arguments[i];
    if (std::string(argument.name) == "input" || std::string(argument.type) == "Tensor[]") replaced = i;
    if (!given.contains(argument.name)) {
      values.push_back({});
      continue;
    }
    ++used;
    values.push_back(arguments.emplace_back(given.at(argument.name), argument.type).value());
  }
  if (used != given.size()) return "the vector has an argument that the operator lacks";

  const json& expected = test.at("results");
  const std::string form = test.at("form");
  std::vector<TensorPtr> targets;
  Results results(static_cast<size_t>(info.result_count));
  for (size_t i = 0; i < expected.size() && form == "out"; ++i) {
    targets.push_back(vectors::make_target(expected[i]));
    results.give(i, targets.back().get());
  }
  if (form == "in_place") results.give(0, values.at(static_cast<size_t>(replaced)));

  vectors::check(of_call(op, values.data(), values.size(), results.data(), results.size()));
  const std::vector<of_tensor> found = results.tensors();
  if (found.size() != expected.size()) return std::to_string(found.size()) + " results";
  for (size_t i = 0; i < found.size(); ++i) {
    of_tensor_info result{};
    result.struct_size = sizeof result;
    vectors::check(of_tensor_get_info(found[i], &result));
    if (name_of(result.device) != device.name)
      return "result " + std::to_string(i) + " is on " + name_of(result.device);
    const std::string wrong =
        vectors::compare(found[i], expected[i], device.tolerance * test.at("relative").get<double>(),
                         device.tolerance * test.at("absolute").get<double>());
    if (!wrong.empty()) return "result " + std::to_string(i) + ": " + wrong;
  }
  return {};
}

// Runs the cases of a record on a device. Returns whether there are cases and all pass.
bool run_cases(const std::string& name, const json& cases, const TestedDevice& device) {
  const of_op op = of_op_find(name.c_str());
  if (op == nullptr) throw std::runtime_error("no such operator");
  of_op_info info{};
  info.struct_size = sizeof info;
  vectors::check(of_op_get_info(op, &info));
  vectors::check(of_set_default_device(device.id));
  size_t passed = 0, count = 0;
  for (const json& test : cases) {
    if (!device.cases.includes(test)) continue;
    ++count;
    std::string wrong;
    try {
      wrong = run_case(op, info, test, device);
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    if (wrong.empty())
      ++passed;
    else
      std::cout << name << " on " << device.name << ", " << test.at("name").get<std::string>() << ": " << wrong << "\n";
  }
  std::cout << name << " on " << device.name << ": " << passed << " of " << count << " cases\n";
  return passed == count && passed > 0;
}

// Runs a file on every device. Returns whether all cases pass.
bool run_file(const char* path, const std::vector<TestedDevice>& devices, const json& host_only) {
  bool passed = true;
  try {
    std::ifstream stream(path);
    const json file = json::parse(stream);
    const std::string name = file.at("op");
    for (const TestedDevice& device : devices)
      if (device.is_host || !host_only.contains(name)) passed &= run_cases(name, file.at("cases"), device);
  } catch (const std::exception& error) {
    std::cout << path << ": " << error.what() << "\n";
    passed = false;
  }
  return passed;
}

}  // namespace

int main(int count, char** paths) {
  if (count < 3) {
    std::cout << "usage: capi_replay KNOWN FILE...\n";
    return 1;
  }
  std::ifstream stream(paths[1]);
  const json known = json::parse(stream);
  const char* const given = std::getenv("ONEFLOW_VECTORS");
  std::vector<TestedDevice> devices;
  for (size_t i = 0; i < of_device_count(); ++i)
    if (of_device_at(i).index == 0)
      devices.emplace_back(of_device_at(i), known.at("types"),
                           Selection(given    ? given
                                     : i == 0 ? "all"
                                              : "0/8",
                                     i == 0));
  bool passed = true;
  for (int i = 2; i < count; ++i) passed &= run_file(paths[i], devices, known.at("host_only"));
  for (size_t i = 0; i < of_rejected_plugin_count(); ++i) {
    const char *path = nullptr, *reason = nullptr;
    vectors::check(of_rejected_plugin_at(i, &path, &reason));
    std::cout << "skipped " << path << ": " << reason << "\n";
  }
  return passed ? 0 : 1;
}
