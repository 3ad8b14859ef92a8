// The parts of an ONNX model, as its file gives them. Texts and elements are views of the file's memory. The numbers of
// fields, types and attributes are those of the ONNX specification (onnx.proto).
#ifndef ONEFLOW_ONNX_FORMAT_H_
#define ONEFLOW_ONNX_FORMAT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oneflow::onnx {

// The element type of a tensor. Types that the project has no dtype for are not listed.
enum class ElementType : int32_t {
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
};

struct TensorProto {
  std::string_view name;
  std::vector<int64_t> sizes;
  ElementType type{};
  std::string_view raw;                                     // little-endian elements, if they are given in this way
  std::vector<float> floats = {};                           // of float and complex64
  std::vector<double> doubles = {};                         // of double and complex128
  std::vector<int32_t> int32s = {};                         // of types of up to 32 bits
  std::vector<int64_t> int64s = {};                         // of int64
  std::vector<uint64_t> uint64s = {};                       // of uint32 and uint64
  bool is_external = false;                                 // whether the elements are in another file
  std::map<std::string_view, std::string_view> external{};  // "location", "offset", "length"
};

struct GraphProto;

enum class AttributeType : int32_t {
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
};

struct AttributeProto {
  std::string_view name;
  std::string_view referred = {};  // in a function: the attribute of the call whose value this one has
  AttributeType type{};
  float real = 0;
  int64_t integer = 0;
  std::string_view text = {};
  std::vector<float> reals = {};
  std::vector<int64_t> integers = {};
  std::vector<std::string_view> texts = {};
  std::vector<TensorProto> tensors = {};  // at most one
  std::vector<GraphProto> graphs;         // at most one; GraphProto is not complete here
};

struct NodeProto {
  std::string_view name, type, domain;
  std::vector<std::string_view> inputs, outputs;
  std::vector<AttributeProto> attributes;
};

// A size of an input: a number, a name, or neither.
struct DimensionProto {
  std::optional<int64_t> size = {};
  std::string_view name = {};
};

struct ValueProto {
  std::string_view name;
  bool is_tensor = false;
  ElementType type{};
  bool has_shape = false;
  std::vector<DimensionProto> dimensions = {};
};

struct GraphProto {
  std::string_view name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueProto> inputs, outputs;
  bool has_sparse_initializers = false;
};

// The versions of operators, by domain, where "" is ONNX's own.
using Opsets = std::map<std::string_view, int64_t>;

// Returns the version of a domain's operators; 1 if it is not stated.
inline int64_t version_of(const Opsets& opsets, std::string_view domain) {
  const auto found = opsets.find(domain);
  return found == opsets.end() ? 1 : found->second;
}

struct FunctionProto {
  std::string_view name, domain;
  std::vector<std::string_view> inputs, outputs;
  std::vector<AttributeProto> defaults;
  std::vector<NodeProto> nodes;
  Opsets opsets;
};

struct ModelProto {
  int64_t format_version = 0;
  Opsets opsets;
  GraphProto graph;
  std::vector<FunctionProto> functions;
  std::map<std::pair<std::string_view, std::string_view>, size_t> function_numbers{};  // by domain and name

  // Returns the function that a node calls, or null.
  const FunctionProto* find_function(const NodeProto& node) const;
};

// Parses a model, whose views refer to `bytes`. Throws InvalidArgument for a malformed file.
ModelProto parse_model(std::span<const char> bytes);
// Parses a tensor, which files hold by themselves, too.
TensorProto parse_tensor(std::span<const char> bytes);

}  // namespace oneflow::onnx

#endif  // ONEFLOW_ONNX_FORMAT_H_
