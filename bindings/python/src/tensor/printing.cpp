// repr() of tensors, and its options.

#include <cstring>
#include <string>

#include "calls/binding.h"
#include "devices/device.h"
#include "errors.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {
namespace {

constexpr char kOpening[] = "tensor(";

of_format_options options{.struct_size = sizeof(of_format_options),
                          .precision = 4,
                          .threshold = 1000,
                          .edge_items = 3,
                          .line_width = 80,
                          .indent = sizeof(kOpening) - 1};

// Returns what repr() shows after the elements: the shape of a tensor without elements, the dtype if the elements do
// not show it, the device if it is not the default device.
std::string notes_of(const of_tensor_info& info) {
  std::string notes;
  if (info.count == 0 && info.rank > 1) {
    notes += ", size=(";
    for (int32_t i = 0; i < info.rank; ++i) notes += (i > 0 ? ", " : "") + std::to_string(info.sizes[i]);
    notes += ")";
  }
  const bool natural = info.dtype == of_default_dtype() || info.dtype == OF_INT64 || info.dtype == OF_BOOL;
  if (!natural || (info.count == 0 && info.dtype != of_default_dtype())) {
    notes += std::string(", dtype=") + of_dtype_name(info.dtype);
  }
  const of_device usual = of_default_device();
  if (!is_same_device(info.device, usual)) {
    char name[64];
    notes += std::string(", device='") + of_device_name(info.device, name) + "'";
  }
  return notes;
}

PyObject* represent(PyObject* self) {
  of_tensor_info info{};
  info.struct_size = sizeof(info);
  char* body = nullptr;
  const of_tensor handle = handle_of(self);
  const of_format_options chosen = options;  // other threads may change the options without the GIL here
  if (!check(of_tensor_get_info(handle, &info)) ||
      !check(run_native(handle, [&] { return of_tensor_format(handle, &chosen, &body); }))) {
    return nullptr;
  }
  std::string text = std::string(kOpening) + body;
  of_free(body);
  std::string notes = notes_of(info);
  const size_t last_line = text.size() - (text.rfind('\n') + 1);
  if (!notes.empty() && last_line + notes.size() + 1 > static_cast<size_t>(chosen.line_width)) {
    notes = ",\n" + std::string(static_cast<size_t>(chosen.indent), ' ') + notes.substr(2);
  }
  text += notes + ")";
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

constexpr of_parameter kOptionArguments[] = {
    optional_keyword("precision", kIntOrNone),
    optional_keyword("threshold", kIntOrNone),
    optional_keyword("edgeitems", kIntOrNone),
    optional_keyword("linewidth", kIntOrNone),
};
const Function kOptionFunction("set_printoptions", kOptionArguments);

PyObject* set_printoptions(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  BoundCall call;
  if (!call.bind(kOptionFunction, {args, count, keywords})) return nullptr;
  of_format_options changed = options;
  const struct {
    int32_t* value;
    int32_t lowest, highest;
  } fields[] = {{&changed.precision, 0, 17},
                {&changed.threshold, 0, INT32_MAX},
                {&changed.edge_items, 1, INT32_MAX / 2},
                {&changed.line_width, 20, 1 << 20}};
  for (size_t i = 0; i < std::size(fields); ++i) {
    if (call.values()[i].kind != OF_VALUE_INT) continue;
    const int64_t value = call.values()[i].as.integer;
    if (value < fields[i].lowest || value > fields[i].highest) {
      return raise(OF_INVALID_ARGUMENT, std::string("set_printoptions: ") + kOptionArguments[i].name +
                                            " must be between " + std::to_string(fields[i].lowest) + " and " +
                                            std::to_string(fields[i].highest) + ", got " + std::to_string(value));
    }
    *fields[i].value = static_cast<int32_t>(value);
  }
  options = changed;
  Py_RETURN_NONE;
}

}  // namespace

void append_printing_slots(std::vector<PyType_Slot>* slots) {
  slots->push_back({Py_tp_repr, reinterpret_cast<void*>(represent)});
}

std::vector<PyMethodDef> printing_functions() {
  return {
      fast_method(
          "set_printoptions", set_printoptions,
          "set_printoptions(*, precision=None, threshold=None, edgeitems=None, linewidth=None)\n--\n\n"
          "Sets how tensors are printed; None leaves an option unchanged. precision: digits after the decimal point\n"
          "(default 4). threshold: the number of elements above which the middle is omitted (1000). edgeitems: items\n"
          "that are then kept at each end of a dimension (3). linewidth: the width of a line in columns (80)."),
  };
}

}  // namespace oneflow::python
