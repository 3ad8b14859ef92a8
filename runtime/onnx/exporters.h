// Which operators can be written, and how.
#ifndef ONEFLOW_ONNX_EXPORTERS_H_
#define ONEFLOW_ONNX_EXPORTERS_H_

#include <span>
#include <string_view>
#include <vector>

#include "onnx/export_call.h"

namespace oneflow::onnx {

// Adds the nodes of a call, and returns the names of its results. Throws Unsupported for arguments that ONNX cannot
// express. A composite is then written as the calls of its body.
using ExportConverter = std::vector<Name> (*)(const ExportCall&);

struct ExportedOperator {
  std::string_view name;  // with the overload: "max.dim"
  ExportConverter convert;
};

// Returns the converter of an operator; null if there is none.
ExportConverter find_exporter(std::string_view name);
// Returns whether calls of an operator can be written without its body: by a converter, or as the operator of ONNX that
// the importer reads as this one.
bool is_exported(std::string_view name, int64_t opset);
// Writes a call. Throws Unsupported.
std::vector<Name> export_call(const ExportCall& call);

// Writes a call of an elementwise operator as the nodes of its expression. Throws Unsupported for functions that ONNX
// does not have.
std::vector<Name> export_expression(const ExportCall& call);

// The operators by family.
std::span<const ExportedOperator> exported_views();
std::span<const ExportedOperator> exported_indexing();
std::span<const ExportedOperator> exported_creation();
std::span<const ExportedOperator> exported_reductions();
std::span<const ExportedOperator> exported_products();
std::span<const ExportedOperator> exported_windows();
std::span<const ExportedOperator> exported_normalizations();
std::span<const ExportedOperator> exported_elementwise();
std::span<const ExportedOperator> exported_attention();

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_EXPORTERS_H_
