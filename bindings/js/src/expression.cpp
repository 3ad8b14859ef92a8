// einsum expressions: contractions that are planned for shapes. JavaScript refers to them by slots, as to tensors.
#include <string>
#include <vector>

#include "arguments.h"
#include "functions.h"

namespace oneflow::node {
namespace {

// Reads shapes from a list of integers, which has the rank and then the sizes of each shape.
std::vector<of_shape> read_shapes(const of_value& list) {
  std::vector<of_shape> shapes;
  const int64_t* end = list.as.integers + list.count;
  for (const int64_t* at = list.as.integers; at < end; at += 1 + *at) {
    shapes.push_back({static_cast<int32_t>(*at), at + 1});
  }
  return shapes;
}

// Copies a string value; the copy ends with the null byte that the C API requires.
std::string string_of(const of_value& value) { return {value.as.string, static_cast<size_t>(value.count)}; }

// Returns the name of the search that the option `optimize` (a string, a bool, a list or absent) selects.
std::string search_of(const of_value& optimize) {
  if (optimize.kind == OF_VALUE_STRING) return string_of(optimize);
  return optimize.kind == OF_VALUE_BOOL && !optimize.as.boolean ? "none" : "auto";
}

// createExpression(): plans the contraction in the frame and returns the slot of the expression. The frame has the
// equation and the shapes, then `optimize` and the memory limit, either of which may be absent.
int32_t create_expression(const Call& call) {
  Environment& environment = call.environment();
  of_value* values = environment.frame.values();
  call.check(resolve_values(environment, values, environment.frame.header()->arguments));
  const of_value &optimize = values[2], &limit = values[3];
  const std::string equation = string_of(values[0]);
  const std::string search = search_of(optimize);
  const std::vector<of_shape> shapes = read_shapes(values[1]);
  of_expression_options options{};
  options.struct_size = sizeof(options);
  options.optimize = search.c_str();
  if (limit.kind == OF_VALUE_INT) options.memory_limit = limit.as.integer;
  if (optimize.kind == OF_VALUE_INT_LIST) {
    options.path = optimize.as.integers;
    options.path_count = optimize.count;
  }
  of_expression expression = nullptr;
  call.check(of_expression_create(equation.c_str(), shapes.data(), shapes.size(), &options, &expression));
  of_expression_info facts{};
  facts.struct_size = sizeof(facts);
  of_expression_get_info(expression, &facts);
  return environment.put(expression, static_cast<int64_t>(facts.memory));
}

// describeExpression(slot): returns the properties of an expression as an object.
Napi::Value describe_expression(const Call& call) {
  const Napi::Env env = call.Env();
  const of_expression expression = call.expression(0);
  of_expression_info facts{};
  facts.struct_size = sizeof(facts);
  call.check(of_expression_get_info(expression, &facts));
  const auto shape_of = [&](size_t i) {
    of_shape shape{};
    call.check(of_expression_get_shape(expression, i, &shape));
    return integers_to_js(env, shape.sizes, shape.rank);
  };
  auto object = Napi::Object::New(env);
  object.Set("equation", facts.equation);
  object.Set("shapes", array_of(env, facts.operand_count, shape_of));
  object.Set("shape", integers_to_js(env, facts.sizes, facts.rank));
  object.Set("path", integers_to_js(env, facts.path, facts.path_count));
  object.Set("flops", facts.operations);
  object.Set("naiveFlops", facts.operations_at_once);
  object.Set("largestIntermediate", facts.largest_intermediate);
  object.Set("report", facts.report);
  return object;
}

}  // namespace

void add_expression_functions(Exports& exports) {
  exports.add<create_expression>("createExpression");
  exports.add<describe_expression>("describeExpression");
}

}  // namespace oneflow::node
