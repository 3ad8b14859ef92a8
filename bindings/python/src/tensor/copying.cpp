// Copies of tensors: copy, deepcopy, pickle and bytes.

#include <oneflow/autograd.h>

#include "calls/binding.h"
#include "devices/device.h"
#include "errors.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {
namespace {

PyObject* copy(PyObject* self, PyObject*) {
  of_index everything{};
  everything.kind = OF_INDEX_ELLIPSIS;
  of_tensor result = nullptr;
  return check(of_tensor_index(handle_of(self), &everything, 1, &result)) ? wrap(result) : nullptr;
}

constexpr of_parameter kMemo[] = {optional("memo", kAnyType)};
const Function kDeepcopyFunction("__deepcopy__", kMemo);

PyObject* deepcopy(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  BoundCall call;
  of_tensor result = nullptr;
  if (!call.bind(kDeepcopyFunction, {args, count, keywords}) || !check(of_tensor_copy_leaf(handle_of(self), &result))) {
    return nullptr;
  }
  return wrap(result);
}

PyObject* bytes(PyObject* self, PyObject*) { return read_bytes(handle_of(self)).release(); }

PyObject* reduce(PyObject* self, PyObject*) {
  const of_tensor handle = handle_of(self);
  const of_dtype dtype = of_tensor_dtype(handle);
  of_tensor_info info{};
  info.struct_size = sizeof(info);
  if (!check(of_tensor_get_info(handle, &info))) return nullptr;
  Ref module(PyImport_ImportModule("oneflow_py._native"));
  Ref rebuild(module ? PyObject_GetAttrString(module.get(), "_rebuild_tensor") : nullptr);
  Ref bytes = rebuild ? read_bytes(handle) : Ref();
  Ref device(bytes ? device_object(info.device) : nullptr);
  if (!device) return nullptr;
  return Py_BuildValue("O(OsNOO)", rebuild.get(), bytes.get(), of_dtype_name(dtype), tuple_of(info.sizes, info.rank),
                       device.get(), of_tensor_requires_grad(handle) ? Py_True : Py_False);
}

constexpr of_type kSizesType = type_of(OF_TYPE_ITEMS, "tuple of ints", &kIntType);
constexpr of_parameter kRebuildArguments[] = {
    required("data", kAnyType),      required("dtype", kDTypeType),          required("size", kSizesType),
    required("device", kDeviceType), optional("requires_grad", kBoolOrNone),
};
const Function kRebuildFunction("_rebuild_tensor", kRebuildArguments);

// Rebuilds a tensor from a pickle. Checks all arguments, because the file may have been tampered with.
PyObject* rebuild(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  BoundCall call;
  if (!call.bind(kRebuildFunction, {args, count, keywords})) return nullptr;
  PyObject* data = call.native(0);
  if (!PyBytes_Check(data))
    return raise(OF_TYPE_MISMATCH, "_rebuild_tensor: data must be bytes, got " + type_name(data));
  of_tensor_source source{};
  source.struct_size = sizeof(source);
  source.dtype = call.values()[1].as.dtype;
  source.device = call.values()[3].as.device;
  source.rank = call.values()[2].count;
  source.sizes = call.values()[2].as.integers;
  source.data = PyBytes_AS_STRING(data);
  source.bytes = static_cast<uint64_t>(PyBytes_GET_SIZE(data));
  of_tensor result = nullptr;
  if (!check(create_native(source, &result))) return nullptr;
  Ref tensor(wrap(result));
  const int64_t needed = of_tensor_count(result) * static_cast<int64_t>(of_dtype_size(source.dtype));
  if (needed != PyBytes_GET_SIZE(data))
    return raise(OF_INVALID_ARGUMENT, "_rebuild_tensor: data must have " + std::to_string(needed) + " bytes, got " +
                                          std::to_string(PyBytes_GET_SIZE(data)));
  const bool requires_grad = call.values()[4].kind == OF_VALUE_BOOL && call.values()[4].as.boolean;
  if (requires_grad && !check(of_tensor_set_requires_grad(result, true))) return nullptr;
  return tensor.release();
}

}  // namespace

std::vector<PyMethodDef> copying_methods() {
  return {
      {"__copy__", copy, METH_NOARGS,
       "__copy__($self)\n--\n\nReturns a view of the whole tensor: copy.copy() shares memory."},
      fast_method("__deepcopy__", deepcopy,
                  "__deepcopy__($self, memo=None)\n--\n\n"
                  "Returns a tensor with the same elements in its own memory, and the same requires_grad and grad.\n\n"
                  "Raises InvalidArgument for the result of a recorded call."),
      {"__bytes__", bytes, METH_NOARGS,
       "__bytes__($self)\n--\n\nReturns the bytes of the elements in row-major order."},
      {"__reduce__", reduce, METH_NOARGS,
       "__reduce__($self)\n--\n\nReturns what pickle stores: elements, shape, dtype, device and requires_grad."},
  };
}

std::vector<PyMethodDef> copying_functions() {
  return {
      fast_method(
          "_rebuild_tensor", rebuild,
          "_rebuild_tensor(data, dtype, size, device, requires_grad=False)\n--\n\nReturns the tensor of a pickle."),
  };
}

}  // namespace oneflow::python
