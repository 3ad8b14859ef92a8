#include "dispatch/arguments.h"

#include <string>

#include "base/characters.h"
#include "device/device.h"
#include "dispatch/dispatch.h"
#include "tensor/defaults.h"

namespace oneflow {

namespace {

// Returns the type of a value for error texts, in the notation of signatures.
const char* value_word(const of_value& value) {
  static constexpr const char* kWords[] = {"nothing", "None",   "bool",   "int",      "float",    "str", "int[]",
                                           "dtype",   "device", "Tensor", "Tensor[]", "device[]", "int", "Generator"};
  if (value.kind == OF_VALUE_TENSOR && !value.as.tensor) return "a released tensor";
  return static_cast<size_t>(value.kind) < std::size(kWords) ? kWords[value.kind] : "a value of an unknown kind";
}

[[noreturn]] void fail_type(const Argument& argument, const of_value& value) {
  fail(OF_TYPE_MISMATCH, "%s must be %s, got %s", argument.name, argument.type_text, value_word(value));
}

}  // namespace

bool accepts(DTypeSet set, of_dtype dtype) {
  switch (set) {
    case DTypeSet::kAny:
      return true;
    case DTypeSet::kNumeric:
      return dtype != OF_BOOL;
    case DTypeSet::kFloating:
      return is_floating(dtype);
    case DTypeSet::kIntegral:
      return !is_floating(dtype);
    case DTypeSet::kBool:
      return dtype == OF_BOOL;
    case DTypeSet::kIndex:
      return dtype == OF_INT64 || dtype == OF_INT32;  // others are converted
  }
  return false;
}

const char* dtype_set_words(DTypeSet set) {
  static constexpr const char* kWords[] = {
      "a tensor",      "a numeric tensor", "a floating-point tensor", "an integer or bool tensor",
      "a bool tensor", "an integer tensor"};
  return kWords[static_cast<int>(set)];
}

namespace {

// Returns whether a number is valid for an argument that accepts tensors with a dtype in the set. Integers are valid
// for floating-point arguments, because a number is converted to the dtype of the tensors.
bool accepts(DTypeSet set, const of_value& number) {
  switch (set) {
    case DTypeSet::kNumeric:
      return number.kind != OF_VALUE_BOOL;
    case DTypeSet::kIntegral:
      return number.kind != OF_VALUE_FLOAT;
    case DTypeSet::kBool:
      return number.kind == OF_VALUE_BOOL;
    case DTypeSet::kIndex:
      return number.kind == OF_VALUE_INT;
    default:
      return true;
  }
}

[[noreturn]] void fail_dtype(const Argument& argument, const char* found) {
  fail(OF_DTYPE_ERROR, "%s must be %s, got %s", argument.name, dtype_set_words(argument.accepts), found);
}

// Checks the arguments of one call in the order of the signature.
class Checker {
 public:
  Checker(Call& call, std::span<const of_value> arguments) : call_(call) {
    const DTypeRule& rule = call.schema().dtype;
    if (rule.floating_only && static_cast<size_t>(rule.override_argument) < arguments.size())
      converts_ = arguments[rule.override_argument].kind > OF_VALUE_NONE;
  }

  // Checks the argument at a position, and stores it in the call.
  void check(int position, const of_value& value) {
    const Argument& argument = call_.schema().arguments[position];
    of_value& checked = call_.arguments[position];
    // A tensor, the most common case, is checked first.
    if (argument.is_tensor() && !argument.is_list && value.kind == OF_VALUE_TENSOR && value.as.tensor) [[likely]] {
      checked = value;
      check_tensor(argument, *to_tensor(value.as.tensor));
      return;
    }
    if (value.kind == OF_VALUE_ABSENT) {
      if (!argument.default_text) fail(OF_TYPE_MISMATCH, "missing argument %s", argument.name);
      if (argument.default_value.kind == OF_VALUE_NONE) {  // needs no check
        checked = argument.default_value;
        return;
      }
      check_value(argument, argument.default_value, checked);
    } else {
      check_value(argument, value, checked);
    }
  }

  // Sets the device of a call without a tensor or device argument.
  void finish() {
    if (rank_ < 0 && !has_device_) call_.device = default_device();
  }

 private:
  void check_value(const Argument& argument, const of_value& value, of_value& checked) {
    checked = value;
    if (value.kind == OF_VALUE_NONE) {
      if (!argument.is_optional) fail_type(argument, value);
    } else if (argument.is_list) {
      check_list(argument, value, checked);
    } else {
      check_single(argument, value, checked);
    }
  }

  void check_single(const Argument& argument, const of_value& value, of_value& checked) {
    bool fits = false;
    switch (argument.type) {
      case ArgumentType::kTensor:  // check() has handled tensors
      case ArgumentType::kInts:    // only in lists
        break;
      case ArgumentType::kOperand:
        fits = is_number(value);
        if (fits && !accepts(argument.accepts, value)) fail_dtype(argument, value_word(value));
        check_width(argument, value);
        break;
      case ArgumentType::kNumber:
        fits = is_number(value);
        check_width(argument, value);
        break;
      case ArgumentType::kInt:
        fits = value.kind == OF_VALUE_INT;
        break;
      case ArgumentType::kFloat:
        fits = value.kind == OF_VALUE_FLOAT || value.kind == OF_VALUE_INT;
        if (value.kind == OF_VALUE_INT) checked = float_value(static_cast<double>(value.as.integer));
        break;
      case ArgumentType::kBool:
        fits = value.kind == OF_VALUE_BOOL;
        break;
      case ArgumentType::kTrue:
      case ArgumentType::kFalse:
        fits = value.kind == OF_VALUE_BOOL && value.as.boolean == (argument.type == ArgumentType::kTrue);
        break;
      case ArgumentType::kString:
      case ArgumentType::kGroup:
        fits = value.kind == OF_VALUE_STRING;
        if (fits) check_pointer(argument, value.as.string, value.count);
        break;
      case ArgumentType::kDim:
        fits = value.kind == OF_VALUE_INT;
        // Without a tensor, as in cat([]), the rank is unknown. The operator reports this error.
        if (fits && rank_ >= 0) checked.as.integer = normalize_dim(value.as.integer, rank_, argument.name);
        break;
      case ArgumentType::kSize:
        fits = value.kind == OF_VALUE_INT;
        if (fits) check_size(argument, value.as.integer);
        break;
      case ArgumentType::kDType:
        fits = check_dtype(argument, value, checked);
        break;
      case ArgumentType::kGenerator:
        fits = value.kind == OF_VALUE_GENERATOR;
        if (fits && !value.as.generator)
          fail(OF_INVALID_ARGUMENT, "%s must not be a released generator", argument.name);
        break;
      case ArgumentType::kDevice:
        fits = check_device(argument, value, checked);
        break;
    }
    if (!fits) fail_type(argument, value);
  }

  // Throws InvalidArgument for an integer above the range of int64, unless it is at most selected as an element.
  void check_width(const Argument& argument, const of_value& value) {
    if (value.kind != OF_VALUE_UINT) return;
    if ((call_.schema().dtype.selected_arguments >> position_of(argument) & 1) == 0)
      fail(OF_INVALID_ARGUMENT, "%s must fit into 64 bits, got a larger integer", argument.name);
  }

  void check_devices(const Argument& argument, const of_value& value, of_value& checked) {
    if (value.kind == OF_VALUE_DEVICE) {  // a single device in place of a list
      get_device(value.as.device);
      call_.single_device = value.as.device;
      checked = {OF_VALUE_DEVICE_LIST, 1, {.devices = &call_.single_device}};
      return;
    }
    if (value.kind != OF_VALUE_DEVICE_LIST) fail_type(argument, value);
    check_pointer(argument, value.as.devices, value.count);
    for (int32_t i = 0; i < value.count; ++i) get_device(value.as.devices[i]);
  }

  void check_list(const Argument& argument, const of_value& value, of_value& checked) {
    if (argument.type == ArgumentType::kDevice) return check_devices(argument, value, checked);
    if (argument.is_tensor()) {
      if (value.kind != OF_VALUE_TENSOR_LIST) fail_type(argument, value);
      check_pointer(argument, value.as.tensors, value.count);
      for (int i = 0; i < value.count; ++i) {
        if (value.as.tensors[i]) {
          const Tensor& tensor = *to_tensor(value.as.tensors[i]);
          check_tensor(argument, tensor);
          if (call_.placed == position_of(argument)) rank_ = std::max(rank_, tensor.rank());
        } else if (!argument.has_optional_items) {
          fail(OF_TYPE_MISMATCH, "%s must be %s, got None at position %d", argument.name, argument.type_text, i);
        }
      }
      return;
    }
    const int64_t* items = value.as.integers;
    int32_t count = value.count;
    if (value.kind == OF_VALUE_INT) {  // a single integer in place of a list
      items = &value.as.integer;
      count = 1;
    } else if (value.kind != OF_VALUE_INT_LIST) {
      fail_type(argument, value);
    }
    check_pointer(argument, items, count);
    const bool has_any_length = argument.type == ArgumentType::kInt || argument.type == ArgumentType::kInts;
    if (has_any_length && value.kind == OF_VALUE_INT_LIST) return;
    if (argument.type == ArgumentType::kSize && !argument.takes_any_size) {
      for (int32_t i = 0; i < count; ++i) check_size(argument, items[i]);
      if (value.kind == OF_VALUE_INT_LIST) return;
    }
    if (count > OF_MAX_RANK || call_.dim_count + count > static_cast<int>(std::size(call_.dims)))
      fail(OF_SHAPE_ERROR, "%s must have at most %d items, got %d", argument.name, OF_MAX_RANK, count);
    int64_t* copies = call_.dims + call_.dim_count;
    call_.dim_count += count;
    for (int32_t i = 0; i < count; ++i) {
      copies[i] = argument.type == ArgumentType::kDim ? normalize_dim(items[i], rank_, argument.name) : items[i];
    }
    checked.kind = OF_VALUE_INT_LIST;
    checked.count = count;
    checked.as.integers = copies;
  }

  // Throws InvalidArgument for a list or a string with a negative count or a null pointer.
  static void check_pointer(const Argument& argument, const void* items, int32_t count) {
    if (count < 0 || (count > 0 && !items))
      fail(OF_INVALID_ARGUMENT, "%s must be a list with a valid pointer and count, got a count of %d", argument.name,
           count);
  }

  static void check_size(const Argument& argument, int64_t size) {
    if (size < 0)
      fail(OF_SHAPE_ERROR, "%s must not be negative, got %lld", argument.name, static_cast<long long>(size));
  }

  bool check_dtype(const Argument& argument, const of_value& value, of_value& checked) {
    if (value.kind == OF_VALUE_STRING) {
      check_pointer(argument, value.as.string, value.count);
      const std::string name(value.as.string, static_cast<size_t>(value.count));
      for (int i = 0; i < OF_DTYPE_COUNT; ++i) {
        if (name == kDTypes[i].name) {
          checked = dtype_value(static_cast<of_dtype>(i));
          check_complex_dtype(argument, checked.as.dtype);
          return true;
        }
      }
      fail(OF_INVALID_ARGUMENT, "%s must be the name of a dtype, got '%s'", argument.name, printable(name).c_str());
    }
    if (value.kind != OF_VALUE_DTYPE) return false;
    if (!is_valid(value.as.dtype))
      fail(OF_INVALID_ARGUMENT, "%s must be a dtype, got the number %d", argument.name, value.as.dtype);
    check_complex_dtype(argument, value.as.dtype);
    return true;
  }

  // Throws DTypeError for a complex dtype unless the operator supports complex numbers.
  void check_complex_dtype(const Argument& argument, of_dtype dtype) {
    if (!is_complex(dtype)) return;
    if (!call_.schema().run_complex)
      fail(OF_DTYPE_ERROR, "%s must be a real type, got %s", argument.name, dtype_name(dtype));
    call_.is_complex = true;
  }

  // Throws DTypeError for a complex tensor unless the argument accepts it.
  void check_complex_tensor(const Argument& argument, of_dtype dtype) {
    if (!accepts(argument.accepts, part_dtype(dtype))) fail_dtype(argument, dtype_name(dtype));
    if (!call_.schema().run_complex)
      fail(OF_DTYPE_ERROR, "%s must be a real tensor, got %s", argument.name, dtype_name(dtype));
    call_.is_complex = true;
  }

  // Replaces a tensor of indices by one that kernels read. Throws DTypeError for another argument, or another dtype.
  void convert_index(const Argument& argument, const Tensor& tensor) {
    static constinit const OperatorName kCast("cast");
    if (argument.accepts != DTypeSet::kIndex || !is_integral(tensor.dtype()))
      fail_dtype(argument, dtype_name(tensor.dtype()));
    TensorRef& converted = call_.converted_index = Body(call_).call(kCast, tensor, OF_INT64);
    call_.arguments[position_of(argument)] = to_value(*converted);
  }

  bool check_device(const Argument& argument, const of_value& value, of_value& checked) {
    if (value.kind == OF_VALUE_STRING) {
      check_pointer(argument, value.as.string, value.count);
      checked.kind = OF_VALUE_DEVICE;
      checked.count = 0;
      checked.as.device = parse_device({value.as.string, static_cast<size_t>(value.count)});
    } else if (value.kind != OF_VALUE_DEVICE) {
      return false;
    }
    call_.device = get_device(checked.as.device).id();
    has_device_ = true;
    return true;
  }

  // Checks the dtype and the device of a tensor.
  void check_tensor(const Argument& argument, const Tensor& tensor) {
    if (is_complex(tensor.dtype())) [[unlikely]]
      check_complex_tensor(argument, tensor.dtype());
    else if (!accepts(argument.accepts, tensor.dtype()) && !converts_) [[unlikely]]
      convert_index(argument, tensor);
    if (argument.is_written) [[unlikely]]
      check_writable(tensor);
    call_.carried_layers |= tensor.carried_layers();
    if (rank_ < 0) {
      rank_ = tensor.rank();
      call_.placed = position_of(argument);
      call_.device = tensor.device();
    } else if (!(tensor.device() == call_.device)) [[unlikely]] {
      if (call_.schema().spans_devices || argument.comes_from_any_device) return;
      if (call_.misplaced < 0) call_.misplaced = position_of(argument);
    }
  }

  int8_t position_of(const Argument& argument) const {
    return static_cast<int8_t>(&argument - call_.schema().arguments.data());
  }

  static of_value float_value(double value) {
    of_value v{OF_VALUE_FLOAT, 0, {}};
    v.as.real = value;
    return v;
  }
  static of_value dtype_value(of_dtype value) {
    of_value v{OF_VALUE_DTYPE, 0, {}};
    v.as.dtype = value;
    return v;
  }

  Call& call_;
  int rank_ = -1;  // of the first tensor, to which dims refer, or the largest in its list; -1: there is none yet
  bool has_device_ = false;
  bool converts_ = false;  // whether a dtype argument requests a floating-point type, to which operands are converted
};

}  // namespace

void fail_misplaced(const Call& call) {
  const auto name = [&](int argument) { return call.schema().arguments[argument].name; };
  const of_value& value = call.arguments[call.misplaced];
  of_device found{};
  for_each_given({&value, 1}, [&](const Tensor& tensor) {
    if (!(tensor.device() == call.device)) found = tensor.device();
  });
  fail(OF_DEVICE_ERROR, "%s must be on %s, as %s is, got a tensor on %s", name(call.misplaced),
       device_name(call.device).c_str(), name(call.placed), device_name(found).c_str());
}

void check_arguments(Call& call, std::span<const of_value> arguments) {
  const int count = static_cast<int>(call.schema().arguments.size());
  if (arguments.size() > static_cast<size_t>(count)) [[unlikely]]
    fail(OF_TYPE_MISMATCH, "takes at most %d argument%s, got %zu", count, count == 1 ? "" : "s", arguments.size());
  const int given = static_cast<int>(arguments.size());
  Checker checker(call, arguments);
  for (int i = 0; i < given; ++i) checker.check(i, arguments[i]);
  for (int i = given; i < count; ++i) checker.check(i, {});
  checker.finish();
}

}  // namespace oneflow
