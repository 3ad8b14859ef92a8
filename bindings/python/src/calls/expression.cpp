// einsum_expression() and einsum_path(): contractions that are planned for given shapes, before there are operands.

#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bind.h"
#include "calls/labelled.h"

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

enum { kEquation, kOperands, kOptimize, kMemoryLimit };

constexpr of_type kPairType = type_of(OF_TYPE_PAIR, "pair of ints", &kIntType);
constexpr of_type kPathType = type_of(OF_TYPE_LIST, "list of pairs of ints", &kPairType);

// The parameters of the overloads, one for each type of `optimize`.
template <const of_type& optimize>
constexpr of_parameter kParameters[] = {required("equation", kStringType), required("operands", kAnyType),
                                        optional_keyword("optimize", optimize),
                                        optional_keyword("memory_limit", kIntOrNone)};
const of_overload kOverloads[] = {hand_written(kParameters<kStringOrNone>), hand_written(kParameters<kBoolType>),
                                  hand_written(kParameters<kPathType>)};
const Function kPathFunction({"einsum_path", nullptr, kOverloads, std::size(kOverloads), true});
const Function kExpressionFunction({"einsum_expression", nullptr, kOverloads, std::size(kOverloads), true});

// Throws a TypeMismatch that says what the caller expected.
[[noreturn]] void fail_type(const char* function, const std::string& expected, PyObject* found) {
  fail(OF_TYPE_MISMATCH, std::string(function) + ": " + expected + ", got " + type_name(found));
}

// Returns the shape of a tensor, or of a list or tuple of sizes.
std::vector<int64_t> read_shape(const char* function, size_t position, PyObject* object) {
  if (is_tensor(object)) {
    const int64_t* sizes = of_tensor_sizes(handle_of(object));
    return {sizes, sizes + of_tensor_rank(handle_of(object))};
  }
  const std::string name = "operands[" + std::to_string(position) + "]";
  const std::string expected = name + " must be Tensor or list of ints";
  if (!PyList_Check(object) && !PyTuple_Check(object)) fail_type(function, expected, object);
  std::vector<int64_t> sizes;
  for (const nb::handle size : nb::tuple(nb::handle(object))) {  // conversions run code that could change a list
    CallContext context;
    of_data data{};
    const of_status status =
        of_convert(function, name.c_str(), &kIntType, &python_language, &context, size.ptr(), &data);
    if (status == OF_TYPE_MISMATCH) fail_type(function, expected, object);
    require(status);
    sizes.push_back(data.as.integer);
  }
  return sizes;
}

// Returns whether an argument is the list of all operands, rather than the shape of a single operand.
bool is_list_of_operands(PyObject* object) {
  if ((!PyList_Check(object) && !PyTuple_Check(object)) || PySequence_Size(object) == 0) return false;
  PyObject* first = ItemsOf(object)[0];
  return is_tensor(first) || PyList_Check(first) || PyTuple_Check(first);
}

using Expression = Owned<of_expression, of_expression_release>;

// Operands that are passed one by one as a list of them. The binder cannot do this, because an operand that is a shape
// is a list as well.
class GatheredOperands {
 public:
  explicit GatheredOperands(const Arguments& given) : arguments_(given) {
    if (given.count < 2 || (given.count == 2 && is_list_of_operands(given.values[1]))) return;
    list_ = nb::tuple(nb::cast(std::vector<nb::handle>(given.values + 1, given.values + given.count)));
    const Py_ssize_t named = given.keywords != nullptr ? PyTuple_GET_SIZE(given.keywords) : 0;
    values_ = {given.values[0], list_.ptr()};
    values_.insert(values_.end(), given.values + given.count, given.values + given.count + named);
    arguments_ = {values_.data(), 2, given.keywords};
  }

  const Arguments& arguments() const { return arguments_; }

 private:
  Arguments arguments_;
  nb::object list_;
  std::vector<PyObject*> values_;
};

// Sets the contraction order of the options: the name of a search, a bool that stands for "auto" or "none", or a path
// of pairs.
void read_order(const of_value& optimize, of_expression_options* options) {
  if (optimize.kind == OF_VALUE_BOOL) options->optimize = optimize.as.boolean ? "auto" : "none";
  if (optimize.kind == OF_VALUE_STRING) options->optimize = optimize.as.string;
  if (optimize.kind != OF_VALUE_INT_LIST) return;
  options->path = optimize.as.integers;
  options->path_count = static_cast<size_t>(optimize.count);
}

using Expression = Owned<of_expression, of_expression_release>;

// Creates the expression for the arguments of einsum_expression() or einsum_path().
Expression make(const Function& function, const Arguments& arguments) {
  const char* name = function.name(OF_CALLED_AS_FUNCTION);
  LabelledCall labelled(arguments);
  if (!labelled.read(name)) throw nb::python_error();
  const GatheredOperands gathered(labelled.arguments());
  BoundCall call;
  if (!call.bind(function, gathered.arguments())) throw nb::python_error();
  PyObject* given = call.native(kOperands);
  if (!PyList_Check(given) && !PyTuple_Check(given))
    fail_type(name, "operands must be list of Tensors or shapes", given);
  std::vector<std::vector<int64_t>> sizes;
  for (const nb::handle operand : nb::tuple(nb::handle(given)))  // conversions run code that could change a list
    sizes.push_back(read_shape(name, sizes.size(), operand.ptr()));
  std::vector<of_shape> shapes;
  for (const std::vector<int64_t>& each : sizes) shapes.push_back({static_cast<int32_t>(each.size()), each.data()});
  of_expression_options options{};
  options.struct_size = sizeof(options);
  read_order(call.values()[kOptimize], &options);
  if (call.values()[kMemoryLimit].kind == OF_VALUE_INT) options.memory_limit = call.values()[kMemoryLimit].as.integer;
  const char* equation = call.values()[kEquation].as.string;
  of_expression handle = nullptr;
  require(
      run_unlocked([&] { return of_expression_create(equation, shapes.data(), shapes.size(), &options, &handle); }));
  return Expression(handle);
}

// ------------------------------------------------------------------------------------------------ the type

constexpr of_type kTensorsType = type_of(OF_TYPE_ITEMS, "list of Tensors", &kTensorType);
constexpr of_parameter kCallParameters[] = {required("operands", kTensorsType)};
// The errors of a call are those of einsum, and name it.
const Function kCallFunction("einsum", kCallParameters, true);

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  BoundCall call;
  if (!call.bind(kCallFunction, {args, PyVectorcall_NARGS(flags), keywords})) return nullptr;
  const of_value& operands = call.values()[0];
  const bool has_out = !call.outputs().empty();
  of_value result{};
  if (has_out) {
    result.kind = OF_VALUE_TENSOR;
    result.as.tensor = handle_of(call.outputs()[0]);
  }
  of_status status;
  {
    UnlockedScope unlocked(of_call_is_long(nullptr, &operands, 1));
    status = of_expression_call(handle_of_expression(self), operands.as.tensors, static_cast<size_t>(operands.count),
                                &result);
  }
  if (!check(status)) return nullptr;
  return has_out ? Py_NewRef(call.outputs()[0]) : wrap(result.as.tensor);
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
    Expression handle = make(kExpressionFunction, {args, count, keywords});
    ExpressionObject* object = PyObject_New(ExpressionObject, expression_type);
    nb::object result = take(reinterpret_cast<PyObject*>(object));
    object->vectorcall = vectorcall;
    object->handle = handle.release();
    return result;
  });
}

PyObject* einsum_path(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return guarded([=] {
    const Expression expression = make(kPathFunction, {args, count, keywords});
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
