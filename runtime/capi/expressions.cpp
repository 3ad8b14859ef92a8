// The C API: einsum expressions, which are planned once and called repeatedly.
#include <algorithm>
#include <string_view>

#include "base/ref.h"
#include "capi/boundary.h"
#include "dispatch/dispatch.h"
#include "einsum/expression.h"

using namespace oneflow;

struct of_expression_object final : public RefCounted<of_expression_object> {
  explicit of_expression_object(einsum::Expression expression) : expression(std::move(expression)) {}
  void destroy() noexcept { delete this; }

  const einsum::Expression expression;
};

namespace {

const einsum::Expression& require_expression(of_expression handle, const char* function) {
  require(handle, function, "expression");
  return handle->expression;
}

// Throws InvalidArgument if there are more shapes than the equation has operands, before the array is read.
void check_count(std::string_view equation, size_t count) {
  const auto commas = static_cast<size_t>(std::count(equation.begin(), equation.end(), ','));
  if (count > commas + 1)
    fail(OF_INVALID_ARGUMENT, "equation names at most %zu operand%s, got %zu", commas + 1, commas == 0 ? "" : "s",
         count);
}

std::vector<Shape> shapes_of(const of_shape* shapes, size_t count, const char* function) {
  if (count) require(shapes, function, "shapes");
  std::vector<Shape> result;
  for (size_t i = 0; i < count; ++i) {
    if (shapes[i].rank < 0) fail(OF_INVALID_ARGUMENT, "%s: the rank of shape %zu is negative", function, i);
    if (shapes[i].rank > 0) require(shapes[i].sizes, function, "sizes");
    result.emplace_back(Sizes(shapes[i].sizes, static_cast<size_t>(shapes[i].rank)));
  }
  return result;
}

void check_operands(const einsum::Expression& expression, const of_tensor* operands, size_t count) {
  const std::vector<Shape>& shapes = expression.shapes();
  if (count != shapes.size())
    fail(OF_INVALID_ARGUMENT, "the expression takes %zu operand%s, got %zu", shapes.size(),
         shapes.size() == 1 ? "" : "s", count);
  for (size_t i = 0; i < count; ++i) {
    const Tensor& operand = require_tensor(operands[i], "expression", "operand");
    if (!same_sizes(operand.sizes(), shapes[i]))
      fail(OF_SHAPE_ERROR, "operand %zu must have the shape %s that the expression was made for, got %s", i,
           to_text(shapes[i]).c_str(), to_text(operand.sizes()).c_str());
  }
}

}  // namespace

of_status of_expression_create(const char* equation, const of_shape* shapes, size_t count,
                               const of_expression_options* options, of_expression* result) {
  return guard([&, function = __func__] {
    require(equation, function, "equation");
    require(result, function, "result");
    named("einsum", [&] {
      check_count(equation, count);
      einsum::Expression::Options wanted;
      std::vector<int64_t> path;
      if (options) {
        const of_expression_options given = read_struct(options, function, "options");
        if (given.optimize) wanted.search = einsum::parse_search(given.optimize, "optimize");
        wanted.limit = einsum::limit_of(given.memory_limit, "memory_limit");
        if (given.path) {
          if (given.path_count > 2 * count)
            fail(OF_INVALID_ARGUMENT, "optimize must be pairs of positions for %zu operand%s, got %zu numbers", count,
                 count == 1 ? "" : "s", given.path_count);
          path.assign(given.path, given.path + given.path_count);
          wanted.path = &path;
        }
      }
      *result = new of_expression_object(einsum::Expression(equation, shapes_of(shapes, count, function), wanted));
    });
  });
}

of_expression of_expression_retain(of_expression expression) {
  if (expression) expression->retain();
  return expression;
}

void of_expression_release(of_expression expression) {
  if (expression) expression->release();
}

of_status of_expression_get_info(of_expression handle, of_expression_info* info) {
  return guard([&, function = __func__] {
    const einsum::Expression& expression = require_expression(handle, function);
    of_expression_info result{};
    result.equation = expression.equation().c_str();
    result.operand_count = expression.shapes().size();
    result.rank = expression.result().rank();
    result.sizes = expression.result().data();
    result.path = expression.path().data();
    result.path_count = expression.path().size();
    result.operations = expression.operations();
    result.operations_at_once = expression.operations_at_once();
    result.largest_intermediate = expression.largest();
    result.report = expression.report().c_str();
    result.memory = expression.memory();
    write_struct(info, result, function, "info");
  });
}

of_status of_expression_get_shape(of_expression handle, size_t operand, of_shape* shape) {
  return guard([&, function = __func__] {
    const einsum::Expression& expression = require_expression(handle, function);
    require(shape, function, "shape");
    if (operand >= expression.shapes().size())
      fail(OF_INDEX_OUT_OF_RANGE, "%s: there is no operand %zu", function, operand);
    shape->rank = expression.shapes()[operand].rank();
    shape->sizes = expression.shapes()[operand].data();
  });
}

of_status of_expression_call(of_expression handle, const of_tensor* operands, size_t count, of_value* result) {
  return guard([&, function = __func__] {
    static const OperatorName name("einsum.pairs");
    const einsum::Expression& expression = require_expression(handle, function);
    if (count) require(operands, function, "operands");
    require(result, function, "result");
    named("einsum", [&] { check_operands(expression, operands, count); });
    const of_value arguments[] = {to_value(expression.equation().c_str()),
                                  to_value(std::span(const_cast<of_tensor*>(operands), count)),
                                  to_value(Sizes(expression.path())), kDefault};
    call(*name, arguments, {result, 1});
  });
}
