// profile(): the context manager that records what calls take.

#include <oneflow/profile.h>

#include "arguments.h"
#include "device.h"
#include "dtype.h"
#include "errors.h"
#include "tensor_parts.h"

namespace oneflow::python {
namespace {

struct ProfileObject {
  PyObject_HEAD of_profile handle;  // NULL before __enter__
};

PyTypeObject* profile_type = nullptr;
PyObject* entry_type = nullptr;  // the named tuple ProfileEntry

of_profile& handle_of_profile(PyObject* self) { return reinterpret_cast<ProfileObject*>(self)->handle; }

// ------------------------------------------------------------------------------------------------ recording

PyObject* enter(PyObject* self, PyObject*) {
  of_profile begun = nullptr;
  if (!check(of_profile_begin(&begun))) return nullptr;
  const of_profile before = std::exchange(handle_of_profile(self), begun);
  of_profile_release(before);
  return Py_NewRef(self);
}

PyObject* leave(PyObject* self, PyObject* exception) {
  const of_profile handle = handle_of_profile(self);
  const of_status status = run_unlocked([=] { return of_profile_end(handle); });
  // The exception of the block, if there is one, is more important than an error of the end.
  const bool has_exception = PyTuple_GET_SIZE(exception) > 0 && PyTuple_GET_ITEM(exception, 0) != Py_None;
  if (!has_exception && !check(status)) return nullptr;
  Py_RETURN_NONE;
}

void destroy(PyObject* self) {
  const of_profile handle = handle_of_profile(self);
  if (handle != nullptr) run_unlocked([=] { of_profile_release(handle); });
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

// ------------------------------------------------------------------------------------------------ results

// Converts nanoseconds to seconds; unknown times to None.
PyObject* seconds(int64_t nanoseconds) {
  if (nanoseconds < 0) Py_RETURN_NONE;
  return PyFloat_FromDouble(1e-9 * static_cast<double>(nanoseconds));
}

// Returns a tuple of make(tensor) for each tensor.
template <class Make>
PyObject* tuple_of_tensors(const of_profile_tensor* tensors, size_t count, Make make) {
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; tuple && i < count; ++i) {
    PyObject* item = make(tensors[i]);
    if (item == nullptr) return nullptr;
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), item);
  }
  return tuple.release();
}

PyObject* shapes_of(const of_profile_tensor* tensors, size_t count) {
  return tuple_of_tensors(tensors, count,
                          [](const of_profile_tensor& each) { return tuple_of(each.shape.sizes, each.shape.rank); });
}

PyObject* dtypes_of(const of_profile_tensor* tensors, size_t count) {
  return tuple_of_tensors(tensors, count, [](const of_profile_tensor& each) { return dtype_object(each.dtype); });
}

PyObject* entry_object(const of_profile_entry& entry) {
  return PyObject_CallFunction(
      entry_type, "ssNiNNNNNKdKNNNNN", entry.name, entry.caller, device_object(entry.device),
      static_cast<int>(entry.thread), entry.parent < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(entry.parent),
      seconds(entry.start), seconds(entry.host_time), PyFloat_FromDouble(1e-9 * static_cast<double>(entry.self_time)),
      seconds(entry.device_time), static_cast<unsigned long long>(entry.memory), entry.operations,
      static_cast<unsigned long long>(entry.bytes), shapes_of(entry.operands, entry.operand_count),
      dtypes_of(entry.operands, entry.operand_count), shapes_of(entry.results, entry.result_count),
      dtypes_of(entry.results, entry.result_count), PyBool_FromLong(entry.failed));
}

PyObject* get_entries(PyObject* self, void*) {
  const of_profile handle = handle_of_profile(self);
  const size_t count = of_profile_count(handle);
  Ref list(PyList_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; list && i < count; ++i) {
    of_profile_entry entry{};
    entry.struct_size = sizeof(entry);
    PyObject* object = check(of_profile_at(handle, i, &entry)) ? entry_object(entry) : nullptr;
    if (object == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), object);
  }
  return list.release();
}

template <of_status (*format)(of_profile, char**)>
PyObject* text_of(PyObject* self, PyObject*) {
  char* text = nullptr;
  const of_profile handle = handle_of_profile(self);
  if (handle == nullptr) return raise(OF_INVALID_ARGUMENT, "profile: it has not begun");
  if (!check(run_unlocked([&] { return format(handle, &text); }))) return nullptr;
  PyObject* object = PyUnicode_FromString(text);
  of_free(text);
  return object;
}

PyObject* save(PyObject* self, PyObject* path) {
  const Ref text(text_of<of_profile_trace>(self, nullptr));
  const Ref io(text ? PyImport_ImportModule("io") : nullptr);
  const Ref file(io ? PyObject_CallMethod(io.get(), "open", "Osis", path, "w", -1, "utf-8") : nullptr);
  const Ref written(file ? PyObject_CallMethod(file.get(), "write", "O", text.get()) : nullptr);
  const Ref closed(written ? PyObject_CallMethod(file.get(), "close", nullptr) : nullptr);
  if (!closed) return nullptr;
  Py_RETURN_NONE;
}

PyObject* represent(PyObject* self) {
  const size_t count = of_profile_count(handle_of_profile(self));
  return PyUnicode_FromFormat("<profile of %zu call%s>", count, count == 1 ? "" : "s");
}

PyObject* to_string(PyObject* self) { return text_of<of_profile_table>(self, nullptr); }

// ------------------------------------------------------------------------------------------------ the type

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},
    {"__exit__", leave, METH_VARARGS, nullptr},
    {"table", text_of<of_profile_table>, METH_NOARGS,
     "table($self)\n--\n\n"
     "Returns a table with a line per operator, the one with the longest total time first."},
    {"trace", text_of<of_profile_trace>, METH_NOARGS,
     "trace($self)\n--\n\n"
     "Returns a trace in the JSON format of Chrome, which Perfetto opens."},
    {"save", save, METH_O,
     "save($self, path, /)\n--\n\n"
     "Writes the trace to a file."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"entries", get_entries, nullptr,
     "The calls, a list of ProfileEntry: thread by thread, in the order of their beginnings. Empty before the end.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

const char kTypeDocumentation[] = "What the calls of operators in a block took; see profile().";

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>(kTypeDocumentation)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_str, reinterpret_cast<void*>(to_string)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr},
};

PyType_Spec spec = {"oneflow_py.Profile", sizeof(ProfileObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};

PyObject* profile(PyObject*, PyObject*) {
  ProfileObject* object = PyObject_New(ProfileObject, profile_type);
  if (object != nullptr) object->handle = nullptr;
  return reinterpret_cast<PyObject*>(object);
}

}  // namespace

bool add_profile_type(PyObject* module) {
  profile_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
  Ref collections(PyImport_ImportModule("collections"));
  Ref type(collections ? PyObject_CallMethod(collections.get(), "namedtuple", "ss", "ProfileEntry",
                                             "name caller device thread parent start host_time self_time device_time "
                                             "memory flops bytes shapes dtypes result_shapes result_dtypes failed")
                       : nullptr);
  Ref name(PyUnicode_FromString("oneflow_py"));
  if (profile_type == nullptr || !type || !name || PyObject_SetAttrString(type.get(), "__module__", name.get()) != 0 ||
      PyModule_AddObjectRef(module, "ProfileEntry", type.get()) != 0 || PyModule_AddType(module, profile_type) != 0) {
    return false;
  }
  entry_type = type.release();
  return true;
}

std::vector<PyMethodDef> profile_functions() {
  return {
      {"profile", profile, METH_NOARGS,
       "profile()\n--\n\n"
       "Returns a Profile, which records the calls of operators in a `with` block: their times and their memory.\n\n"
       "One profile of the process runs at a time; it sees the calls of all threads.\n\n"
       "    >>> with flow.profile() as p:\n"
       "    ...     y = flow.ones(2, 3).sum()\n"
       "    >>> [entry.name for entry in p.entries]\n"
       "    ['ones', 'sum']"}};
}

}  // namespace oneflow::python
