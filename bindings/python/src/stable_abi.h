// What the stable ABI of CPython lacks: the extension is compiled with it for Python 3.12 and later (Py_LIMITED_API),
// and without it for older versions.
#ifndef ONEFLOW_PYTHON_STABLE_ABI_H_
#define ONEFLOW_PYTHON_STABLE_ABI_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#ifdef Py_LIMITED_API

// Macros that read objects directly, as the functions that the ABI has instead.
inline Py_ssize_t PyTuple_GET_SIZE(PyObject* tuple) { return PyTuple_Size(tuple); }
inline PyObject* PyTuple_GET_ITEM(PyObject* tuple, Py_ssize_t index) { return PyTuple_GetItem(tuple, index); }
inline void PyTuple_SET_ITEM(PyObject* tuple, Py_ssize_t index, PyObject* item) { PyTuple_SetItem(tuple, index, item); }
inline void PyList_SET_ITEM(PyObject* list, Py_ssize_t index, PyObject* item) { PyList_SetItem(list, index, item); }
inline char* PyBytes_AS_STRING(PyObject* bytes) { return PyBytes_AsString(bytes); }
inline Py_ssize_t PyBytes_GET_SIZE(PyObject* bytes) { return PyBytes_Size(bytes); }
inline double PyFloat_AS_DOUBLE(PyObject* number) { return PyFloat_AsDouble(number); }
inline Py_ssize_t PyUnicode_GET_LENGTH(PyObject* text) { return PyUnicode_GetLength(text); }
inline const char* PyUnicode_AsUTF8(PyObject* text) { return PyUnicode_AsUTF8AndSize(text, nullptr); }
inline PyObject* PyObject_CallOneArg(PyObject* callable, PyObject* argument) {
  return PyObject_CallFunctionObjArgs(callable, argument, nullptr);
}

// Binds a function to an object.
PyObject* PyMethod_New(PyObject* function, PyObject* self);

#endif

namespace oneflow::python {

// The ends of a slice, borrowed from it.
struct SliceEnds {
  PyObject* start;
  PyObject* stop;
  PyObject* step;
};

inline SliceEnds ends_of(PyObject* slice) {
#ifdef Py_LIMITED_API
  const auto read = [slice](const char* name) {
    PyObject* end = PyObject_GetAttrString(slice, name);
    Py_XDECREF(end);  // the slice holds it
    return end;
  };
  return {read("start"), read("stop"), read("step")};
#else
  const auto* object = reinterpret_cast<PySliceObject*>(slice);
  return {object->start, object->stop, object->step};
#endif
}

// The numbers of a slice. An absent end is as far as possible in the direction of the step.
struct SliceNumbers {
  int64_t start;
  int64_t stop;
  int64_t step;
  bool has_start;
  bool has_stop;
};

// Returns the numbers of a slice, if they can be had faster than by its ends. Returns nothing for a slice of which
// the ends must be read, also for the text of an error.
inline std::optional<SliceNumbers> numbers_of([[maybe_unused]] PyObject* slice) {
#ifdef Py_LIMITED_API
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(slice, &start, &stop, &step) == 0) {
    // None is the limit in the direction of the step, like all numbers beyond it.
    const bool has_start = start != (step > 0 ? 0 : PY_SSIZE_T_MAX);
    const bool has_stop = stop != (step > 0 ? PY_SSIZE_T_MAX : PY_SSIZE_T_MIN);
    return SliceNumbers{has_start ? start : 0, has_stop ? stop : 0, step, has_start, has_stop};
  }
  PyErr_Clear();
#endif
  return std::nullopt;
}

// The items of a list or tuple, borrowed from it; NULL has none.
class ItemsOf {
 public:
#ifdef Py_LIMITED_API
  explicit ItemsOf(PyObject* sequence) {
    if (sequence == nullptr) return;
    const bool is_list = PyList_Check(sequence) != 0;
    const Py_ssize_t count = is_list ? PyList_Size(sequence) : PyTuple_Size(sequence);
    PyObject** items = few_;
    if (count > kFew) {
      many_.resize(static_cast<size_t>(count));
      items = many_.data();
    }
    for (Py_ssize_t i = 0; i < count; ++i) {
      items[i] = is_list ? PyList_GetItem(sequence, i) : PyTuple_GetItem(sequence, i);
    }
    items_ = {items, static_cast<size_t>(count)};
  }
#else
  explicit ItemsOf(PyObject* sequence) {
    if (sequence != nullptr)
      items_ = {PySequence_Fast_ITEMS(sequence), static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence))};
  }
#endif
  ItemsOf(const ItemsOf&) = delete;
  ItemsOf& operator=(const ItemsOf&) = delete;

  size_t size() const { return items_.size(); }
  PyObject* operator[](size_t index) const { return items_[index]; }
  operator std::span<PyObject* const>() const { return items_; }

 private:
#ifdef Py_LIMITED_API
  static constexpr Py_ssize_t kFew = 8;
  PyObject* few_[kFew]{};
  std::vector<PyObject*> many_;
#endif
  std::span<PyObject* const> items_;
};

// Gets the items of a list or tuple, borrowed from it until the next call. Returns false if there may be too many.
inline bool few_items(PyObject* sequence, PyObject* const** items, size_t* count) {
#ifdef Py_LIMITED_API
  static PyObject* few[32];
  const bool is_list = PyList_Check(sequence) != 0;
  const Py_ssize_t size = is_list ? PyList_Size(sequence) : PyTuple_Size(sequence);
  if (size > static_cast<Py_ssize_t>(std::size(few))) return false;
  for (Py_ssize_t i = 0; i < size; ++i) few[i] = is_list ? PyList_GetItem(sequence, i) : PyTuple_GetItem(sequence, i);
  *items = few;
#else
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(sequence);
  *items = PySequence_Fast_ITEMS(sequence);
#endif
  *count = static_cast<size_t>(size);
  return true;
}

// Returns whether this thread holds the GIL.
bool holds_gil();

// Returns whether the interpreter is shutting down.
bool is_finalizing();

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_STABLE_ABI_H_
