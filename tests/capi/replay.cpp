// Replays conformance vectors through of_call(), on the first device of every type that is there.
//
// Usage: capi_replay KNOWN FILE...
// KNOWN is tests/devices.json. Prints one line per failing case, one per file and device, and one per plugin that
// gives no devices; exits with 1 when a case failed or a file has none.
#include <fstream>
#include <iostream>

#include "vectors.h"

namespace {

using nlohmann::json;
using vectors::Argument;
using vectors::TensorPtr;

// Whatever the call left in its results.
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
  // All tensors, those of a list too.
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
  bool is_given_ = false;  // the tensors stay the giver's
};

// The default device, and by how much it may miss the tolerances of the vectors.
struct Place {
  std::string name;
  double tolerance = 1;
};

std::string name_of(of_device device) {
  char name[64];
  return of_device_name(device, name);
}

// What is wrong with one case; empty when nothing is.
std::string run_case(of_op op, const of_op_info& info, const json& test, const Place& place) {
  const json& given = test.at("arguments");
  std::vector<Argument> arguments;
  std::vector<of_value> values;
  arguments.reserve(static_cast<size_t>(info.argument_count));
  size_t used = 0;
  int32_t replaced = -1;  // the argument whose place the result of the in-place form takes
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
    if (name_of(result.device) != place.name) return "result " + std::to_string(i) + " is on " + name_of(result.device);
    const std::string wrong =
        vectors::compare(found[i], expected[i], place.tolerance * test.at("relative").get<double>(),
                         place.tolerance * test.at("absolute").get<double>());
    if (!wrong.empty()) return "result " + std::to_string(i) + ": " + wrong;
  }
  return {};
}

// The number of cases that failed; -1 for a file without cases.
int run_file(const char* path, const Place& place) {
  std::ifstream stream(path);
  const json file = json::parse(stream);
  const std::string name = file.at("op");
  const of_op op = of_op_find(name.c_str());
  if (op == nullptr) {
    std::cout << name << ": no such operator\n";
    return 1;
  }
  of_op_info info{};
  info.struct_size = sizeof info;
  vectors::check(of_op_get_info(op, &info));
  int failed = 0;
  for (const json& test : file.at("cases")) {
    std::string wrong;
    try {
      wrong = run_case(op, info, test, place);
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    if (wrong.empty()) continue;
    ++failed;
    std::cout << name << " on " << place.name << ", " << test.at("name").get<std::string>() << ": " << wrong << "\n";
  }
  std::cout << name << " on " << place.name << ": " << file.at("cases").size() - static_cast<size_t>(failed) << " of "
            << file.at("cases").size() << " cases\n";
  return file.at("cases").empty() ? -1 : failed;
}

// Whether all files pass on one device.
bool run_files(of_device device, const json& known, int count, char** paths) {
  Place place{name_of(device)};
  const std::string type = place.name.substr(0, place.name.find(':'));
  const json& types = known.at("types");
  if (types.contains(type)) place.tolerance = types.at(type).value("tolerance", 1.0);
  of_device_properties properties{};
  properties.struct_size = sizeof properties;
  vectors::check(of_device_get_properties(device, &properties));
  const bool is_host = std::string(properties.capabilities).find("host_accessible") != std::string::npos;
  vectors::check(of_set_default_device(device));
  bool passed = true;
  for (int i = 0; i < count; ++i) {
    try {
      const std::string op = json::parse(std::ifstream(paths[i])).at("op");
      if (is_host || !known.at("host_only").contains(op)) passed &= run_file(paths[i], place) == 0;
    } catch (const std::exception& error) {
      std::cout << paths[i] << " on " << place.name << ": " << error.what() << "\n";
      passed = false;
    }
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
  bool passed = true;
  for (size_t i = 0; i < of_device_count(); ++i) {
    const of_device device = of_device_at(i);
    if (device.index == 0) passed &= run_files(device, known, count - 2, paths + 2);
  }
  for (size_t i = 0; i < of_rejected_plugin_count(); ++i) {
    const char *path = nullptr, *reason = nullptr;
    vectors::check(of_rejected_plugin_at(i, &path, &reason));
    std::cout << "skipped " << path << ": " << reason << "\n";
  }
  return passed ? 0 : 1;
}
