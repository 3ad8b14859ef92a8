// x[...], x[...] = ..., len(x), iteration and `in`.

#include <cstddef>
#include <new>
#include <vector>

#include "calls/operators.h"
#include "calls/scalars.h"
#include "errors.h"
#include "tensor/creation.h"
#include "tensor/dlpack.h"
#include "tensor/dtype.h"
#include "tensor/nested.h"
#include "tensor/tensor.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {
namespace {

// The parts of an index, and the tensors that are created for lists and arrays, on the device of the indexed tensor.
class Index {
 public:
  explicit Index(PyObject* owner) : owner_(owner) {}

  bool parse(PyObject* key) {
    if (!PyTuple_Check(key)) return parse_part(key);
    const Py_ssize_t count = PyTuple_GET_SIZE(key);
    if (count > kFew) {
      many_.resize(static_cast<size_t>(count));
      parts_ = many_.data();
    }
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (!parse_part(PyTuple_GET_ITEM(key, i))) return false;
    }
    return true;
  }

  const of_index* parts() const { return parts_; }
  size_t count() const { return count_; }
  // Returns whether the index has tensors: the result is then a copy and not a view.
  bool has_arrays() const { return !tensors_.empty(); }

 private:
  bool parse_part(PyObject* key);
  bool parse_integer(PyObject* key);
  bool parse_slice(PyObject* key);
  bool parse_array(PyObject* key);

  of_index& add(of_index_kind kind) {
    of_index& part = parts_[count_++];
    part = {};
    part.kind = kind;
    return part;
  }

  bool add_tensor(PyObject* tensor) {
    tensors_.push_back(Ref::borrow(tensor));
    add(OF_INDEX_TENSOR).tensor = handle_of(tensor);
    return true;
  }

  static constexpr Py_ssize_t kFew = 8;  // most indices have a few parts
  PyObject* owner_;
  of_index few_[kFew];
  std::vector<of_index> many_;
  of_index* parts_ = few_;
  size_t count_ = 0;
  std::vector<Ref> tensors_;
};

// Reads an integer index or a bound of a slice. Integers beyond 64 bits are out of range for every tensor, so they are
// clamped.
bool to_integer(PyObject* object, int64_t* result) {
  Ref integer;
  if (!PyLong_Check(object)) {
    integer = Ref(PyNumber_Index(object));
    if (!integer) return false;
    object = integer.get();
  }
  int overflow = 0;
  *result = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0) *result = overflow < 0 ? INT64_MIN : INT64_MAX;
  return true;
}

bool Index::parse_part(PyObject* key) {
  if (PyLong_CheckExact(key)) return parse_integer(key);
  if (PySlice_Check(key)) return parse_slice(key);
  if (key == Py_Ellipsis || key == Py_None) {
    add(key == Py_None ? OF_INDEX_NEW : OF_INDEX_ELLIPSIS);
    return true;
  }
  if (PyBool_Check(key)) {
    add(OF_INDEX_BOOL).start = key == Py_True;
    return true;
  }
  if (is_tensor(key)) return add_tensor(key);
  if (is_numpy_scalar(key)) {
    of_value number{};
    if (find_number(key, &number) == NumberMatch::kFound && number.kind == OF_VALUE_BOOL) {
      add(OF_INDEX_BOOL).start = number.as.boolean;
      return true;
    }
  }
  const bool array = PyObject_CheckBuffer(key) || is_sequence(key) || has_dlpack(key);
  if (PyIndex_Check(key) && (!array || is_numpy_scalar(key))) return parse_integer(key);
  if (array && !PyBytes_Check(key)) return parse_array(key);
  raise(OF_TYPE_MISMATCH, "index: part " + std::to_string(count()) +
                              " must be int, slice, None, ..., or a list or tensor of ints or bools, got " +
                              type_name(key));
  return false;
}

bool Index::parse_integer(PyObject* key) { return to_integer(key, &add(OF_INDEX_INT).start); }

bool Index::parse_slice(PyObject* key) {
  of_index& part = add(OF_INDEX_SLICE);
  part.step = 1;
  if (const auto numbers = numbers_of(key)) {
    part.has_start = numbers->has_start;
    part.has_stop = numbers->has_stop;
    part.start = numbers->start;
    part.stop = numbers->stop;
    part.step = numbers->step;
    return true;
  }
  const SliceEnds slice = ends_of(key);
  part.has_start = slice.start != Py_None;
  part.has_stop = slice.stop != Py_None;
  const struct {
    PyObject* object;
    int64_t* value;
  } ends[] = {{slice.start, &part.start}, {slice.stop, &part.stop}, {slice.step, &part.step}};
  for (const auto& end : ends) {
    if (end.object == Py_None) continue;
    if (!PyLong_Check(end.object) && !PyIndex_Check(end.object)) {
      raise(OF_TYPE_MISMATCH, "index: slices must be of int or None, got " + type_name(end.object));
      return false;
    }
    if (!to_integer(end.object, end.value)) return false;
  }
  return true;
}

bool Index::parse_array(PyObject* key) {
  const of_device device = tensor_device(owner_);
  Ref tensor(create_tensor(key, {.function = "index", .name = "list", .device = &device, .if_empty = OF_INT64}));
  return tensor && add_tensor(tensor.get());
}

PyObject* get_parts(PyObject* self, const of_index* parts, size_t count) {
  of_tensor result = nullptr;
  return check(of_tensor_index(handle_of(self), parts, count, &result)) ? wrap(result) : nullptr;
}

PyObject* get(PyObject* self, PyObject* key) {
  try {
    Index index(self);
    if (!index.parse(key)) return nullptr;
    if (!index.has_arrays()) return get_parts(self, index.parts(), index.count());
    of_tensor result = nullptr;
    const of_tensor handle = handle_of(self);
    const auto pick = [&] { return of_tensor_index(handle, index.parts(), index.count(), &result); };
    return check(run_native(handle, pick)) ? wrap(result) : nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

// Converts the right-hand side of an assignment. Numbers and tensors are passed unchanged; other objects become tensors
// of the dtype of `self`, which `made` owns.
bool to_element_value(PyObject* self, PyObject* object, of_value* value, Ref* made) {
  switch (find_number(object, value)) {
    case NumberMatch::kFound:
      return true;
    case NumberMatch::kTooLarge:
      raise(OF_INVALID_ARGUMENT, "index: value must fit into 64 bits, got a larger integer");
      return false;
    case NumberMatch::kWrongType:
      break;
  }
  const of_dtype dtype = of_tensor_dtype(handle_of(self));
  const of_device device = tensor_device(self);
  const TensorRequest request{.function = "index", .name = "value", .dtype = &dtype, .device = &device};
  *made = is_tensor(object) ? Ref::borrow(object) : Ref(create_tensor(object, request));
  if (!*made) return false;
  value->kind = OF_VALUE_TENSOR;
  value->as.tensor = handle_of(made->get());
  return true;
}

int set(PyObject* self, PyObject* key, PyObject* object) {
  if (object == nullptr) {
    raise(OF_TYPE_MISMATCH, "index: elements of a tensor cannot be deleted");
    return -1;
  }
  try {
    Index index(self);
    of_value value{};
    Ref made;
    if (!index.parse(key) || !to_element_value(self, object, &value, &made)) return -1;
    const of_tensor handle = handle_of(self);
    const auto write = [&] { return of_tensor_set_index(handle, index.parts(), index.count(), &value); };
    const bool reads_more = value.kind == OF_VALUE_TENSOR && of_tensor_work(value.as.tensor) > of_tensor_work(handle);
    return check(run_native(reads_more ? value.as.tensor : handle, write)) ? 0 : -1;
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return -1;
  }
}

bool has_dimensions(PyObject* self, const char* function) {
  if (of_tensor_rank(handle_of(self)) > 0) return true;
  raise(OF_TYPE_MISMATCH, std::string(function) + ": input must have at least 1 dimension, got 0");
  return false;
}

Py_ssize_t length(PyObject* self) { return has_dimensions(self, "len") ? of_tensor_sizes(handle_of(self))[0] : -1; }

// Returns an item for iteration. The IndexError that ends each iteration has no message, which would cost time.
PyObject* get_item(PyObject* self, Py_ssize_t position) {
  if (of_tensor_rank(handle_of(self)) > 0 && position >= of_tensor_sizes(handle_of(self))[0]) {
    PyErr_SetNone(PyExc_IndexError);
    return nullptr;
  }
  of_index part{};
  part.kind = OF_INDEX_INT;
  part.start = position;
  return get_parts(self, &part, 1);
}

PyObject* iterate(PyObject* self) { return has_dimensions(self, "iter") ? PySeqIter_New(self) : nullptr; }

int contains(PyObject* self, PyObject* object) {
  PyObject* args[] = {self, object};
  Ref equal(call_function("eq", args));
  PyObject* equal_args[] = {equal.get()};
  Ref any(equal ? call_function("any", equal_args) : nullptr);
  return any ? PyObject_IsTrue(any.get()) : -1;
}

}  // namespace

void append_sequence_slots(std::vector<PyType_Slot>* slots) {
  slots->push_back({Py_mp_subscript, reinterpret_cast<void*>(get)});
  slots->push_back({Py_mp_ass_subscript, reinterpret_cast<void*>(set)});
  slots->push_back({Py_mp_length, reinterpret_cast<void*>(length)});
  slots->push_back({Py_sq_length, reinterpret_cast<void*>(length)});
  slots->push_back({Py_sq_item, reinterpret_cast<void*>(get_item)});
  slots->push_back({Py_sq_contains, reinterpret_cast<void*>(contains)});
  slots->push_back({Py_tp_iter, reinterpret_cast<void*>(iterate)});
}

}  // namespace oneflow::python
