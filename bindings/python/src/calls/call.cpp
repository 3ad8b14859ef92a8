#include "calls/call.h"

#include <oneflow/autograd.h>
#include <oneflow/front_end.h>
#include <oneflow/processes.h>

#include <algorithm>

#include "calls/labelled.h"
#include "classes/classes.h"
#include "errors.h"
#include "tensor/tensor.h"

namespace oneflow::python {
namespace {

// Runs an operator. Raises and returns false if it fails.
bool run(const Function& function, of_manner manner, size_t position, const of_value* values, of_value* results) {
  const of_overload& overload = function.table().overloads[position];
  const of_op op = function.op(position);
  of_status status;
  {
    const auto count = static_cast<size_t>(overload.parameter_count);
    UnlockedScope unlocked(of_call_is_long(op, values, count));
    status = of_call(op, values, count, results, static_cast<size_t>(overload.result_count));
  }
  if (status != OF_OK) [[unlikely]]
    of_error_set_caller(function.name(manner));
  return check(status);
}

// Returns a tuple, or a named tuple of a class: `item(i)` is a new reference to the i-th item.
template <class Item>
PyObject* pack(PyTypeObject* type, size_t size, const Item& item) {
  const auto count = static_cast<Py_ssize_t>(size);
  Ref tuple(type != nullptr ? PyType_GenericAlloc(type, count) : PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    Ref object(item(static_cast<size_t>(i)));
    if (!object) tuple = Ref();
    if (tuple) PyTuple_SET_ITEM(tuple.get(), i, object.release());
  }
  return tuple.release();
}

PyObject* call_with_new_results(const Function& function, of_manner manner, const BoundCall& bound) {
  const of_overload& overload = bound.overload();
  of_value results[OF_MAX_RESULTS];
  for (int32_t i = 0; i < overload.result_count; ++i) results[i].kind = OF_VALUE_ABSENT;
  if (!run(function, manner, bound.position(), bound.values(), results)) return nullptr;
  if (overload.gives_list) {
    const of_tensor* tensors = results[0].as.tensors;
    const auto item = [=](size_t i) { return wrap(of_tensor_retain(tensors[i])); };
    PyObject* list = pack(nullptr, static_cast<size_t>(results[0].count), item);
    of_value_release(results);
    return list;
  }
  if (overload.result_count == 1) [[likely]]
    return wrap(results[0].as.tensor);
  return pack(function.result_type(bound.position()), static_cast<size_t>(overload.result_count),
              [&](size_t i) { return wrap(results[i].as.tensor); });
}

PyObject* call_into(const Function& function, of_manner manner, const BoundCall& bound,
                    std::span<PyObject* const> targets) {
  of_value results[OF_MAX_RESULTS]{};
  for (size_t i = 0; i < targets.size(); ++i) {
    results[i].kind = OF_VALUE_TENSOR;
    results[i].as.tensor = handle_of(targets[i]);
  }
  if (!run(function, manner, bound.position(), bound.values(), results)) return nullptr;
  if (targets.size() == 1) return Py_NewRef(targets[0]);
  return pack(function.result_type(bound.position()), targets.size(), [=](size_t i) { return Py_NewRef(targets[i]); });
}

// Calls an operator that writes to one of its arguments, and returns that argument.
PyObject* call_writing(const Function& function, of_manner manner, const BoundCall& bound) {
  of_value result{};
  if (!run(function, manner, bound.position(), bound.values(), &result)) return nullptr;
  of_value_release(&result);
  return Py_NewRef(bound.native(bound.overload().written));
}

PyObject* call_on_list(const Function& function, const BoundCall& bound) {
  const int32_t position = bound.overload().replaced;
  of_value result = bound.values()[position];
  if (!run(function, OF_CALLED_IN_PLACE, bound.position(), bound.values(), &result)) return nullptr;
  PyObject* given = bound.native(position);
  if (given != nullptr) return is_tensor(given) ? PyTuple_Pack(1, given) : PySequence_Tuple(given);
  const std::span<PyObject* const> items = bound.items();
  return pack(nullptr, items.size(), [=](size_t i) { return Py_NewRef(items[i]); });
}

PyObject* call_in_place(const Function& function, const BoundCall& bound) {
  const int32_t position = bound.overload().replaced;
  if (bound.values()[position].kind == OF_VALUE_TENSOR_LIST) return call_on_list(function, bound);
  PyObject* const self = bound.native(position);
  return call_into(function, OF_CALLED_IN_PLACE, bound, {&self, 1});
}

// Begins a call. Returns its handle.
PyObject* start_call(const Function& function, const BoundCall& bound) {
  static const of_class* const work_class = of_class_find("Work");
  of_started_call started = nullptr;
  of_status status;
  {
    UnlockedScope unlocked(true);
    status = of_call_start(function.op(bound.position()), bound.values(),
                           static_cast<size_t>(bound.overload().parameter_count), &started);
  }
  if (status != OF_OK) of_error_set_caller(function.name(OF_CALLED_AS_FUNCTION));
  if (!check(status)) return nullptr;
  PyObject* const object = new_object(work_class, started);
  of_started_call_release(started);
  return object;
}

PyObject* call_bound(const Function& function, of_manner manner, const Arguments& arguments) {
  BoundCall bound;
  if (!bound.bind(function, arguments, manner)) return nullptr;
  if (function.table().starts) [[unlikely]]
    return start_call(function, bound);
  if (manner == OF_CALLED_IN_PLACE) return call_in_place(function, bound);
  if (bound.overload().written >= 0) return call_writing(function, manner, bound);
  if (!bound.outputs().empty()) return call_into(function, manner, bound, bound.outputs());
  Ref result(call_with_new_results(function, manner, bound));
  const bool is_leaf = result && bound.requires_grad();
  return !is_leaf || check(of_tensor_set_requires_grad(handle_of(result.get()), true)) ? result.release() : nullptr;
}

}  // namespace

PyObject* run_operator(const Function& function, const of_value* values, PyObject* destination) {
  of_value result{};
  if (destination != nullptr) {
    result.kind = OF_VALUE_TENSOR;
    result.as.tensor = handle_of(destination);
  }
  if (!run(function, OF_CALLED_AS_FUNCTION, 0, values, &result)) return nullptr;
  return destination != nullptr ? Py_NewRef(destination) : wrap(result.as.tensor);
}

PyObject* call(const Function& function, of_manner manner, const Arguments& arguments) {
  if (!function.table().takes_labels) [[likely]]
    return call_bound(function, manner, arguments);
  LabelledCall labelled(arguments);
  return labelled.read(function.name(manner)) ? call_bound(function, manner, labelled.arguments()) : nullptr;
}

}  // namespace oneflow::python
