// The Tensor type: a Python object that owns one tensor handle of the runtime.
#ifndef ONEFLOW_PYTHON_TENSOR_H_
#define ONEFLOW_PYTHON_TENSOR_H_

#include <oneflow/front_end.h>

#include "objects.h"

namespace oneflow::python {

struct TensorObject {
  PyObject_HEAD of_tensor handle;
  PyObject* weak_references;
};

extern PyTypeObject* tensor_type;

inline bool is_tensor(PyObject* object) { return Py_TYPE(object) == tensor_type; }
inline of_tensor handle_of(PyObject* tensor) { return reinterpret_cast<TensorObject*>(tensor)->handle; }

// Returns the device that holds the data of a tensor.
of_device tensor_device(PyObject* tensor);

// Calls `work` on a tensor, without the GIL if it may take long. `work` must not use Python objects.
template <class Work>
of_status run_native(of_tensor tensor, const Work& work) {
  UnlockedScope unlocked(of_tensor_work(tensor) >= OF_LONG_WORK);
  return work();
}

// Calls of_tensor_create(), without the GIL if it may take long. No other thread may change the source meanwhile.
inline of_status create_native(const of_tensor_source& source, of_tensor* result) {
  UnlockedScope unlocked(source.bytes >= OF_LONG_WORK || of_device_waits(source.device));
  return of_tensor_create(&source, result);
}

// Returns the size of all elements in bytes, counting expanded elements as often as they occur. Returns -1 with an
// exception if the size overflows, as for zeros(1).expand(2**62).
Py_ssize_t byte_count(of_tensor tensor);

// Returns a bytes object with the elements in row-major order; an empty Ref with an exception on failure.
Ref read_bytes(of_tensor tensor);

// Returns a new Tensor that takes ownership of the handle. Releases the handle and returns NULL if that fails.
PyObject* wrap(of_tensor handle);

bool add_tensor_type(PyObject* module);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_TENSOR_H_
