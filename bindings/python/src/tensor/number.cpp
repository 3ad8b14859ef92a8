// Python's operators + - * @ == ..., which call the functions that operators.yaml assigns to them.

#include <oneflow/autograd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "calls/call.h"
#include "calls/function_table.h"
#include "calls/operators.h"
#include "calls/scalars.h"
#include "errors.h"
#include "tensor/tensor.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {
namespace {

enum class Slot : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kTrueDivide,
  kFloorDivide,
  kRemainder,
  kPower,
  kMatrixMultiply,
  kAnd,
  kOr,
  kXor,
  kLeftShift,
  kRightShift,
  kNegative,
  kAbsolute,
  kInvert,
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kGreater,
  kGreaterEqual,
  kCount,
};

constexpr const char* kSlotNames[] = {
    "__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__pow__", "__matmul__",
    "__and__", "__or__",  "__xor__", "__lshift__",  "__rshift__",   "__neg__", "__abs__", "__invert__",
    "__lt__",  "__le__",  "__eq__",  "__ne__",      "__gt__",       "__ge__",
};
static_assert(std::size(kSlotNames) == static_cast<size_t>(Slot::kCount));

// The function of each slot, with its first overload alone; NULL if the slot has none.
std::array<const Function*, static_cast<size_t>(Slot::kCount)> functions;

const Function* function_of(Slot slot) { return functions[static_cast<size_t>(slot)]; }

bool requires_gradient(PyObject* object) { return is_tensor(object) && of_tensor_requires_grad(handle_of(object)); }

// Returns whether an object is a number where a tensor is needed.
bool is_misplaced_number(const of_parameter& parameter, PyObject* object) {
  const bool is_number = PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object);
  return is_number && parameter.type->kind == OF_TYPE_TENSOR;
}

// Calls a function whose operands are not all tensors and numbers. The memory of a NumPy array is shared, unless its
// elements may be needed for a gradient. Returns NotImplemented for operands of other types, so that Python tries the
// other operand and then raises TypeError.
PyObject* apply_to_others(const Function& function, std::span<PyObject* const> operands, PyObject* destination) {
  for (size_t i = 0; i < operands.size(); ++i)
    if (is_misplaced_number(function.table().overloads->parameters[i], operands[i])) Py_RETURN_NOTIMPLEMENTED;
  const bool is_recorded = std::any_of(operands.begin(), operands.end(), requires_gradient);
  BoundCall call;
  const Arguments arguments = {operands.data(), static_cast<Py_ssize_t>(operands.size()), nullptr};
  const of_status status = call.try_bind(function, arguments, OF_CALLED_AS_FUNCTION, !is_recorded);
  if (status == OF_TYPE_MISMATCH) Py_RETURN_NOTIMPLEMENTED;
  return check(status) ? run_operator(function, call.values(), destination) : nullptr;
}

// Reads a tensor, or a number where it is an operand.
bool read_operand(const of_parameter& parameter, PyObject* object, of_value* value) {
  if (!is_tensor(object))
    return parameter.type->kind == OF_TYPE_OPERAND && find_number(object, value) == NumberMatch::kFound;
  value->kind = OF_VALUE_TENSOR;
  value->as.tensor = handle_of(object);
  return true;
}

// Calls the function of a slot.
PyObject* apply(Slot slot, std::span<PyObject* const> operands, PyObject* destination) {
  const Function* function = function_of(slot);
  if (function == nullptr) Py_RETURN_NOTIMPLEMENTED;
  std::array<of_value, OF_MAX_PARAMETERS> values;
  const of_overload& overload = *function->table().overloads;
  for (size_t i = 0; i < operands.size(); ++i)
    if (!read_operand(overload.parameters[i], operands[i], &values[i]))
      return apply_to_others(*function, operands, destination);
  for (size_t i = operands.size(); i < static_cast<size_t>(overload.parameter_count); ++i)
    values[i].kind = OF_VALUE_ABSENT;
  return run_operator(*function, values.data(), destination);
}

template <Slot slot>
PyObject* unary(PyObject* a) {
  PyObject* operands[] = {a};
  return apply(slot, operands, nullptr);
}

template <Slot slot>
PyObject* binary(PyObject* a, PyObject* b) {
  PyObject* operands[] = {a, b};
  return apply(slot, operands, nullptr);
}

template <Slot slot>
PyObject* in_place(PyObject* a, PyObject* b) {
  const Function* function = function_of(slot);
  if (function == nullptr || function->table().overloads->replaced < 0) Py_RETURN_NOTIMPLEMENTED;
  PyObject* operands[] = {a, b};
  return apply(slot, operands, a);
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary<Slot::kPower>(a, b);
}

PyObject* power_in_place(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return in_place<Slot::kPower>(a, b);
}

PyObject* positive(PyObject* a) { return Py_NewRef(a); }

PyObject* compare(PyObject* a, PyObject* b, int operation) {
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
  PyObject* operands[] = {a, b};
  return apply(static_cast<Slot>(static_cast<int>(Slot::kLess) + operation), operands, nullptr);
}

template <Slot slot>
void append_binary(std::vector<PyType_Slot>* slots, int id, int in_place_id) {
  slots->push_back({id, reinterpret_cast<void*>(binary<slot>)});
  slots->push_back({in_place_id, reinterpret_cast<void*>(in_place<slot>)});
}

}  // namespace

void append_number_slots(std::vector<PyType_Slot>* slots) {
  append_binary<Slot::kAdd>(slots, Py_nb_add, Py_nb_inplace_add);
  append_binary<Slot::kSubtract>(slots, Py_nb_subtract, Py_nb_inplace_subtract);
  append_binary<Slot::kMultiply>(slots, Py_nb_multiply, Py_nb_inplace_multiply);
  append_binary<Slot::kTrueDivide>(slots, Py_nb_true_divide, Py_nb_inplace_true_divide);
  append_binary<Slot::kFloorDivide>(slots, Py_nb_floor_divide, Py_nb_inplace_floor_divide);
  append_binary<Slot::kRemainder>(slots, Py_nb_remainder, Py_nb_inplace_remainder);
  append_binary<Slot::kMatrixMultiply>(slots, Py_nb_matrix_multiply, Py_nb_inplace_matrix_multiply);
  append_binary<Slot::kAnd>(slots, Py_nb_and, Py_nb_inplace_and);
  append_binary<Slot::kOr>(slots, Py_nb_or, Py_nb_inplace_or);
  append_binary<Slot::kXor>(slots, Py_nb_xor, Py_nb_inplace_xor);
  append_binary<Slot::kLeftShift>(slots, Py_nb_lshift, Py_nb_inplace_lshift);
  append_binary<Slot::kRightShift>(slots, Py_nb_rshift, Py_nb_inplace_rshift);
  const PyType_Slot others[] = {
      {Py_nb_power, reinterpret_cast<void*>(power)},
      {Py_nb_inplace_power, reinterpret_cast<void*>(power_in_place)},
      {Py_nb_negative, reinterpret_cast<void*>(unary<Slot::kNegative>)},
      {Py_nb_positive, reinterpret_cast<void*>(positive)},
      {Py_nb_absolute, reinterpret_cast<void*>(unary<Slot::kAbsolute>)},
      {Py_nb_invert, reinterpret_cast<void*>(unary<Slot::kInvert>)},
      {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
  };
  slots->insert(slots->end(), std::begin(others), std::end(others));
}

bool resolve_number_slots() {
  for (const SlotRecord& record : slot_records) {
    const auto name = std::find_if(std::begin(kSlotNames), std::end(kSlotNames),
                                   [&](const char* each) { return strcmp(each, record.slot) == 0; });
    const Function* function = find_function(record.function);
    if (name == std::end(kSlotNames) || function == nullptr) {
      PyErr_Format(PyExc_ImportError, "oneflow_py: the function %s cannot implement the operator %s", record.function,
                   record.slot);
      return false;
    }
    of_public_function first = function->table();
    first.overload_count = 1;
    functions[static_cast<size_t>(name - std::begin(kSlotNames))] = new Function(first);
  }
  return true;
}

}  // namespace oneflow::python
