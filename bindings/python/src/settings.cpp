// Settings: default dtype, options, threads, determinism and fallbacks.

#include "arguments.h"
#include "dtype.h"
#include "errors.h"
#include "operators.h"
#include "tensor_parts.h"

namespace oneflow::python {
namespace {

const ArgumentRecord kDtype[] = {{"dtype", "dtype", ArgumentKind::kDType}};
const Parameters kDefaultDtypeParameters("set_default_dtype", kDtype);

PyObject* set_default_dtype(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<1> call;
  if (!call.parse(kDefaultDtypeParameters, args, count, keywords)) return nullptr;
  if (!check(of_set_default_dtype(call.values[0].as.dtype))) return nullptr;
  Py_RETURN_NONE;
}

PyObject* get_default_dtype(PyObject*, PyObject*) { return dtype_object(of_default_dtype()); }

const ArgumentRecord kTwoDtypes[] = {{"type1", "dtype", ArgumentKind::kDType},
                                     {"type2", "dtype", ArgumentKind::kDType}};
const Parameters kPromoteParameters("promote_types", kTwoDtypes);

PyObject* promote_types(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<2> call;
  if (!call.parse(kPromoteParameters, args, count, keywords)) return nullptr;
  const of_dtype first = call.values[0].as.dtype, second = call.values[1].as.dtype;
  const of_dtype common = of_promote_types(first, second);
  if (common != OF_DTYPE_NONE) return dtype_object(common);
  const std::string names = std::string(of_dtype_name(first)) + " and " + of_dtype_name(second);
  return raise(OF_DTYPE_ERROR, "promote_types: " + names + " have no common dtype");
}

PyObject* change_option(const char* option, int64_t value) {
  if (!check(of_set_option(option, value))) return nullptr;
  Py_RETURN_NONE;
}

bool read_option(const char* option, int64_t* value) { return check(of_get_option(option, value)); }

// Reads the name of an option. Raises and returns false if it contains a null byte, at which it would end for the C
// API.
bool to_option(const of_value& value, const char* function, std::string* option) {
  option->assign(value.as.string, static_cast<size_t>(value.count));
  if (option->find('\0') == std::string::npos) return true;
  raise(OF_INVALID_ARGUMENT, std::string(function) + ": name must not have a null byte");
  return false;
}

PyObject* raise_option(of_status status, const char* function) {
  return raise(status, std::string(function) + ": " + of_last_error());
}

const ArgumentRecord kOption[] = {{"name", "str", ArgumentKind::kString}};
const Parameters kGetOptionParameters("get_option", kOption);

PyObject* get_option(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<1> call;
  std::string option;
  int64_t value = 0;
  if (!call.parse(kGetOptionParameters, args, count, keywords) || !to_option(call.values[0], "get_option", &option)) {
    return nullptr;
  }
  if (of_status status = of_get_option(option.c_str(), &value)) return raise_option(status, "get_option");
  return PyLong_FromLongLong(value);
}

const ArgumentRecord kOptionAndValue[] = {kOption[0], {"value", "int or bool", ArgumentKind::kNumber}};
const Parameters kSetOptionParameters("set_option", kOptionAndValue);

PyObject* set_option(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<2> call;
  std::string option;
  if (!call.parse(kSetOptionParameters, args, count, keywords) || !to_option(call.values[0], "set_option", &option)) {
    return nullptr;
  }
  const of_value& value = call.values[1];
  if (value.kind == OF_VALUE_FLOAT) {
    return raise(OF_TYPE_MISMATCH, "set_option: value must be int or bool, got " + type_name(call.objects[1]));
  }
  const int64_t number = value.kind == OF_VALUE_BOOL ? value.as.boolean : value.as.integer;
  if (of_status status = of_set_option(option.c_str(), number)) return raise_option(status, "set_option");
  Py_RETURN_NONE;
}

const ArgumentRecord kThreads[] = {{"threads", "int", ArgumentKind::kInt}};
const Parameters kThreadsParameters("set_num_threads", kThreads);

PyObject* set_num_threads(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<1> call;
  if (!call.parse(kThreadsParameters, args, count, keywords)) return nullptr;
  return change_option("num_threads", call.values[0].as.integer);
}

PyObject* get_num_threads(PyObject*, PyObject*) {
  int64_t value = 0;
  return read_option("num_threads", &value) ? PyLong_FromLongLong(value) : nullptr;
}

const ArgumentRecord kMode[] = {{"mode", "bool", ArgumentKind::kBool}};
const Parameters kDeterministicParameters("set_deterministic", kMode);
const Parameters kFallbackParameters("set_fallback_is_error", kMode);

PyObject* set_deterministic(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<1> call;
  if (!call.parse(kDeterministicParameters, args, count, keywords)) return nullptr;
  return change_option("deterministic", call.values[0].as.boolean);
}

PyObject* is_deterministic(PyObject*, PyObject*) {
  int64_t value = 0;
  return read_option("deterministic", &value) ? PyBool_FromLong(value != 0) : nullptr;
}

PyObject* set_fallback_is_error(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<1> call;
  if (!call.parse(kFallbackParameters, args, count, keywords)) return nullptr;
  return change_option("fallback_is_error", call.values[0].as.boolean);
}

PyObject* fallbacks(PyObject*, PyObject*) {
  Ref result(PyDict_New());
  for (size_t i = 0, count = of_fallback_count(); result && i < count; ++i) {
    of_op op = nullptr;
    uint64_t calls = 0;
    of_op_info info{};
    info.struct_size = sizeof(info);
    if (!check(of_fallback_at(i, &op, &calls)) || !check(of_op_get_info(op, &info))) return nullptr;
    Ref number(PyLong_FromUnsignedLongLong(calls));
    if (!number || PyDict_SetItemString(result.get(), info.name, number.get()) != 0) return nullptr;
  }
  return result.release();
}

PyObject* reset_fallbacks(PyObject*, PyObject*) {
  of_reset_fallbacks();
  Py_RETURN_NONE;
}

}  // namespace

std::vector<PyMethodDef> settings_functions() {
  return {
      fast_method(
          "set_default_dtype", set_default_dtype,
          "set_default_dtype(dtype)\n--\n\n"
          "Sets the floating-point dtype of tensors that are created without a dtype. The initial one is float32."),
      {"get_default_dtype", get_default_dtype, METH_NOARGS,
       "get_default_dtype()\n--\n\nReturns the floating-point dtype of tensors that are created without a dtype."},
      fast_method(
          "promote_types", promote_types,
          "promote_types(type1, type2)\n--\n\n"
          "Returns the dtype that operands of these two dtypes promote to. Raises DTypeError if there is none."),
      fast_method("get_option", get_option,
                  "get_option(name)\n--\n\n"
                  "Returns the value of an option: num_threads, deterministic, detect_anomaly, fallback_is_error, or a "
                  "plugin's.\n"
                  "\nRaises InvalidArgument for an unknown name."),
      fast_method(
          "set_option", set_option,
          "set_option(name, value)\n--\n\n"
          "Sets an option for the whole process; see get_option(). Raises InvalidArgument for an unknown name."),
      fast_method("set_num_threads", set_num_threads,
                  "set_num_threads(threads)\n--\n\nSets the number of threads that the kernels of the host may use."),
      {"get_num_threads", get_num_threads, METH_NOARGS,
       "get_num_threads()\n--\n\nReturns the number of threads that the kernels of the host may use."},
      fast_method(
          "set_deterministic", set_deterministic,
          "set_deterministic(mode)\n--\n\n"
          "Sets whether only kernels with bitwise reproducible results may run. The kernels of all devices that come\n"
          "with oneflow are reproducible in either mode."),
      {"is_deterministic", is_deterministic, METH_NOARGS,
       "is_deterministic()\n--\n\nReturns whether only kernels with bitwise reproducible results may run."},
      fast_method("set_fallback_is_error", set_fallback_is_error,
                  "set_fallback_is_error(mode)\n--\n\n"
                  "Sets whether an operator that its device lacks raises Unsupported instead of running on the host."),
      {"fallbacks", fallbacks, METH_NOARGS,
       "fallbacks()\n--\n\n"
       "Returns the operators that ran on the host because their device lacks them: a dictionary from their names to\n"
       "the numbers of calls."},
      {"reset_fallbacks", reset_fallbacks, METH_NOARGS, "reset_fallbacks()\n--\n\nClears the counts of fallbacks()."},
  };
}

}  // namespace oneflow::python
