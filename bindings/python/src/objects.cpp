#include "objects.h"

#include <time.h>
#include <unistd.h>

namespace oneflow::python {
namespace {

// How long a signal waits at least, in nanoseconds: looking for signals needs the GIL, which another thread may hold.
constexpr int64_t kSignalInterval = 50'000'000;

int64_t coarse_time() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Returns an attribute of a class that is a text; `otherwise` if it is not.
std::string text_attribute(PyObject* type, const char* attribute, const char* otherwise) {
  Ref object(PyObject_GetAttrString(type, attribute));
  const char* text = object && PyUnicode_Check(object.get()) ? PyUnicode_AsUTF8(object.get()) : nullptr;
  if (text == nullptr) PyErr_Clear();
  return text != nullptr ? text : otherwise;
}

}  // namespace

void sleep_until_exit() {
  for (;;) pause();
}

void UnlockedScope::release() {
  const auto check = [](void* scope) { return static_cast<UnlockedScope*>(scope)->handle_signals(); };
  of_set_interrupt_check(check, this, &check_before_, &context_before_);
  state_ = PyEval_SaveThread();
}

void UnlockedScope::acquire() {
  of_set_interrupt_check(check_before_, context_before_, nullptr, nullptr);
  call_python([this] { PyEval_RestoreThread(state_); });
}

bool UnlockedScope::handle_signals() {
  const int64_t now = coarse_time();
  if (looked_at_ == 0) looked_at_ = now;
  if (has_raised_ || now - looked_at_ < kSignalInterval) return has_raised_;
  looked_at_ = now;
  const bool is_main_thread = gettid() == getpid();
  if (!is_main_thread) return false;
  acquire();
  has_raised_ = PyErr_CheckSignals() != 0;
  release();
  return has_raised_;
}

std::string type_name(PyObject* object) {
  if (object == Py_None) return "None";
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  const std::string module = text_attribute(type, "__module__", "builtins");
  const std::string name = text_attribute(type, "__name__", "object");
  const bool is_own = module == "oneflow_py" || module.rfind("oneflow_py.", 0) == 0;
  return module == "builtins" || module == "__main__" || is_own ? name : module + "." + name;
}

PyObject* tuple_of(const int64_t* values, Py_ssize_t count) {
  Ref result(PyTuple_New(count));
  if (!result) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyLong_FromLongLong(values[i]);
    if (item == nullptr) return nullptr;
    PyTuple_SET_ITEM(result.get(), i, item);
  }
  return result.release();
}

PyObject* named_tuple(PyObject* module, const char* name, const char* fields) {
  Ref collections(PyImport_ImportModule("collections"));
  Ref type(collections ? PyObject_CallMethod(collections.get(), "namedtuple", "ss", name, fields) : nullptr);
  Ref package(PyUnicode_FromString("oneflow_py"));
  if (!type || !package || PyObject_SetAttrString(type.get(), "__module__", package.get()) != 0 ||
      PyModule_AddObjectRef(module, name, type.get()) != 0) {
    return nullptr;
  }
  return type.release();
}

}  // namespace oneflow::python
