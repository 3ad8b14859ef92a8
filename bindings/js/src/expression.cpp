// Contractions that are worked out before there are operands. JavaScript holds one as an object that it cannot look
// into, and keeps it to itself.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "functions.h"

namespace oneflow::node {
namespace {

struct Holder {
  of_expression expression;
  int64_t memory;  // bytes that the garbage collector was told of
};

// What JavaScript sees of an expression is small: without being told, its garbage collector would let many pile up.
void account(node_api_basic_env env, int64_t bytes) {
  int64_t total;
  napi_adjust_external_memory(env, bytes, &total);
}

// NULL for a value that is not one.
Holder* holder_of(napi_env env, napi_value value) {
  void* holder = nullptr;
  return napi_get_value_external(env, value, &holder) == napi_ok ? static_cast<Holder*>(holder) : nullptr;
}

void release(node_api_basic_env env, Holder* holder) {
  if (holder->expression == nullptr) return;
  of_expression_release(std::exchange(holder->expression, nullptr));
  account(env, -holder->memory);
}

void finalize(node_api_basic_env env, void* data, void*) {
  const std::unique_ptr<Holder> holder(static_cast<Holder*>(data));
  release(env, holder.get());
}

// Shapes that come one after the other, each as its rank and its sizes.
std::vector<of_shape> read_shapes(const of_value& list) {
  std::vector<of_shape> shapes;
  const int64_t* end = list.as.integers + list.count;
  for (const int64_t* at = list.as.integers; at < end; at += 1 + *at) {
    shapes.push_back({static_cast<int32_t>(*at), at + 1});
  }
  return shapes;
}

// With the null at its end that the C API wants.
std::string text_of(const of_value& value) { return {value.as.string, static_cast<size_t>(value.count)}; }

// The search that `optimize` asks for: by a word, by a bool, or by nothing.
std::string search_of(const of_value& optimize) {
  if (optimize.kind == OF_VALUE_STRING) return text_of(optimize);
  return optimize.kind == OF_VALUE_BOOL && !optimize.as.boolean ? "none" : "auto";
}

// createExpression(): what the frame's values ask for: equation and shapes, then optimize and memory limit, each of
// which may be absent.
napi_value create_expression(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  Environment& environment = call.environment();
  of_value* values = environment.frame.values();
  if (of_status status = resolve_values(environment, values, environment.frame.header()->arguments)) {
    return environment.fail(status);
  }
  const of_value &optimize = values[2], &limit = values[3];
  const std::string equation = text_of(values[0]);
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
  auto holder = std::make_unique<Holder>(Holder{expression, static_cast<int64_t>(facts.memory)});
  account(env, holder->memory);
  napi_value handle = nullptr;
  if (napi_create_external(env, holder.get(), finalize, nullptr, &handle) != napi_ok) {
    release(env, holder.get());
    return environment.fail(OF_INTERNAL_ERROR, "createExpression: no object");
  }
  holder.release();
  return handle;
}

// describeExpression(expression)
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

// releaseExpression(expression): now, rather than when the object is collected.
napi_value release_expression(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  if (Holder* holder = holder_of(env, call.value(0))) release(env, holder);
  return nullptr;
}

}  // namespace

of_expression Call::expression(size_t i) const {
  const Holder* holder = holder_of(env_, values_[i]);
  return holder == nullptr ? nullptr : holder->expression;
}

void add_expression_functions(Environment* environment, napi_value exports) {
  add_function(environment, exports, "createExpression", create_expression);
  add_function(environment, exports, "describeExpression", describe_expression);
  add_function(environment, exports, "releaseExpression", release_expression);
}

}  // namespace oneflow::node
