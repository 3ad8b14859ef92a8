// Small tools for the CPython API: owned references, the lock, and texts.
#ifndef ONEFLOW_PYTHON_OBJECTS_H_
#define ONEFLOW_PYTHON_OBJECTS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <string>
#include <utility>

namespace oneflow::python {

// An owned reference. Empty (false) where a call failed and left its exception set.
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

// Lets other Python threads run for the rest of the scope, if `wanted`.
class UnlockedScope {
 public:
  explicit UnlockedScope(bool wanted = true) : state_(wanted ? PyEval_SaveThread() : nullptr) {}
  // Python ends threads that come back while it shuts down by unwinding their stacks, from in here.
  ~UnlockedScope() noexcept(false) {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }
  UnlockedScope(const UnlockedScope&) = delete;
  UnlockedScope& operator=(const UnlockedScope&) = delete;

 private:
  PyThreadState* state_;
};

// Does work without the lock: for what may have to wait for a device. It must not touch Python's objects.
template <class Work>
auto run_unlocked(const Work& work) {
  UnlockedScope unlocked;
  return work();
}

// Takes the lock in whichever thread this is. Does nothing once the interpreter is going: test with `bool`.
class LockedScope {
 public:
  LockedScope() : alive_(PyGILState_Check() != 0 || (Py_IsInitialized() != 0 && !is_ending())) {
    if (alive_) state_ = PyGILState_Ensure();
  }
  ~LockedScope() {
    if (alive_) PyGILState_Release(state_);
  }
  LockedScope(const LockedScope&) = delete;
  LockedScope& operator=(const LockedScope&) = delete;
  explicit operator bool() const { return alive_; }

 private:
  static bool is_ending() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing() != 0;
#else
    return _Py_IsFinalizing() != 0;
#endif
  }

  bool alive_;
  PyGILState_STATE state_ = PyGILState_UNLOCKED;
};

// What an error text calls the type of an object: "str", "None", "numpy.ndarray".
std::string type_name(PyObject* object);

// The tuple (values[0], ..., values[count - 1]).
PyObject* tuple_of(const int64_t* values, Py_ssize_t count);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_OBJECTS_H_
