// einsum expressions: contractions that are planned for shapes. JavaScript refers to them by slots, as to tensors.
#include "calls/expression.h"

#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "calls/binding.h"
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

constexpr of_type type_of(of_type_kind kind, const char* word, const of_type* items = nullptr,
                          bool is_optional = false) {
  return {kind, is_optional, word, nullptr, 0, items, nullptr};
}

// Returns the overload of a function with one result, of whose parameters the first `positional_count` are positional.
constexpr of_overload overload_of(std::span<const of_parameter> parameters, int32_t positional_count, bool has_out) {
  of_overload overload = {};
  overload.parameters = parameters.data();
  overload.parameter_count = static_cast<int32_t>(parameters.size());
  overload.positional_count = positional_count;
  overload.result_count = 1;
  overload.receiver = overload.replaced = overload.written = overload.viewed = -1;
  overload.has_out = has_out;
  return overload;
}

constexpr of_type kTensor = type_of(OF_TYPE_TENSOR, "Tensor"), kInteger = type_of(OF_TYPE_INT, "integer");
constexpr of_type kTensors = type_of(OF_TYPE_ITEMS, "array of Tensors", &kTensor);
constexpr of_parameter kCallParameters[] = {{"operands", &kTensors, true, false, OF_COLLECTS_NOTHING, nullptr}};
constexpr of_overload kCallOverload = overload_of(kCallParameters, 1, true);

enum : size_t { EQUATION, SHAPES, OPTIMIZE, MEMORY_LIMIT };
constexpr of_type kEquation = type_of(OF_TYPE_STRING, "string");
constexpr of_type kShapes = type_of(OF_TYPE_ITEMS, "array of Tensors or shapes", &kInteger);
constexpr of_type kSearch = type_of(OF_TYPE_STRING, "string or null", nullptr, true);
constexpr of_type kFlag = type_of(OF_TYPE_BOOL, "boolean");
constexpr of_type kPair = type_of(OF_TYPE_PAIR, "pair of integers", &kInteger);
constexpr of_type kPath = type_of(OF_TYPE_LIST, "array of pairs of integers", &kPair);
constexpr of_type kLimit = type_of(OF_TYPE_INT, "integer or null", nullptr, true);

// The parameters of the overloads, one for each type of `optimize`.
template <const of_type& optimize>
constexpr of_parameter kPlanParameters[] = {
    {"equation", &kEquation, true, false, OF_COLLECTS_NOTHING, nullptr},
    {"operands", &kShapes, true, false, OF_COLLECTS_NOTHING, nullptr},
    {"optimize", &optimize, false, true, OF_COLLECTS_NOTHING, nullptr},
    {"memoryLimit", &kLimit, false, true, OF_COLLECTS_NOTHING, nullptr},
};
constexpr of_overload kPlanOverloads[] = {overload_of(kPlanParameters<kSearch>, 2, false),
                                          overload_of(kPlanParameters<kFlag>, 2, false),
                                          overload_of(kPlanParameters<kPath>, 2, false)};

// createExpression(function, ...arguments): binds the arguments of the function of this name as BoundArguments does,
// plans the contraction, and returns the slot of the expression. The operands are a list of integers: the rank and the
// sizes of each.
int32_t create_expression(const Call& call) {
  Environment& environment = call.environment();
  const std::string name = call.string(0);
  const of_public_function function = {name.c_str(), nullptr, kPlanOverloads, std::size(kPlanOverloads), false};
  const BoundArguments bound(call, 1, function, OF_CALLED_AS_FUNCTION);
  const of_value& optimize = bound->values[OPTIMIZE];
  const std::vector<of_shape> shapes = read_shapes(bound->values[SHAPES]);
  of_expression_options options{};
  options.struct_size = sizeof(options);
  options.optimize = optimize.kind == OF_VALUE_STRING                         ? optimize.as.string
                     : optimize.kind == OF_VALUE_BOOL && !optimize.as.boolean ? "none"
                                                                              : "auto";
  if (bound->values[MEMORY_LIMIT].kind == OF_VALUE_INT) options.memory_limit = bound->values[MEMORY_LIMIT].as.integer;
  if (optimize.kind == OF_VALUE_INT_LIST) {
    options.path = optimize.as.integers;
    options.path_count = static_cast<size_t>(optimize.count);
  }
  of_expression expression = nullptr;
  call.check(
      of_expression_create(bound->values[EQUATION].as.string, shapes.data(), shapes.size(), &options, &expression));
  of_expression_info facts{};
  facts.struct_size = sizeof(facts);
  of_expression_get_info(expression, &facts);
  return environment.put(expression, static_cast<int64_t>(facts.memory));
}

// bindExpression(live, owner, ...arguments): binds the operands, and runs the expression in the slot that `live`
// returns. Returns what finish() does.
Napi::Value bind_expression(const Call& call) {
  Environment& environment = call.environment();
  const BoundArguments bound(call, 2, expression_operands, OF_CALLED_AS_FUNCTION);
  const of_expression expression = environment.expression(call[0].As<Napi::Function>().Call({}).ToNumber());
  const of_value& operands = bound->values[0];
  bound.check(of_expression_call(expression, operands.as.tensors, static_cast<size_t>(operands.count), bound->results));
  return finish(bound, OF_CALLED_AS_FUNCTION, call[1], environment);
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

const of_public_function expression_operands = {"einsum", nullptr, &kCallOverload, 1, false};

void add_expression_functions(Exports& exports) {
  exports.add_returning<create_expression>("createExpression");
  exports.add_returning<bind_expression>("bindExpression");
  // describeOperands(): returns what describe_function() does, for the call of an expression.
  exports.add("describeOperands",
              [](const Call& call) { return describe_function(call.environment(), expression_operands, false); });
  exports.add<describe_expression>("describeExpression");
}

}  // namespace oneflow::node
