// A call of a graph: what converters of operators see, which write it as nodes.
#ifndef ONEFLOW_ONNX_EXPORT_CALL_H_
#define ONEFLOW_ONNX_EXPORT_CALL_H_

#include <string>
#include <string_view>
#include <vector>

#include "onnx/exporter.h"

namespace oneflow::onnx {

using Integers = std::span<const of_graph_integer>;

class ExportCall {
 public:
  ExportCall(Exporter& exporter, const of_graph_call& call);

  Exporter& out() const { return exporter_; }
  std::string_view name() const { return info_.name; }
  const of_op_info& info() const { return info_; }

  // ---- arguments by their names; those that are not read as integers() or the like may vary

  const of_graph_argument& argument(std::string_view name) const;
  const of_graph_argument& argument(size_t position) const { return call_.arguments[position]; }
  bool has(std::string_view name) const { return argument(name).kind != OF_VALUE_NONE; }
  bool is_tensor(std::string_view name) const { return argument(name).kind == OF_VALUE_TENSOR; }
  // The name of a tensor in the model; for one that is None, an empty name.
  Name tensor(std::string_view name) const;
  // The same with elements of a dtype. A number becomes a scalar.
  Name tensor(std::string_view name, DType dtype) const { return tensor(argument(name), dtype); }
  Name tensor(const of_graph_argument& given, DType dtype) const;
  std::vector<int32_t> values(std::string_view name) const;
  // The dtype and the sizes of a tensor.
  const of_graph_value& type(std::string_view name) const;
  DType dtype(std::string_view name) const { return static_cast<DType>(type(name).dtype); }
  int64_t rank(std::string_view name) const { return type(name).rank; }
  Integers sizes(std::string_view name) const { return {type(name).integers, static_cast<size_t>(type(name).rank)}; }

  // Throws Unsupported for integers that follow from sizes.
  int64_t integer(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name) const;
  Integers expressions(std::string_view name) const;
  Number scalar(std::string_view name) const { return scalar(argument(name), name); }
  double number(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::string_view text(std::string_view name) const;
  // Returns a dimension of a tensor, which may count from the end.
  int64_t dim(std::string_view name, std::string_view of) const;

  // ---- results

  size_t result_count() const { return call_.result_count; }
  const of_graph_value& result(size_t position = 0) const { return exporter_.type(call_.results[position]); }
  DType result_dtype(size_t position = 0) const { return static_cast<DType>(result(position).dtype); }
  Integers result_sizes(size_t position = 0) const {
    return {result(position).integers, static_cast<size_t>(result(position).rank)};
  }

 private:
  static Number scalar(const of_graph_argument& given, std::string_view what);

  Exporter& exporter_;
  const of_graph_call& call_;
  of_op_info info_{};
};

// Returns an integer that does not follow from sizes. Throws Unsupported for others; `what` names it.
int64_t known(const of_graph_integer& value, std::string_view what);
std::vector<int64_t> known(Integers values, std::string_view what);

inline bool is_floating(DType dtype) {
  return dtype == float16 || dtype == bfloat16 || dtype == float32 || dtype == float64;
}
inline bool is_half(DType dtype) { return dtype == float16 || dtype == bfloat16; }

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_EXPORT_CALL_H_
