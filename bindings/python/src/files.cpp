// What oneflow_py/files.py is made of. Python holds an open file as a capsule. The Python code checks all arguments.

#include <oneflow/files.h>

#include <vector>

#include "device.h"
#include "dtype.h"
#include "errors.h"
#include "tensor.h"
#include "tensor_parts.h"

namespace oneflow::python {
namespace {

constexpr const char* kCapsule = "oneflow_py.file";

// _save_file(path, nodes, metadata, compress): `nodes` are tuples (kind, count, key or None, Tensor or None),
// `metadata` are pairs. All strings are bytes.
PyObject* save_file(PyObject*, PyObject* arguments) {
  const char* path = nullptr;
  PyObject *node_list = nullptr, *pairs = nullptr;
  int compress = 0;
  if (!PyArg_ParseTuple(arguments, "yO!O!p", &path, &PyList_Type, &node_list, &PyList_Type, &pairs, &compress)) {
    return nullptr;
  }
  std::vector<of_file_node> nodes;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(node_list); ++i) {
    of_file_node node{};
    PyObject *key = nullptr, *tensor = nullptr;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(node_list, i), "iIOO", &node.kind, &node.count, &key, &tensor)) {
      return nullptr;
    }
    if (key != Py_None) node.key = PyBytes_AsString(key);
    if (is_tensor(tensor)) node.as.tensor = handle_of(tensor);
    nodes.push_back(node);
  }
  std::vector<of_file_metadata> metadata;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(pairs); ++i) {
    of_file_metadata pair{};
    if (!PyArg_ParseTuple(PyList_GET_ITEM(pairs, i), "yy", &pair.key, &pair.value)) return nullptr;
    metadata.push_back(pair);
  }
  of_save_options options{};
  options.struct_size = sizeof(options);
  options.compress = compress != 0;
  options.metadata = metadata.data();
  options.metadata_count = metadata.size();
  // The arguments keep the strings and tensors alive; nothing else refers to the lists.
  if (!check(run_unlocked([&] { return of_file_save(path, nodes.data(), nodes.size(), &options); }))) return nullptr;
  Py_RETURN_NONE;
}

void release_file(PyObject* capsule) { of_file_release(static_cast<of_file>(PyCapsule_GetPointer(capsule, kCapsule))); }

of_file file_of(PyObject* capsule) { return static_cast<of_file>(PyCapsule_GetPointer(capsule, kCapsule)); }

// _open_file(path): returns a capsule.
PyObject* open_file(PyObject*, PyObject* path) {
  of_file file = nullptr;
  const char* text = PyBytes_AsString(path);
  if (text == nullptr || !check(run_unlocked([&] { return of_file_open(text, &file); }))) return nullptr;
  PyObject* capsule = PyCapsule_New(file, kCapsule, release_file);
  if (capsule == nullptr) of_file_release(file);
  return capsule;
}

PyObject* dtype_or_none(of_dtype dtype) {
  if (dtype == OF_DTYPE_NONE) Py_RETURN_NONE;
  return dtype_object(dtype);
}

// _file_entries(file): returns a list of tuples (name, dtype or None, type, shape, bytes).
PyObject* file_entries(PyObject*, PyObject* capsule) {
  const of_file file = file_of(capsule);
  if (file == nullptr) return nullptr;
  const uint64_t count = of_file_count(file);
  Ref list(PyList_New(static_cast<Py_ssize_t>(count)));
  for (uint64_t i = 0; list && i < count; ++i) {
    of_file_entry entry{};
    entry.struct_size = sizeof(entry);
    if (!check(of_file_entry_at(file, i, &entry))) return nullptr;
    PyObject* item = Py_BuildValue("sNsNK", entry.name, dtype_or_none(entry.dtype), entry.type,
                                   tuple_of(entry.sizes, entry.rank), static_cast<unsigned long long>(entry.bytes));
    if (item == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
  }
  return list.release();
}

// _file_metadata(file): returns a dict.
PyObject* file_metadata(PyObject*, PyObject* capsule) {
  const of_file file = file_of(capsule);
  const of_file_metadata* pairs = nullptr;
  uint64_t count = 0;
  if (file == nullptr || !check(of_file_get_metadata(file, &pairs, &count))) return nullptr;
  Ref dictionary(PyDict_New());
  for (uint64_t i = 0; dictionary && i < count; ++i) {
    Ref value(PyUnicode_FromString(pairs[i].value));
    if (!value || PyDict_SetItemString(dictionary.get(), pairs[i].key, value.get()) != 0) return nullptr;
  }
  return dictionary.release();
}

// _file_nodes(file, flat): returns a list of tuples (kind, count, key or None, position).
PyObject* file_nodes(PyObject*, PyObject* arguments) {
  PyObject* capsule = nullptr;
  int flat = 0;
  if (!PyArg_ParseTuple(arguments, "Op", &capsule, &flat)) return nullptr;
  const of_file file = file_of(capsule);
  const of_file_node* nodes = nullptr;
  uint64_t count = 0;
  if (file == nullptr || !check(of_file_get_nodes(file, flat != 0, &nodes, &count))) return nullptr;
  Ref list(PyList_New(static_cast<Py_ssize_t>(count)));
  for (uint64_t i = 0; list && i < count; ++i) {
    PyObject* item = Py_BuildValue("iIzK", nodes[i].kind, nodes[i].count, nodes[i].key,
                                   static_cast<unsigned long long>(nodes[i].as.entry));
    if (item == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
  }
  return list.release();
}

// _read_file(file, positions, device or None, copy): returns a list of tensors.
PyObject* read_file(PyObject*, PyObject* arguments) {
  PyObject *capsule = nullptr, *position_list = nullptr, *device = nullptr;
  int copy = 0;
  if (!PyArg_ParseTuple(arguments, "OO!Op", &capsule, &PyList_Type, &position_list, &device, &copy)) return nullptr;
  const of_file file = file_of(capsule);
  std::vector<uint64_t> positions;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(position_list); ++i) {
    positions.push_back(PyLong_AsUnsignedLongLong(PyList_GET_ITEM(position_list, i)));
  }
  if (file == nullptr || PyErr_Occurred() != nullptr) return nullptr;
  of_read_options options{};
  options.struct_size = sizeof(options);
  options.device = is_device(device) ? device_of(device) : of_default_device();
  options.copy = copy != 0;
  std::vector<of_tensor> tensors(positions.size());
  const of_status status =
      run_unlocked([&] { return of_file_read(file, positions.data(), positions.size(), &options, tensors.data()); });
  if (!check(status)) return nullptr;
  Ref list(PyList_New(static_cast<Py_ssize_t>(tensors.size())));
  for (size_t i = 0; i < tensors.size(); ++i) {
    PyObject* tensor = list ? wrap(tensors[i]) : nullptr;
    if (!list) of_tensor_release(tensors[i]);
    if (tensor != nullptr) {
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), tensor);
    } else {
      list = Ref();
    }
  }
  return list.release();
}

}  // namespace

std::vector<PyMethodDef> file_functions() {
  return {
      {"_save_file", save_file, METH_VARARGS, nullptr},   {"_open_file", open_file, METH_O, nullptr},
      {"_file_entries", file_entries, METH_O, nullptr},   {"_file_metadata", file_metadata, METH_O, nullptr},
      {"_file_nodes", file_nodes, METH_VARARGS, nullptr}, {"_read_file", read_file, METH_VARARGS, nullptr},
  };
}

}  // namespace oneflow::python
