#include "vectors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace vectors {

namespace {

using nlohmann::json;

std::vector<unsigned char> decode_base64(const std::string& text) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const size_t digit = digits.find(c);
    if (digit == std::string::npos) throw std::runtime_error("the vector's data is not base64");
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<unsigned char>(bits >> count & 0xff));
    }
  }
  return bytes;
}

of_dtype dtype_named(const std::string& name) {
  of_dtype dtype;
  check(of_dtype_parse(name.c_str(), &dtype));
  return dtype;
}

// Returns integers, or the items of nested lists; with `lengths`, the length of each list precedes its items.
std::vector<int64_t> integers_of(const json& list, bool lengths = false) {
  std::vector<int64_t> integers;
  for (const json& each : list) {
    if (lengths) integers.push_back(each.is_array() ? static_cast<int64_t>(each.size()) : 1);
    if (each.is_array()) {
      for (const int64_t item : integers_of(each)) integers.push_back(item);
    } else {
      integers.push_back(each.is_object() ? std::stoll(each.at("integer").get<std::string>()) : each.get<int64_t>());
    }
  }
  return integers;
}

TensorPtr create(of_dtype dtype, const std::vector<int64_t>& sizes, std::vector<unsigned char>& bytes) {
  of_tensor_source source{};
  source.struct_size = sizeof source;
  source.dtype = dtype;
  source.device = of_default_device();
  source.rank = static_cast<int32_t>(sizes.size());
  source.sizes = sizes.data();
  source.data = bytes.data();
  source.bytes = bytes.size();
  of_tensor tensor = nullptr;
  check(of_tensor_create(&source, &tensor));
  return TensorPtr(tensor);
}

of_value integer_list(const std::vector<int64_t>& integers) {
  of_value value{OF_VALUE_INT_LIST, static_cast<int32_t>(integers.size()), {}};
  value.as.integers = integers.data();
  return value;
}

// Returns the tensor of a vector: its storage is copied to the device, and viewed with the strides of the vector.
TensorPtr tensor_of(const json& description) {
  static const of_op as_strided = of_op_find("as_strided");
  std::vector<unsigned char> bytes = decode_base64(description.at("data").get<std::string>());
  const of_dtype dtype = dtype_named(description.at("dtype").get<std::string>());
  const std::vector<int64_t> sizes = integers_of(description.at("sizes"));
  const std::vector<int64_t> strides = integers_of(description.at("strides"));
  const bool is_empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  const TensorPtr flat = create(dtype, {static_cast<int64_t>(bytes.size() / of_dtype_size(dtype))}, bytes);
  of_value arguments[4] = {{OF_VALUE_TENSOR, 0, {}}, integer_list(sizes), integer_list(strides), {OF_VALUE_INT, 0, {}}};
  arguments[0].as.tensor = flat.get();
  arguments[3].as.integer = is_empty ? 0 : description.at("offset").get<int64_t>();
  of_value result{};
  check(of_call(as_strided, arguments, 4, &result, 1));
  return TensorPtr(result.as.tensor);
}

double float16_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  double value = exponent == 0    ? std::ldexp(fraction, -24)
                 : exponent == 31 ? (fraction ? NAN : INFINITY)
                                  : std::ldexp(fraction + 0x400, exponent - 25);
  return bits >> 15 ? -value : value;
}

float bfloat16_value(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

template <class T>
T read(const unsigned char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

double real_at(of_dtype dtype, const unsigned char* from) {
  switch (dtype) {
    case OF_FLOAT16:
      return float16_value(read<uint16_t>(from));
    case OF_BFLOAT16:
      return bfloat16_value(read<uint16_t>(from));
    case OF_FLOAT32:
      return read<float>(from);
    default:
      return read<double>(from);
  }
}

bool is_close(double got, double want, double allowed) {
  if (std::isnan(want)) return std::isnan(got);
  return got == want || std::abs(got - want) <= allowed;
}

}  // namespace

void check(of_status status) {
  if (status != OF_OK) throw std::runtime_error(std::string(of_status_name(status)) + ": " + of_last_error());
}

Argument::Argument(const json& value, const std::string& type) {
  if (value.is_null()) return;
  if (value.is_boolean()) {
    kind_ = OF_VALUE_BOOL;
    boolean_ = value.get<bool>();
  } else if (value.is_number_integer()) {
    kind_ = OF_VALUE_INT;
    integer_ = value.get<int64_t>();
  } else if (value.is_number_float()) {
    kind_ = OF_VALUE_FLOAT;
    real_ = value.get<double>();
  } else if (value.is_string()) {
    kind_ = OF_VALUE_STRING;
    text_ = value.get<std::string>();
  } else if (value.is_array()) {
    const bool holds_tensors = type.rfind("Tensor", 0) == 0;
    kind_ = holds_tensors ? OF_VALUE_TENSOR_LIST : OF_VALUE_INT_LIST;
    if (!holds_tensors) integers_ = integers_of(value, type.rfind("ints", 0) == 0);
  } else if (value.contains("integer")) {
    kind_ = OF_VALUE_INT;
    integer_ = std::stoll(value.at("integer").get<std::string>());
  } else if (value.contains("real")) {
    kind_ = OF_VALUE_FLOAT;
    real_ = std::stod(value.at("real").get<std::string>());
  } else if (value.contains("dtype")) {
    kind_ = OF_VALUE_DTYPE;
    dtype_ = dtype_named(value.at("dtype").get<std::string>());
  } else if (value.contains("device")) {
    kind_ = OF_VALUE_DEVICE;
    devices_ = {of_default_device()};
  } else if (value.contains("devices")) {
    kind_ = OF_VALUE_DEVICE_LIST;
    devices_.assign(value.at("devices").size(), of_default_device());
  } else if (value.contains("tensor")) {
    kind_ = OF_VALUE_TENSOR;
    tensors_.push_back(tensor_of(value.at("tensor")));
  } else if (value.contains("tensors")) {
    kind_ = OF_VALUE_TENSOR_LIST;
    for (const json& each : value.at("tensors"))
      tensors_.push_back(each.is_null() ? nullptr : tensor_of(each.contains("tensor") ? each.at("tensor") : each));
  } else {
    throw std::runtime_error("unknown value: " + value.dump());
  }
  for (const TensorPtr& tensor : tensors_) handles_.push_back(tensor.get());
}

of_value Argument::value() const {
  of_value result{kind_, 0, {}};
  switch (kind_) {
    case OF_VALUE_BOOL:
      result.as.boolean = boolean_;
      break;
    case OF_VALUE_INT:
      result.as.integer = integer_;
      break;
    case OF_VALUE_FLOAT:
      result.as.real = real_;
      break;
    case OF_VALUE_DTYPE:
      result.as.dtype = dtype_;
      break;
    case OF_VALUE_STRING:
      result.as.string = text_.data();
      result.count = static_cast<int32_t>(text_.size());
      break;
    case OF_VALUE_INT_LIST:
      result.as.integers = integers_.data();
      result.count = static_cast<int32_t>(integers_.size());
      break;
    case OF_VALUE_DEVICE:
      result.as.device = devices_[0];
      break;
    case OF_VALUE_DEVICE_LIST:
      result.as.devices = devices_.data();
      result.count = static_cast<int32_t>(devices_.size());
      break;
    case OF_VALUE_TENSOR:
      result.as.tensor = handles_[0];
      break;
    case OF_VALUE_TENSOR_LIST:
      result.as.tensors = const_cast<of_tensor*>(handles_.data());
      result.count = static_cast<int32_t>(handles_.size());
      break;
    default:
      break;
  }
  return result;
}

TensorPtr make_target(const json& expected) {
  std::vector<unsigned char> bytes = decode_base64(expected.at("data").get<std::string>());
  for (unsigned char& byte : bytes) byte = 1;
  return create(dtype_named(expected.at("dtype").get<std::string>()), integers_of(expected.at("sizes")), bytes);
}

std::string compare(of_tensor result, const json& expected, double relative, double absolute) {
  const of_dtype dtype = dtype_named(expected.at("dtype").get<std::string>());
  if (of_tensor_dtype(result) != dtype)
    return std::string("dtype ") + of_dtype_name(of_tensor_dtype(result)) + ", not " + of_dtype_name(dtype);
  const std::vector<int64_t> sizes = integers_of(expected.at("sizes"));
  const int64_t* result_sizes = of_tensor_sizes(result);
  const std::vector<int64_t> got_sizes(result_sizes, result_sizes + of_tensor_rank(result));
  if (got_sizes != sizes) return "shape " + json(got_sizes).dump() + ", not " + json(sizes).dump();

  const std::vector<unsigned char> want = decode_base64(expected.at("data").get<std::string>());
  std::vector<unsigned char> got(want.size());
  check(of_tensor_read(result, got.data(), got.size()));
  // The parts of complex numbers are compared separately, by the size of the whole number.
  const of_dtype part = dtype == OF_COMPLEX64 ? OF_FLOAT32 : dtype == OF_COMPLEX128 ? OF_FLOAT64 : dtype;
  const size_t size = of_dtype_size(part);
  const bool is_real = part == OF_FLOAT16 || part == OF_BFLOAT16 || part == OF_FLOAT32 || part == OF_FLOAT64;
  for (size_t at = 0; at < want.size(); at += size) {
    const std::string where = "element " + std::to_string(at / of_dtype_size(dtype)) + " ";
    if (is_real) {
      const double a = real_at(part, &got[at]), b = real_at(part, &want[at]);
      const size_t other = size == of_dtype_size(dtype) ? at : at ^ size;
      const double whole = other == at ? std::abs(b) : std::hypot(b, real_at(part, &want[other]));
      if (!is_close(a, b, absolute + relative * whole))
        return where + "is " + std::to_string(a) + ", not " + std::to_string(b);
    } else if (std::memcmp(&got[at], &want[at], size) != 0) {
      return where + "differs";
    }
  }
  return {};
}

}  // namespace vectors
