// Draws the random numbers of tests/random.json through of_call(), and compares them and the states of the generators.
//
// Usage: capi_random FILE
// Prints one line per difference, and the number of calls. Exits with 1 if there is a difference or no case.
#include <cmath>
#include <fstream>
#include <iostream>

#include "vectors.h"

namespace {

using nlohmann::json;
using vectors::check;
using vectors::TensorPtr;

struct ReleaseGenerator {
  void operator()(of_generator generator) const { of_generator_release(generator); }
};
using GeneratorPtr = std::unique_ptr<of_generator_object, ReleaseGenerator>;

uint64_t word(const json& text) { return std::stoull(text.get<std::string>()); }

GeneratorPtr make_generator(uint64_t seed, uint64_t offset) {
  of_generator generator = nullptr;
  check(of_generator_create(seed, &generator));
  GeneratorPtr owned(generator);
  check(of_generator_set_state(generator, seed, offset));
  return owned;
}

std::vector<double> elements(of_tensor tensor) {
  TensorPtr converted;
  of_value args[2] = {}, result{};
  args[0].kind = OF_VALUE_TENSOR;
  args[0].as.tensor = tensor;
  args[1].kind = OF_VALUE_DTYPE;
  args[1].as.dtype = OF_FLOAT64;
  check(of_call(of_op_find("cast"), args, 2, &result, 1));
  converted.reset(result.as.tensor);
  std::vector<double> values(static_cast<size_t>(of_tensor_count(tensor)));
  check(of_tensor_read(converted.get(), values.data(), values.size() * sizeof(double)));
  return values;
}

// Calls the function of a draw. NULL draws from the generator of the process.
std::vector<double> draw(const json& draw, of_generator generator) {
  const json& given = draw["arguments"];
  std::string name = draw["function"];
  if (name == "randint" && given.size() == 3) name = "randint.low";
  std::vector<of_value> args(given.size() + 3);
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].is_array()) {
      sizes = given[i].get<std::vector<int64_t>>();
      args[i] = {OF_VALUE_INT_LIST, static_cast<int32_t>(sizes.size()), {}};
      args[i].as.integers = sizes.data();
    } else {
      args[i] = {OF_VALUE_INT, 0, {}};
      args[i].as.integer = given[i].get<int64_t>();
    }
  }
  of_dtype dtype;
  check(of_dtype_parse(draw["dtype"].get<std::string>().c_str(), &dtype));
  args[given.size()] = {OF_VALUE_DTYPE, 0, {}};
  args[given.size()].as.dtype = dtype;
  if (generator) {
    args[given.size() + 2] = {OF_VALUE_GENERATOR, 0, {}};
    args[given.size() + 2].as.generator = generator;
  }
  of_value result{};
  check(of_call(of_op_find(name.c_str()), args.data(), args.size(), &result, 1));
  const TensorPtr tensor(result.as.tensor);
  return elements(tensor.get());
}

// Draws all calls of a case, and prints differences. Returns their number.
int replay(const json& item, of_generator generator, of_generator given) {
  int differences = 0;
  for (const json& each : item["draws"]) {
    const std::vector<double> found = draw(each, given), expected = each["gives"].get<std::vector<double>>();
    bool same = found.size() == expected.size();
    for (size_t i = 0; same && i < found.size(); ++i)
      same = std::abs(found[i] - expected[i]) <= each["tolerance"].get<double>();
    if (same) continue;
    std::cout << each["function"] << " of seed " << item["seed"] << ": got " << json(found) << "\n";
    ++differences;
  }
  uint64_t seed = 0, offset = 0;
  check(of_generator_get_state(generator, &seed, &offset));
  if (seed == word(item["seed"]) && offset == word(item["after"])) return differences;
  std::cout << "seed " << item["seed"] << ": the state is (" << seed << ", " << offset << ")\n";
  return differences + 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::ifstream file(arguments[1]);
  int differences = 0, cases = 0;
  const json all = json::parse(file);
  for (const json& item : all["cases"]) {
    const uint64_t seed = word(item["seed"]), offset = word(item["offset"]);
    const GeneratorPtr own = make_generator(seed, offset);
    differences += replay(item, own.get(), own.get());
    check(of_generator_set_state(of_default_generator(), seed, offset));
    differences += replay(item, of_default_generator(), nullptr);
    ++cases;
  }
  std::cout << cases << " cases\n";
  return differences > 0 || cases == 0 ? 1 : 0;
}
