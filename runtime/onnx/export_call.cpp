#include "onnx/export_call.h"

namespace oneflow::onnx {

int64_t known(const of_graph_integer& value, std::string_view what) {
  if (!is_constant(value)) throw Unsupported(std::string(what) + " follows from sizes that vary");
  return value.constant;
}

std::vector<int64_t> known(Integers values, std::string_view what) {
  std::vector<int64_t> found;
  for (const of_graph_integer& value : values) found.push_back(known(value, what));
  return found;
}

ExportCall::ExportCall(Exporter& exporter, const of_graph_call& call) : exporter_(exporter), call_(call) {
  info_.struct_size = sizeof info_;
  check(of_op_get_info(call.op, &info_));
}

const of_graph_argument& ExportCall::argument(std::string_view name) const {
  for (int32_t i = 0; i < info_.argument_count; ++i)
    if (info_.arguments[i].name == name) return call_.arguments[i];
  throw Error(OF_INTERNAL_ERROR, std::string(info_.name) + " has no argument " + std::string(name));
}

Name ExportCall::tensor(std::string_view name) const {
  const of_graph_argument& given = argument(name);
  return given.kind == OF_VALUE_NONE ? Name() : exporter_.value(given.as.values[0]);
}

Name ExportCall::tensor(const of_graph_argument& given, DType dtype) const {
  switch (given.kind) {
    case OF_VALUE_NONE:
      return {};
    case OF_VALUE_TENSOR:
      return exporter_.cast(exporter_.value(given.as.values[0]),
                            static_cast<DType>(exporter_.type(given.as.values[0]).dtype), dtype);
    case OF_VALUE_INT:
      if (const of_graph_integer& value = given.as.integers[0]; !is_constant(value))
        return exporter_.cast(exporter_.scalar(value), int64, dtype);
      [[fallthrough]];
    default:
      return exporter_.number(dtype, scalar(given, "a number"));
  }
}

Number ExportCall::scalar(const of_graph_argument& given, std::string_view what) {
  switch (given.kind) {
    case OF_VALUE_INT:
      return known(given.as.integers[0], what);
    case OF_VALUE_BOOL:
      return static_cast<bool>(given.as.boolean);
    case OF_VALUE_UINT:
      return given.as.natural;
    default:
      return given.as.real;
  }
}

std::vector<int32_t> ExportCall::values(std::string_view name) const {
  const of_graph_argument& given = argument(name);
  return {given.as.values, given.as.values + given.count};
}

const of_graph_value& ExportCall::type(std::string_view name) const {
  return exporter_.type(argument(name).as.values[0]);
}

int64_t ExportCall::integer(std::string_view name) const { return known(argument(name).as.integers[0], name); }

std::vector<int64_t> ExportCall::integers(std::string_view name) const { return known(expressions(name), name); }

Integers ExportCall::expressions(std::string_view name) const {
  const of_graph_argument& given = argument(name);
  if (given.kind == OF_VALUE_NONE) return {};
  return {given.as.integers, static_cast<size_t>(given.count)};
}

double ExportCall::number(std::string_view name) const { return element_of(scalar(name), float64).item<double>(); }

bool ExportCall::flag(std::string_view name) const { return argument(name).as.boolean; }

std::string_view ExportCall::text(std::string_view name) const {
  const of_graph_argument& given = argument(name);
  if (given.kind != OF_VALUE_STRING) return {};
  return {given.as.string, static_cast<size_t>(given.count)};
}

int64_t ExportCall::dim(std::string_view name, std::string_view of) const {
  const int64_t dim = integer(name);
  return dim < 0 ? dim + rank(of) : dim;
}

}  // namespace oneflow::onnx
