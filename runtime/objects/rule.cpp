#include "objects/rule.h"

#include <cstdio>

#include "base/error.h"

namespace oneflow::objects {
namespace {

Rule& rule_of(void* self) { return *static_cast<Rule*>(self); }

of_data as_data(of_tensor tensor) { return {OF_DATA_TENSOR, 0, {.tensor = tensor}, {}, nullptr}; }

Rule::Shared function_in(const of_data& data) {
  return data.kind == OF_DATA_FUNCTION ? data.as.function->function : nullptr;
}

}  // namespace

Rule::Rule(std::string name, Ref<Graph> left, Shared right, Shared when, std::vector<std::string> constants,
           double error)
    : name_(std::move(name)),
      left_(std::move(left)),
      right_(std::move(right)),
      when_(std::move(when)),
      constants_(std::move(constants)),
      error_(error) {
  for (const std::string& each : constants_) constant_names_.push_back(each.c_str());
}

of_rule Rule::describe(of_rule_function apply, void* user) const {
  return {name_.c_str(), left_->graph(), constant_names_.data(), constant_names_.size(), apply, user, error_};
}

of_tensor Rule::apply(std::span<const of_tensor> inputs) const {
  std::vector<of_data> arguments;
  for (of_tensor input : inputs) arguments.push_back(as_data(input));
  bool applies = true;
  if (when_) {
    when_->call(arguments,
                [&](void* context, of_native value) { applies = when_->language().is_true(context, value); });
  }
  if (!applies) return nullptr;
  of_tensor result = nullptr;
  right_->call(arguments, [&](void* context, of_native value) {
    const of_language& language = right_->language();
    of_data found{};
    if (language.look(context, value, &found) != OF_OK) throw Raised();
    if (found.kind != OF_DATA_TENSOR)
      throw Error(OF_TYPE_MISMATCH,
                  std::string("rule: right must return Tensor, got ") + language.type_name(context, value));
    result = of_tensor_retain(found.as.tensor);
  });
  return result;
}

of_graph captured(const of_data* given, const std::string& names_parameter, Results& results);

// rule(left, right, example_inputs, when, constants, name, error, names)
of_status graph_rule(void*, const of_data* given, Results& results) {
  const double error = given[6].kind == OF_DATA_FLOAT ? given[6].as.real : 1e-6;
  if (!(error >= 0)) {
    char text[32];
    snprintf(text, sizeof text, "%g", error);
    results.fail(OF_INVALID_ARGUMENT, results.parameter(6) + " must be at least 0, got " + text);
  }
  of_data arguments[6] = {given[0], given[2], {}, {}, {}, given[7]};
  Ref<Graph> left = Ref<Graph>::adopt(new Graph(captured(arguments, results.parameter(7), results)));
  std::vector<std::string> constants;
  for (uint32_t i = 0; i < given[4].count; ++i) constants.emplace_back(given[4].as.items[i].as.text);
  const std::string name = given[5].kind == OF_DATA_TEXT ? given[5].as.text : "rule";
  auto* rule =
      new Rule(name, std::move(left), function_in(given[1]), function_in(given[3]), std::move(constants), error);
  results.give(results.object("Rule", rule));
  return OF_OK;
}

of_status rule_name(void* self, const of_data*, Results& results) {
  results.give(results.text(rule_of(self).name()));
  return OF_OK;
}

of_status rule_left(void* self, const of_data*, Results& results) {
  results.give(results.object("Graph", Ref<Graph>(rule_of(self).left()).detach()));
  return OF_OK;
}

of_status rule_constants(void* self, const of_data*, Results& results) {
  std::vector<of_data> names;
  for (const std::string& each : rule_of(self).constants()) names.push_back(results.text(each));
  results.give(results.list(names));
  return OF_OK;
}

of_status rule_error(void* self, const of_data*, Results& results) {
  results.give(results.real(rule_of(self).error()));
  return OF_OK;
}

}  // namespace oneflow::objects
