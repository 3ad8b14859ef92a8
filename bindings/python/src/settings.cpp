// Settings: default dtype, options, threads, determinism and fallbacks.

#include "bind.h"

namespace oneflow::python {
namespace {

constexpr of_parameter kDtype[] = {required("dtype", kDTypeType)};
const Function kDefaultDtypeFunction("set_default_dtype", kDtype);

constexpr of_parameter kTwoDtypes[] = {required("type1", kDTypeType), required("type2", kDTypeType)};
const Function kPromoteFunction("promote_types", kTwoDtypes);

of_dtype promote_types(of_dtype first, of_dtype second) {
  const of_dtype common = of_promote_types(first, second);
  if (common != OF_DTYPE_NONE) return common;
  const std::string names = std::string(of_dtype_name(first)) + " and " + of_dtype_name(second);
  fail(OF_DTYPE_ERROR, "promote_types: " + names + " have no common dtype");
}

int64_t read_option(const char* option) {
  int64_t value = 0;
  require(of_get_option(option, &value));
  return value;
}

void require_option(of_status status, const char* function) {
  if (status != OF_OK) fail(status, std::string(function) + ": " + of_last_error());
}

constexpr of_parameter kOption[] = {required("name", kStringType)};
const Function kGetOptionFunction("get_option", kOption);

int64_t get_option(std::string_view name) {
  int64_t value = 0;
  require_option(of_get_option(name.data(), &value), "get_option");
  return value;
}

constexpr of_parameter kOptionAndValue[] = {kOption[0], required("value", kNumberType)};
const Function kSetOptionFunction("set_option", kOptionAndValue);

void set_option(std::string_view name, Given given) {
  const of_value& value = given.value;
  if (value.kind == OF_VALUE_FLOAT) {
    fail(OF_TYPE_MISMATCH, "set_option: value must be int or bool, got " + type_name(given.object.ptr()));
  }
  const int64_t number = value.kind == OF_VALUE_BOOL ? value.as.boolean : value.as.integer;
  require_option(of_set_option(name.data(), number), "set_option");
}

constexpr of_parameter kThreads[] = {required("threads", kIntType)};
const Function kThreadsFunction("set_num_threads", kThreads);

void set_num_threads(int64_t threads) { require_option(of_set_option("num_threads", threads), "set_num_threads"); }
int64_t get_num_threads() { return read_option("num_threads"); }

constexpr of_parameter kMode[] = {required("mode", kBoolType)};
const Function kDeterministicFunction("set_deterministic", kMode);
const Function kFallbackFunction("set_fallback_is_error", kMode);

of_status set_deterministic(bool mode) { return of_set_option("deterministic", mode); }
bool is_deterministic() { return read_option("deterministic") != 0; }
of_status set_fallback_is_error(bool mode) { return of_set_option("fallback_is_error", mode); }

nb::dict fallbacks() {
  nb::dict result;
  for (size_t i = 0, count = of_fallback_count(); i < count; ++i) {
    of_op op = nullptr;
    uint64_t calls = 0;
    of_op_info info{};
    info.struct_size = sizeof(info);
    require(of_fallback_at(i, &op, &calls));
    require(of_op_get_info(op, &info));
    result[info.name] = calls;
  }
  return result;
}

}  // namespace

std::vector<PyMethodDef> settings_functions() {
  return {
      bound<of_set_default_dtype, kDefaultDtypeFunction>(
          "set_default_dtype",
          "set_default_dtype(dtype)\n--\n\n"
          "Sets the floating-point dtype of tensors that are created without a dtype. The initial one is float32."),
      plain<of_default_dtype>(
          "get_default_dtype",
          "get_default_dtype()\n--\n\nReturns the floating-point dtype of tensors that are created without a dtype."),
      bound<promote_types, kPromoteFunction>(
          "promote_types",
          "promote_types(type1, type2)\n--\n\n"
          "Returns the dtype that operands of these two dtypes promote to. Raises DTypeError if there is none."),
      bound<get_option, kGetOptionFunction>(
          "get_option",
          "get_option(name)\n--\n\n"
          "Returns the value of an option: num_threads, deterministic, detect_anomaly, fallback_is_error, or a "
          "plugin's.\n"
          "\nRaises InvalidArgument for an unknown name."),
      bound<set_option, kSetOptionFunction>(
          "set_option",
          "set_option(name, value)\n--\n\n"
          "Sets an option for the whole process; see get_option(). Raises InvalidArgument for an unknown name."),
      bound<set_num_threads, kThreadsFunction>(
          "set_num_threads",
          "set_num_threads(threads)\n--\n\n"
          "Sets the number of threads that a kernel of the host may use, for the whole process.\n"
          "\n"
          "Results do not depend on it. Raises InvalidArgument unless it is from 1 to 1024."),
      plain<get_num_threads>(
          "get_num_threads",
          "get_num_threads()\n--\n\n"
          "Returns the number of threads that a kernel of the host may use: that of set_num_threads(), or of the "
          "environment\n"
          "variable ONEFLOW_NUM_THREADS, or of the processors that the process may use."),
      bound<set_deterministic, kDeterministicFunction>(
          "set_deterministic",
          "set_deterministic(mode)\n--\n\n"
          "Sets whether only kernels with bitwise reproducible results may run. The kernels of all devices that come\n"
          "with oneflow are reproducible in either mode."),
      plain<is_deterministic>(
          "is_deterministic",
          "is_deterministic()\n--\n\nReturns whether only kernels with bitwise reproducible results may run."),
      bound<set_fallback_is_error, kFallbackFunction>(
          "set_fallback_is_error",
          "set_fallback_is_error(mode)\n--\n\n"
          "Sets whether an operator that its device lacks raises Unsupported instead of running on the host."),
      plain<fallbacks>("fallbacks",
                       "fallbacks()\n--\n\n"
                       "Returns the operators that ran on the host because their device lacks them: a dictionary from "
                       "their names to\n"
                       "the numbers of calls."),
  };
}

}  // namespace oneflow::python
