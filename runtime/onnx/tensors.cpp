#include "onnx/tensors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "side/printable.h"

namespace oneflow::onnx {

namespace {

struct TypePair {
  ElementType type;
  DType dtype;
};

constexpr std::array kTypes{
    TypePair{ElementType::kFloat, float32},       TypePair{ElementType::kUint8, uint8},
    TypePair{ElementType::kInt8, int8},           TypePair{ElementType::kUint16, uint16},
    TypePair{ElementType::kInt16, int16},         TypePair{ElementType::kInt32, int32},
    TypePair{ElementType::kInt64, int64},         TypePair{ElementType::kBool, bool_},
    TypePair{ElementType::kFloat16, float16},     TypePair{ElementType::kDouble, float64},
    TypePair{ElementType::kUint32, uint32},       TypePair{ElementType::kUint64, uint64},
    TypePair{ElementType::kComplex64, complex64}, TypePair{ElementType::kComplex128, complex128},
    TypePair{ElementType::kBfloat16, bfloat16},
};

// Returns the elements of a list of numbers as T, which has the size of an element or a part of one.
template <class T, class Numbers>
std::string bytes_of(const Numbers& numbers) {
  std::string bytes(numbers.size() * sizeof(T), '\0');
  for (size_t i = 0; i < numbers.size(); ++i) {
    const T element = static_cast<T>(numbers[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return bytes;
}

// Returns the elements of a tensor that are given as numbers.
std::string bytes_of_numbers(const TensorProto& proto) {
  switch (proto.type) {
    case ElementType::kFloat:
    case ElementType::kComplex64:
      return bytes_of<float>(proto.floats);
    case ElementType::kDouble:
    case ElementType::kComplex128:
      return bytes_of<double>(proto.doubles);
    case ElementType::kInt64:
      return bytes_of<int64_t>(proto.int64s);
    case ElementType::kUint64:
      return bytes_of<uint64_t>(proto.uint64s);
    case ElementType::kUint32:
      return bytes_of<uint32_t>(proto.uint64s);
    case ElementType::kInt32:
      return bytes_of<int32_t>(proto.int32s);
    case ElementType::kInt16:
    case ElementType::kUint16:
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return bytes_of<uint16_t>(proto.int32s);
    default:
      return bytes_of<uint8_t>(proto.int32s);
  }
}

uint64_t parse_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw InvalidArgument("a place of external data must be a number");
  return number;
}

ExternalRange external_range(const TensorProto& proto, ModelFiles& files) {
  const auto find = [&](std::string_view key) { return proto.external.find(key); };
  const auto none = proto.external.end();
  if (find("location") == none) throw InvalidArgument("external data must have a location");
  const uint64_t offset = find("offset") == none ? 0 : parse_number(find("offset")->second);
  const uint64_t length = find("length") == none ? 0 : parse_number(find("length")->second);
  return files.external(find("location")->second, offset, find("length") == none ? nullptr : &length);
}

}  // namespace

DType dtype_of(ElementType type) {
  const auto found = std::ranges::find(kTypes, type, &TypePair::type);
  if (found != kTypes.end()) return found->dtype;
  if (type == ElementType::kString) throw Unsupported("tensors of strings are not supported");
  throw Unsupported("the element type number " + std::to_string(static_cast<int>(type)) + " is not supported");
}

ElementType element_type_of(DType dtype) { return std::ranges::find(kTypes, dtype, &TypePair::dtype)->type; }

Tensor to_tensor(const TensorProto& proto, ModelFiles& files) {
  const DType dtype = dtype_of(proto.type);
  uint64_t expected = of_dtype_size(dtype);
  for (const int64_t size : proto.sizes)
    if (size < 0 || __builtin_mul_overflow(expected, static_cast<uint64_t>(size), &expected))
      throw InvalidArgument("the tensor " + in_quotes(proto.name) + " has impossible sizes");
  const auto check_bytes = [&](uint64_t found) {
    if (found != expected)
      throw InvalidArgument("the tensor " + in_quotes(proto.name) + " must have " + std::to_string(expected) +
                            " bytes of elements, got " + std::to_string(found));
  };
  std::string numbers;
  std::span<const char> bytes(proto.raw);
  if (proto.is_external) {
    const ExternalRange range = external_range(proto, files);
    check_bytes(range.bytes);
    if (dtype != bool_) {  // any byte of a file may be a bool, but only 0 and 1 are bools in memory
      const Tensor tensor = empty(proto.sizes, dtype, of_device{});
      void* memory = nullptr;
      check(of_tensor_mutable_data(tensor.get(), &memory));
      range.file.read(range.offset, {static_cast<char*>(memory), range.bytes});
      return tensor.to(of_default_device());
    }
    numbers.resize(range.bytes);
    range.file.read(range.offset, numbers);
    bytes = numbers;
  } else if (proto.raw.empty()) {
    numbers = bytes_of_numbers(proto);
    bytes = numbers;
  }
  check_bytes(bytes.size());
  of_tensor_source source{};
  source.struct_size = sizeof source;
  source.dtype = dtype;
  source.device = of_default_device();
  source.rank = static_cast<int32_t>(proto.sizes.size());
  source.sizes = proto.sizes.data();
  source.data = const_cast<char*>(bytes.data());
  source.bytes = bytes.size();
  of_tensor result = nullptr;
  check(of_tensor_create(&source, &result));
  files.release(bytes);
  return Tensor(result);
}

}  // namespace oneflow::onnx
