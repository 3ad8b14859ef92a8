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
napi_value create_expression(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  Environment& environment = call.environment();
  of_value* values = environment.frame.values();
  if (of_status status = resolve_values(environment, values, environment.frame.header()->arguments)) {
    return environment.fail(status);
  }
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
  if (of_status status = of_expression_create(equation.c_str(), shapes.data(), shapes.size(), &options, &expression)) {
    return environment.fail(status);
  }
  of_expression_info facts{};
  facts.struct_size = sizeof(facts);
  of_expression_get_info(expression, &facts);
  return to_js(env, environment.put(expression, static_cast<int64_t>(facts.memory)));
}

// describeExpression(slot): returns the properties of an expression as an object.
napi_value describe_expression(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const of_expression expression = call.expression(0);
  of_expression_info facts{};
  facts.struct_size = sizeof(facts);
  if (of_status status = of_expression_get_info(expression, &facts)) return call.environment().fail(status);
  napi_value shapes = nullptr;
  napi_create_array_with_length(env, facts.operand_count, &shapes);
  for (size_t i = 0; i < facts.operand_count; ++i) {
    of_shape shape{};
    if (of_status status = of_expression_get_shape(expression, i, &shape)) return call.environment().fail(status);
    napi_set_element(env, shapes, i, to_js(env, shape.sizes, shape.rank));
  }
  return to_js(env, {{"equation", to_js(env, facts.equation)},
                     {"shapes", shapes},
                     {"shape", to_js(env, facts.sizes, facts.rank)},
                     {"path", to_js(env, facts.path, static_cast<int32_t>(facts.path_count))},
                     {"flops", to_js(env, facts.operations)},
                     {"naiveFlops", to_js(env, facts.operations_at_once)},
                     {"largestIntermediate", to_js(env, facts.largest_intermediate)},
                     {"report", to_js(env, facts.report)}});
}

}  // namespace

void add_expression_functions(Environment* environment, napi_value exports) {
  add_function<create_expression>(environment, exports, "createExpression");
  add_function<describe_expression>(environment, exports, "describeExpression");
}

}  // namespace oneflow::node
