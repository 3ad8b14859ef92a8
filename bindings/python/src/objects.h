// Helpers for the CPython API: owned references, the GIL, and names of types.
#ifndef ONEFLOW_PYTHON_OBJECTS_H_
#define ONEFLOW_PYTHON_OBJECTS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <oneflow/front_end.h>
#include <structmember.h>

#include <string>
#include <utility>

#include "stable_abi.h"

namespace oneflow::python {

// An owned reference to a Python object. It is empty (false) if the call that returns it fails with an exception.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  static Ref borrow(PyObject* object) { return Ref(Py_XNewRef(object)); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

[[noreturn]] void sleep_until_exit();

// Calls a function of CPython that waits for the GIL or runs Python code, from code that an exception must not pass.
// When the interpreter shuts down, it ends such a thread by unwinding its stack, which would release objects without
// the GIL, and end the process at functions that must not throw. As since Python 3.14, the thread sleeps instead.
template <class Work>
auto call_python(const Work& work) {
  try {
    return work();
  } catch (...) {
    sleep_until_exit();
  }
}

// Releases the GIL for the rest of the scope, if `wanted`. On the main thread, calls of the C API then handle signals
// between parts of their work. If the handler of a signal raises an exception, they return OF_INTERRUPTED.
class UnlockedScope {
 public:
  explicit UnlockedScope(bool wanted = true) {
    if (wanted) release();
  }
  ~UnlockedScope() {
    if (state_ != nullptr) [[unlikely]]
      acquire();
  }
  UnlockedScope(const UnlockedScope&) = delete;
  UnlockedScope& operator=(const UnlockedScope&) = delete;

 private:
  void release();
  void acquire();
  // Handles the signals that have arrived, if it is time to look for them. Returns whether a handler has raised.
  bool handle_signals();

  PyThreadState* state_ = nullptr;
  of_interrupt_check check_before_ = nullptr;
  void* context_before_ = nullptr;
  int64_t looked_at_ = 0;  // the time of the last look for signals, in nanoseconds
  bool has_raised_ = false;
};

// Calls `work` without the GIL: for operations that may wait for a device. `work` must not use Python objects.
template <class Work>
auto run_unlocked(const Work& work) {
  UnlockedScope unlocked;
  return work();
}

// Holds the GIL for the rest of the scope, in any thread. Once the interpreter is shutting down it does not acquire it,
// and converts to false.
class LockedScope {
 public:
  LockedScope() : alive_(holds_gil() || (Py_IsInitialized() != 0 && !is_finalizing())) {
    if (alive_) state_ = call_python([] { return PyGILState_Ensure(); });
  }
  ~LockedScope() {
    if (alive_) PyGILState_Release(state_);
  }
  LockedScope(const LockedScope&) = delete;
  LockedScope& operator=(const LockedScope&) = delete;
  explicit operator bool() const { return alive_; }

 private:
  bool alive_;
  PyGILState_STATE state_ = PyGILState_UNLOCKED;
};

// Returns the name of an object's type for error texts: "str", "None", "numpy.ndarray".
std::string type_name(PyObject* object);

// Returns the tuple (values[0], ..., values[count - 1]).
PyObject* tuple_of(const int64_t* values, Py_ssize_t count);

// Creates a class of named tuples, whose fields are separated by spaces, and adds it to the module. Returns a reference
// that lives as long as the process; NULL with an exception on failure.
PyObject* named_tuple(PyObject* module, const char* name, const char* fields);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_OBJECTS_H_
