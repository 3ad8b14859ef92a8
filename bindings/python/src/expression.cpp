// einsum_expression() and einsum_path(): contractions that are planned for given shapes, before there are operands.

#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bind.h"
#include "labelled.h"

namespace oneflow::python {
namespace {

struct ExpressionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  of_expression handle;
};

PyTypeObject* expression_type = nullptr;
nb::handle path_type;  // the named tuple EinsumPath

of_expression handle_of_expression(PyObject* self) { return reinterpret_cast<ExpressionObject*>(self)->handle; }

// Returns the properties of an expression. The call cannot fail for a live handle.
of_expression_info info_of(of_expression handle) {
  of_expression_info info{};
  info.struct_size = sizeof(info);
  of_expression_get_info(handle, &info);
  return info;
}

nb::tuple pairs_of(const of_expression_info& info) {
  nb::list pairs;
  for (size_t i = 0; i < info.path_count; i += 2) pairs.append(nb::make_tuple(info.path[i], info.path[i + 1]));
  return nb::tuple(pairs);
}

// ------------------------------------------------------------------------------------------------ creation

const ArgumentRecord kArguments[] = {
    {"equation", "str", ArgumentKind::kString},
    {"operands", "list of Tensors or shapes", ArgumentKind::kObject, "Tensor or shape"},
    optional_keyword("optimize", "str", ArgumentKind::kObject),
    optional_keyword("memory_limit", "int", ArgumentKind::kInt),
};
// The types of `optimize` besides bool: the name of a search, or a path.
const ArgumentRecord kSearch = optional_keyword("optimize", "str", ArgumentKind::kString);
const ArgumentRecord kPairs{.name = "optimize",
                            .word = "list of pairs of ints",
                            .kind = ArgumentKind::kInt,
                            .item_word = "pair of ints",
                            .is_nested = true};
const Parameters kPathParameters("einsum_path", kArguments);
const Parameters kExpressionParameters("einsum_expression", kArguments);

// Throws a TypeMismatch that says what the caller expected, instead of the current exception.
[[noreturn]] void fail_instead(const Parameters& parameters, const std::string& expected, PyObject* found) {
  PyErr_Clear();
  fail(OF_TYPE_MISMATCH, std::string(parameters.function()) + ": " + expected + ", got " + type_name(found));
}

const ArgumentRecord kShape{"shape", "list of ints", ArgumentKind::kInt, "int"};

// Reads the shape of a tensor, or a list or tuple of sizes, which are copied to `store`.
of_shape read_shape(const Parameters& parameters, size_t position, PyObject* object, ValueStore* store) {
  if (is_tensor(object)) {
    const of_tensor tensor = handle_of(object);
    return {of_tensor_rank(tensor), of_tensor_sizes(tensor)};
  }
  of_value sizes{};
  Mismatch mismatch;
  if ((PyList_Check(object) || PyTuple_Check(object)) && convert(kShape, object, store, &sizes, &mismatch)) {
    return {sizes.count, sizes.as.integers};
  }
  // A method of an item may have raised another exception.
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  const std::string operand = "operands[" + std::to_string(position) + "]";
  if (mismatch.reason != Mismatch::Reason::kTooLarge)
    fail_instead(parameters, operand + " must be Tensor or list of ints", object);
  fail(OF_INVALID_ARGUMENT,
       std::string(parameters.function()) + ": " + operand + " must fit into 64 bits, got a larger integer");
}

// Returns whether an argument is the list of all operands, rather than the shape of a single operand.
bool is_list_of_operands(PyObject* object) {
  if ((!PyList_Check(object) && !PyTuple_Check(object)) || PySequence_Size(object) == 0) return false;
  PyObject* first = ItemsOf(object)[0];
  return is_tensor(first) || PyList_Check(first) || PyTuple_Check(first);
}

// Copies a string, which must not contain a null byte, at which it would end for the runtime.
std::string read_text(const Parameters& parameters, int argument, const of_value& value) {
  std::string text(value.as.string, static_cast<size_t>(value.count));
  if (text.find('\0') == std::string::npos) return text;
  fail(OF_INVALID_ARGUMENT,
       std::string(parameters.function()) + ": " + parameters[argument].name + " must not have a null byte");
}

// Sets the contraction order of the options from `optimize`: the name of a search, a bool that stands for "auto" or
// "none", or a path of pairs. The options then point to `search` and to memory of `store`.
void read_order(const Parameters& parameters, PyObject* optimize, ValueStore* store, std::string* search,
                of_expression_options* options) {
  if (optimize == nullptr || optimize == Py_None) return;
  if (PyBool_Check(optimize)) {
    options->optimize = optimize == Py_True ? "auto" : "none";
    return;
  }
  const bool is_path = PyList_Check(optimize) || PyTuple_Check(optimize);
  of_value value{};
  Mismatch mismatch;
  mismatch.argument = is_path ? &kPairs : &kSearch;
  if (!convert(*mismatch.argument, optimize, store, &value, &mismatch)) {
    mismatch.raise(parameters.function());
    throw nb::python_error();
  }
  if (is_path) {
    options->path = value.as.integers;
    options->path_count = static_cast<size_t>(value.count);
  } else {
    *search = read_text(parameters, 2, value);
    options->optimize = search->c_str();
  }
}

using Expression = Owned<of_expression, of_expression_release>;

// Creates the expression for the arguments of einsum_expression() or einsum_path().
Expression make(const Parameters& parameters, PyObject* const* args, Py_ssize_t positional, PyObject* keywords) {
  LabelledCall labelled;
  if (positional > 0 && is_tensor(args[0])) {
    if (!labelled.read(parameters.function(), args, positional, keywords)) throw nb::python_error();
    args = labelled.args();
    positional = labelled.positional();
  }
  Mismatch mismatch;
  Bound bound;
  ValueStore store;
  of_value values[std::size(kArguments)];
  // bind() cannot tell separate operands from a list of operands, because shapes are lists themselves.
  const bool in_list = positional == 2 && is_list_of_operands(args[1]);
  nb::object list;
  std::vector<PyObject*> gathered(args, args + positional + (keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0));
  if (positional >= 2 && !in_list) {
    list = nb::tuple(nb::cast(std::vector<nb::handle>(args + 1, args + positional)));
    gathered.erase(gathered.begin() + 1, gathered.begin() + positional);
    gathered.insert(gathered.begin() + 1, list.ptr());
    positional = 2;
  }
  if (!parameters.bind(false, gathered.data(), positional, keywords, &bound, &mismatch) ||
      !parameters.convert(bound, &store, values, &mismatch)) {
    mismatch.raise(parameters.function());
    throw nb::python_error();
  }
  PyObject* given = bound.objects[1];
  if (!PyList_Check(given) && !PyTuple_Check(given)) {
    fail_instead(parameters, "operands must be list of Tensors or shapes", given);
  }
  const nb::tuple operands{nb::handle(given)};  // conversions run code that could change a list
  std::vector<of_shape> shapes;
  for (const nb::handle operand : operands) {
    shapes.push_back(read_shape(parameters, shapes.size(), operand.ptr(), &store));
  }
  of_expression_options options{};
  options.struct_size = sizeof(options);
  std::string search;
  const std::string equation = read_text(parameters, 0, values[0]);
  read_order(parameters, bound.objects[2], &store, &search, &options);
  if (values[3].kind == OF_VALUE_INT) options.memory_limit = values[3].as.integer;
  of_expression handle = nullptr;
  require(run_unlocked(
      [&] { return of_expression_create(equation.c_str(), shapes.data(), shapes.size(), &options, &handle); }));
  return Expression(handle);
}

// ------------------------------------------------------------------------------------------------ the type

const ArgumentRecord kCallArguments[] = {
    {"operands", "list of Tensors", ArgumentKind::kTensor, "Tensor"},
};
const Parameters kCallParameters("einsum", kCallArguments, -1, std::span(kOptions).first(1));

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  Mismatch mismatch;
  Bound bound;
  ValueStore store;
  of_value value;
  if (!kCallParameters.bind(false, args, PyVectorcall_NARGS(flags), keywords, &bound, &mismatch) ||
      !kCallParameters.convert(bound, &store, &value, &mismatch)) {
    return mismatch.raise(kCallParameters.function());
  }
  const bool has_out = bound.out() != nullptr && bound.out() != Py_None;
  if (has_out && !is_tensor(bound.out())) {
    return raise(OF_TYPE_MISMATCH, "einsum: out must be Tensor, got " + type_name(bound.out()));
  }
  of_value result{};
  if (has_out) {
    result.kind = OF_VALUE_TENSOR;
    result.as.tensor = handle_of(bound.out());
  }
  of_status status;
  {
    UnlockedScope unlocked(of_call_is_long(nullptr, &value, 1));
    status =
        of_expression_call(handle_of_expression(self), value.as.tensors, static_cast<size_t>(value.count), &result);
  }
  if (!check(status)) return nullptr;
  return has_out ? Py_NewRef(bound.out()) : wrap(result.as.tensor);
}

void destroy(PyObject* self) {
  of_expression_release(handle_of_expression(self));
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

const char* equation(Self self) { return info_of(handle_of_expression(self.ptr())).equation; }

nb::tuple shapes(Self self) {
  const of_expression handle = handle_of_expression(self.ptr());
  nb::list shapes;
  for (size_t i = 0, count = info_of(handle).operand_count; i < count; ++i) {
    of_shape shape{};
    of_expression_get_shape(handle, i, &shape);
    shapes.append(take(tuple_of(shape.sizes, shape.rank)));
  }
  return nb::tuple(shapes);
}

nb::object shape(Self self) {
  const of_expression_info info = info_of(handle_of_expression(self.ptr()));
  return take(tuple_of(info.sizes, info.rank));
}

nb::tuple path(Self self) { return pairs_of(info_of(handle_of_expression(self.ptr()))); }

template <double of_expression_info::*number>
double number_of(Self self) {
  return info_of(handle_of_expression(self.ptr())).*number;
}

const char* report(Self self) { return info_of(handle_of_expression(self.ptr())).report; }

nb::object represent(Self self) {
  const nb::object text = nb::repr(shapes(self));
  return take(PyUnicode_FromFormat("<einsum_expression %R of shapes %U>", nb::cast(equation(self)).ptr(), text.ptr()));
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ExpressionObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyGetSetDef attributes[] = {
    attribute<equation>("equation", "The equation, as it was passed."),
    attribute<shapes>("shapes", "The shape of each operand."),
    attribute<shape>("shape", "The shape of the result."),
    attribute<path>(
        "path",
        "The contraction order: pairs of positions in the list of remaining operands. Each result is appended to it."),
    attribute<number_of<&of_expression_info::operations>>("flops", "The number of multiplications and additions."),
    attribute<number_of<&of_expression_info::operations_at_once>>(
        "naive_flops", "The number of multiplications and additions of one sum over the products of all operands."),
    attribute<number_of<&of_expression_info::largest_intermediate>>(
        "largest_intermediate", "The number of elements of the largest intermediate result, including the result."),
    attribute<report>("report", "A readable table of the pairwise contractions."),
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

const char kTypeDocumentation[] =
    "An einsum equation that is planned for operands of given shapes; see einsum_expression().\n\n"
    "Call it with the operands, and optionally with `out=`, a tensor to write the result to. Raises ShapeError for\n"
    "operands of other shapes.";

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>(kTypeDocumentation)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_repr, unary_slot<represent>()},
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {0, nullptr},
};

PyType_Spec spec = {
    "oneflow_py.EinsumExpression", sizeof(ExpressionObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    slots};

// ------------------------------------------------------------------------------------------------ functions

PyObject* einsum_expression(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return guarded([=] {
    Expression handle = make(kExpressionParameters, args, count, keywords);
    ExpressionObject* object = PyObject_New(ExpressionObject, expression_type);
    nb::object result = take(reinterpret_cast<PyObject*>(object));
    object->vectorcall = vectorcall;
    object->handle = handle.release();
    return result;
  });
}

PyObject* einsum_path(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return guarded([=] {
    const Expression expression = make(kPathParameters, args, count, keywords);
    const of_expression_info info = info_of(expression.get());
    return path_type(pairs_of(info), info.operations, info.operations_at_once, info.largest_intermediate, info.report);
  });
}

}  // namespace

bool add_expression_type(PyObject* module) {
  expression_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
  path_type = named_tuple(module, "EinsumPath", "path flops naive_flops largest_intermediate report");
  return expression_type != nullptr && path_type.is_valid() && PyModule_AddType(module, expression_type) == 0;
}

std::vector<PyMethodDef> expression_functions() {
  return {
      fast_method("einsum_expression", einsum_expression,
                  "einsum_expression(equation, *shapes, optimize='auto', memory_limit=None)\n--\n\n"
                  "Plans an einsum equation for operands of these shapes, lists of sizes or tensors, and returns an\n"
                  "EinsumExpression, which is called with operands.\n\n"
                  "    >>> product = flow.einsum_expression('ij,jk->ik', [2, 3], [3, 4])\n"
                  "    >>> product(flow.ones(2, 3), flow.ones(3, 4)).shape\n"
                  "    (2, 4)"),
      fast_method("einsum_path", einsum_path,
                  "einsum_path(equation, *operands, optimize='auto', memory_limit=None)\n--\n\n"
                  "Returns the order in which einsum() contracts operands, tensors or shapes, and its cost, as an\n"
                  "EinsumPath: path, flops, naive_flops, largest_intermediate and report, a readable table.\n\n"
                  "    >>> flow.einsum_path('ij,jk,kl->il', [2, 100], [100, 3], [3, 50]).path\n"
                  "    ((0, 1), (0, 1))"),
  };
}

}  // namespace oneflow::python
