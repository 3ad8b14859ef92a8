// The Tensor type: a Python object that owns one handle of the runtime.
#ifndef ONEFLOW_PYTHON_TENSOR_H_
#define ONEFLOW_PYTHON_TENSOR_H_

#include <oneflow/oneflow.h>

#include "objects.h"

namespace oneflow::python {

struct TensorObject {
  PyObject_HEAD of_tensor handle;
  PyObject* weak_references;
};

extern PyTypeObject* tensor_type;

inline bool is_tensor(PyObject* object) { return Py_TYPE(object) == tensor_type; }
inline of_tensor handle_of(PyObject* tensor) { return reinterpret_cast<TensorObject*>(tensor)->handle; }

// Where its data is.
of_device tensor_device(PyObject* tensor);

// Below this many elements a kernel is about as fast as handing over the lock.
constexpr int64_t kElementsWorthUnlocking = 8192;

// Does native work on a tensor, without the lock where that may take long. `work` must not touch Python's objects.
template <class Work>
of_status run_native(of_tensor tensor, const Work& work) {
  UnlockedScope unlocked(of_tensor_work(tensor) >= kElementsWorthUnlocking);
  return work();
}

// of_tensor_create() of memory that nobody else changes, without the lock where that may take long.
inline of_status create_native(const of_tensor_source& source, of_tensor* result) {
  UnlockedScope unlocked(source.bytes >= kElementsWorthUnlocking || of_device_waits(source.device));
  return of_tensor_create(&source, result);
}

// The bytes of all elements, each counted where it occurs; -1 with an exception where that is more than memory can
// have, as in zeros(1).expand(2**62).
Py_ssize_t byte_count(of_tensor tensor);

// The elements' bytes, row-major, as a bytes object.
Ref read_bytes(of_tensor tensor);

// A new Tensor around a handle, which it takes over (also when it fails).
PyObject* wrap(of_tensor handle);

bool add_tensor_type(PyObject* module);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_TENSOR_H_
