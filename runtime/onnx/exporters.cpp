#include "onnx/exporters.h"

#include <array>
#include <cstdlib>
#include <optional>

#include "onnx/operators.h"

namespace oneflow::onnx {

namespace {

constexpr std::array kFamilies{exported_views,          exported_indexing,    exported_creation,
                               exported_reductions,     exported_products,    exported_windows,
                               exported_normalizations, exported_elementwise, exported_attention};

// Returns whether an argument has its default.
bool is_default(const of_argument_info& argument, const of_graph_argument& given) {
  const std::string_view text = argument.default_value ? argument.default_value : "";
  switch (given.kind) {
    case OF_VALUE_NONE:
      return text == "None";
    case OF_VALUE_BOOL:
      return text == (given.as.boolean ? "True" : "False");
    case OF_VALUE_INT:
      return is_constant(given.as.integers[0]) && text == std::to_string(given.as.integers[0].constant);
    case OF_VALUE_FLOAT:
      return !text.empty() && std::strtod(text.data(), nullptr) == given.as.real;
    default:
      return false;
  }
}

// Writes a call as the operator of ONNX with the same operands, if their types are floating-point types, as those of
// all these operators can be, and other arguments have their defaults.
std::optional<Name> export_same(const ExportCall& call) {
  const Operator* const same = find_function(call.name());
  if (!same || same->since > call.out().opset()) return {};
  std::vector<Name> operands;
  for (int32_t i = 0; i < call.info().argument_count; ++i) {
    const of_argument_info& argument = call.info().arguments[i];
    const of_graph_argument& given = call.argument(static_cast<size_t>(i));
    if (given.kind == OF_VALUE_TENSOR) {
      if (call.dtype(argument.name) != call.result_dtype() || !is_floating(call.result_dtype())) return {};
      operands.push_back(call.tensor(argument.name));
    } else if (!is_default(argument, given)) {
      return {};
    }
  }
  return call.out().add(same->name, operands);
}

}  // namespace

ExportConverter find_exporter(std::string_view name) {
  for (const auto family : kFamilies)
    for (const ExportedOperator& op : family())
      if (op.name == name) return op.convert;
  return nullptr;
}

bool is_exported(std::string_view name, int64_t opset) {
  const Operator* const same = find_function(name);
  return find_exporter(name) || (same && same->since <= opset);
}

std::vector<Name> export_call(const ExportCall& call) {
  if (const ExportConverter convert = find_exporter(call.name())) return convert(call);
  if (const std::optional<Name> same = export_same(call)) return {*same};
  return export_expression(call);
}

}  // namespace oneflow::onnx
