// Binds the arguments of calls of functions: those of plain types at once, all others with the shared binder.
#ifndef ONEFLOW_PYTHON_BINDING_H_
#define ONEFLOW_PYTHON_BINDING_H_

#include <memory>
#include <oneflow/short_call.hpp>
#include <span>
#include <vector>

#include "calls/parameters.h"
#include "classes/language.h"
#include "objects.h"

namespace oneflow::python {

// What values of Python are, for calls whose arguments are of plain types.
struct PlainValues {
  using Native = PyObject*;
  static constexpr PyObject* kAbsent = nullptr;
  static bool read(PyObject* object, of_value* value, ShortMemory* memory);
  static bool items(PyObject* object, PyObject* const** items, size_t* count);
  static std::string_view text(PyObject* name);
};

// A function, with what its calls need of Python. It lives as long as the process.
class Function {
 public:
  using Names = ShortCall<PlainValues>::Names;

  explicit Function(const of_public_function& function);
  // A function that is written by hand, with one overload.
  template <size_t count>
  Function(const char* name, const of_parameter (&parameters)[count], bool has_out = false)
      : Function(of_public_function{name, nullptr, new of_overload(hand_written(parameters, has_out)), 1, false}) {}

  const of_public_function& table() const { return table_; }
  const Names* names() const { return names_.get(); }
  // Returns the operator of an overload; NULL if there is none.
  of_op op(size_t overload) const { return operators_[overload].op; }
  // Returns the class of the named tuple that an overload with several results returns; NULL for a plain tuple.
  PyTypeObject* result_type(size_t overload) const { return operators_[overload].result_type; }
  // Returns the name of a form, which error texts begin with.
  const char* name(of_manner manner) const { return manner == OF_CALLED_IN_PLACE ? table_.in_place_name : table_.name; }

 private:
  struct Operator {
    of_op op;
    PyTypeObject* result_type;
  };

  const of_public_function table_;
  std::vector<Operator> operators_;
  std::unique_ptr<Names[]> names_;
};

// The arguments of a call, laid out as in the vectorcall protocol: positional arguments, then the values of `keywords`,
// a tuple or NULL.
struct Arguments {
  PyObject* const* values;
  Py_ssize_t count;
  PyObject* keywords;
};

// Returns the names of a call's arguments by name, which are a tuple or NULL, for the shared binder: NULL for one that
// is empty or no text without zero bytes.
std::vector<const char*> names_of(PyObject* keywords);

// The arguments of a call that has a tuple and a dictionary, which may be NULL.
class UnpackedArguments {
 public:
  // Raises and returns false on failure.
  bool unpack(PyObject* arguments, PyObject* keywords);
  Arguments get() const { return {values_.data(), count_, names_.get()}; }

 private:
  std::vector<PyObject*> values_;
  Py_ssize_t count_ = 0;
  Ref names_;
};

// The overload that a call resolved to, with its arguments converted.
class BoundCall {
 public:
  BoundCall() = default;
  ~BoundCall();
  BoundCall(const BoundCall&) = delete;
  BoundCall& operator=(const BoundCall&) = delete;

  // Binds the arguments, which must outlive the object. Raises and returns false if no overload accepts them.
  bool bind(const Function& function, const Arguments& arguments, of_manner manner = OF_CALLED_AS_FUNCTION);
  // Likewise, without raising an exception unless it returns OF_INTERRUPTED. With `shares_arrays`, tensors share the
  // memory of arrays that stand for them.
  of_status try_bind(const Function& function, const Arguments& arguments, of_manner manner, bool shares_arrays);

  const of_overload& overload() const { return *overload_; }
  // Returns the position of the overload in the table of the function.
  size_t position() const { return static_cast<size_t>(overload_ - function_->table().overloads); }
  const of_value* values() const { return values_; }
  // Returns the object that an argument was converted from, borrowed; NULL if it was not given, or as separate items.
  PyObject* native(int32_t position) const;
  // Returns the items of the last list that are separate arguments.
  std::span<PyObject* const> items() const;
  // Returns the tensors of `out`.
  std::span<PyObject* const> outputs() const;
  bool requires_grad() const { return others_ != nullptr && others_->arguments->requires_grad; }

 private:
  // What the shared binder has bound.
  struct Others {
    ~Others() { of_arguments_release(arguments); }

    CallContext context;
    of_arguments* arguments = nullptr;
  };

  bool bind_plain(of_manner manner);
  of_status bind_others(of_manner manner, bool shares_arrays);
  template <class Work>
  void each_kept_list(const Work& work) const;

  const Function* function_ = nullptr;
  Arguments given_{};
  const of_overload* overload_ = nullptr;
  const of_value* values_ = nullptr;
  ShortCall<PlainValues> short_;
  bool keeps_lists_ = false;
  std::unique_ptr<Others> others_;
};

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_BINDING_H_
