// profile(): the context manager that records what calls take.

#include <nanobind/stl/optional.h>
#include <oneflow/profile.h>

#include "bind.h"
#include "tensor_parts.h"

namespace oneflow::python {
namespace {

nb::handle entry_type;  // the named tuple ProfileEntry

// Converts nanoseconds to seconds; unknown times to None.
std::optional<double> seconds(int64_t nanoseconds) {
  if (nanoseconds < 0) return std::nullopt;
  return 1e-9 * static_cast<double>(nanoseconds);
}

// Returns a tuple of make(tensor) for each tensor.
template <class Make>
nb::tuple tuple_of_tensors(const of_profile_tensor* tensors, size_t count, Make make) {
  nb::list list;
  for (const of_profile_tensor& each : std::span(tensors, count)) list.append(make(each));
  return nb::tuple(list);
}

nb::tuple shapes_of(const of_profile_tensor* tensors, size_t count) {
  return tuple_of_tensors(
      tensors, count, [](const of_profile_tensor& each) { return take(tuple_of(each.shape.sizes, each.shape.rank)); });
}

nb::tuple dtypes_of(const of_profile_tensor* tensors, size_t count) {
  return tuple_of_tensors(tensors, count, [](const of_profile_tensor& each) { return each.dtype; });
}

nb::object entry_object(const of_profile_entry& entry) {
  const auto parent = entry.parent < 0 ? std::nullopt : std::optional(entry.parent);
  return entry_type(entry.name, entry.caller, entry.device, entry.thread, parent, seconds(entry.start),
                    seconds(entry.host_time), 1e-9 * static_cast<double>(entry.self_time), seconds(entry.device_time),
                    entry.memory, entry.operations, entry.bytes, shapes_of(entry.operands, entry.operand_count),
                    dtypes_of(entry.operands, entry.operand_count), shapes_of(entry.results, entry.result_count),
                    dtypes_of(entry.results, entry.result_count), entry.failed);
}

// ------------------------------------------------------------------------------------------------ the class

struct Profile {
  Owned<of_profile, of_profile_release> handle;  // NULL before __enter__

  Profile() = default;
  Profile(Profile&&) = default;
  ~Profile() {
    if (handle) run_unlocked([this] { handle.reset(); });
  }

  nb::list entries() const;
  template <of_status (*format)(of_profile, char**)>
  nb::object text() const;
  void save(nb::handle path) const;
  nb::object represent() const;
};

nb::list Profile::entries() const {
  nb::list list;
  for (size_t i = 0, count = of_profile_count(handle.get()); i < count; ++i) {
    of_profile_entry entry{};
    entry.struct_size = sizeof(entry);
    require(of_profile_at(handle.get(), i, &entry));
    list.append(entry_object(entry));
  }
  return list;
}

template <of_status (*format)(of_profile, char**)>
nb::object Profile::text() const {
  if (!handle) fail(OF_INVALID_ARGUMENT, "profile: it has not begun");
  char* text = nullptr;
  require(run_unlocked([&] { return format(handle.get(), &text); }));
  const Owned<char*, of_free> owned(text);
  return take(PyUnicode_FromString(text));
}

void Profile::save(nb::handle path) const {
  const nb::object trace = text<of_profile_trace>();
  const nb::object file = nb::module_::import_("io").attr("open")(path, "w", -1, "utf-8");
  file.attr("write")(trace);
  file.attr("close")();
}

nb::object Profile::represent() const {
  const size_t count = of_profile_count(handle.get());
  return take(PyUnicode_FromFormat("<profile of %zu call%s>", count, count == 1 ? "" : "s"));
}

nb::handle enter(Self self) {
  of_profile begun = nullptr;
  require(of_profile_begin(&begun));
  nb::inst_ptr<Profile>(self)->handle.reset(begun);
  return self;
}

PyObject* leave(PyObject* self, PyObject* exception) {
  const of_profile handle = nb::inst_ptr<Profile>(self)->handle.get();
  const of_status status = run_unlocked([=] { return of_profile_end(handle); });
  // The exception of the block, if there is one, is more important than an error of the end.
  const bool has_exception = PyTuple_GET_SIZE(exception) > 0 && PyTuple_GET_ITEM(exception, 0) != Py_None;
  if (!has_exception && !check(status)) return nullptr;
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    plain<enter>("__enter__", nullptr),
    {"__exit__", leave, METH_VARARGS, nullptr},
    plain<&Profile::text<of_profile_table>>(
        "table",
        "table($self)\n--\n\n"
        "Returns a table with a line per operator, the one with the longest total time first."),
    plain<&Profile::text<of_profile_trace>>("trace",
                                            "trace($self)\n--\n\n"
                                            "Returns a trace in the JSON format of Chrome, which Perfetto opens."),
    plain<&Profile::save>("save",
                          "save($self, path, /)\n--\n\n"
                          "Writes the trace to a file."),
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef attributes[] = {
    attribute<&Profile::entries>(
        "entries",
        "The calls, a list of ProfileEntry: thread by thread, in the order of their beginnings. Empty before the end."),
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

const char kDocumentation[] = "What the calls of operators in a block took; see profile().";

const PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>(kDocumentation)},
    {Py_tp_new, reinterpret_cast<void*>(refuse_new)},
    {Py_tp_repr, unary_slot<&Profile::represent>()},
    {Py_tp_str, unary_slot<&Profile::text<of_profile_table>>()},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr},
};

Profile profile() { return Profile(); }

}  // namespace

bool add_profile_type(PyObject* module) {
  add_class<Profile>(module, "Profile", slots);
  entry_type = named_tuple(module, "ProfileEntry",
                           "name caller device thread parent start host_time self_time device_time memory flops bytes "
                           "shapes dtypes result_shapes result_dtypes failed");
  return entry_type.is_valid();
}

std::vector<PyMethodDef> profile_functions() {
  return {plain<profile>(
      "profile",
      "profile()\n--\n\n"
      "Returns a Profile, which records the calls of operators in a `with` block: their times and their memory.\n\n"
      "One profile of the process runs at a time; it sees the calls of all threads.\n\n"
      "    >>> with flow.profile() as p:\n"
      "    ...     y = flow.ones(2, 3).sum()\n"
      "    >>> [entry.name for entry in p.entries]\n"
      "    ['ones', 'sum']")};
}

}  // namespace oneflow::python
