// Converts the arguments of a Python call to values of the runtime: binds them to parameters, then converts each one.
//
// All public functions, generated and hand-written, use this code, so that their error texts are the same.
#ifndef ONEFLOW_PYTHON_ARGUMENTS_H_
#define ONEFLOW_PYTHON_ARGUMENTS_H_

#include <oneflow/oneflow.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "array_like.h"
#include "function_table.h"
#include "objects.h"

namespace oneflow::python {

constexpr int kMaxArguments = 16;
constexpr int kMaxOptions = 2;
// The keywords beside the arguments of an operator.
constexpr const char* kOptions[] = {"out", "requires_grad"};

// The memory that converted values point to: lists of integers, tensors and devices. It owns a reference to each
// tensor.
class ValueStore {
 public:
  // With a reader, array-likes stand for tensors, and tensors without dimensions for numbers.
  explicit ValueStore(const ArrayReader* arrays = nullptr) : arrays_(arrays) {}
  ~ValueStore() {
    for (Py_ssize_t i = 0; i < inline_tensors_used_; ++i) of_tensor_release(inline_tensors_[i]);
  }
  ValueStore(const ValueStore&) = delete;
  ValueStore& operator=(const ValueStore&) = delete;

  int64_t* integers(Py_ssize_t count);
  of_tensor* tensors(Py_ssize_t count);  // initialised to NULL; released with the store
  of_device* devices(Py_ssize_t count);
  const ArrayReader* arrays() const { return arrays_; }

 private:
  struct TensorList {
    std::unique_ptr<of_tensor[]> items;
    Py_ssize_t count;
  };
  struct Lists {
    ~Lists();

    std::vector<std::unique_ptr<int64_t[]>> integers;
    std::vector<TensorList> tensors;
    std::vector<std::unique_ptr<of_device[]>> devices;
  };
  Lists& lists() {
    if (!lists_) lists_ = std::make_unique<Lists>();
    return *lists_;
  }

  const ArrayReader* arrays_;
  std::array<int64_t, 32> inline_integers_;
  Py_ssize_t inline_used_ = 0;
  std::array<of_tensor, 4> inline_tensors_;
  Py_ssize_t inline_tensors_used_ = 0;
  std::unique_ptr<Lists> lists_;  // what the inline arrays do not hold; few calls need it
};

// The reason why arguments do not fit the parameters of an overload. It is cheap to construct, because resolving a call
// often tries overloads that do not fit. The error text is formatted only for the mismatch that is reported.
struct Mismatch {
  enum class Reason : uint8_t {
    kTooMany,
    kMissing,
    kUnknown,
    kTwice,
    kWrongType,
    kTooLarge,       // an integer beyond 64 bits
    kTooLong,        // a list of 2^31 items or more, or a string of as many bytes
    kNotUnicode,     // a string that cannot be encoded as UTF-8
    kUnknownDtype,   // a string that is not the name of a dtype
    kNullByte,       // the name of a dtype or a device contains a null byte
    kUnknownDevice,  // `detail` is the runtime's error text
  };

  Reason reason = Reason::kMissing;
  int rank = 0;  // among the overloads that refuse a call: see of_refusal_rank()
  const ArgumentRecord* argument = nullptr;
  Py_ssize_t item = -1;                       // index of the offending item of a list; -1: the argument itself
  Py_ssize_t given = 0, allowed = 0;          // kTooMany
  std::span<const ArgumentRecord> arguments;  // kTooMany: all that the function has
  Ref found;                                  // the offending object, or the name of the unknown argument
  std::string detail;                         // kUnknown: the most similar parameter name

  PyObject* raise(const char* function) const;  // returns NULL
};

// The arguments of a call by parameter: borrowed references, NULL for absent arguments.
struct Bound {
  std::array<PyObject*, kMaxArguments> objects;
  std::array<PyObject*, kMaxOptions> options;  // in the order of the parameters' options
  PyObject* out() const { return options[0]; }
  PyObject* requires_grad() const { return options[1]; }
  // Index of the trailing list parameter whose items were passed as separate positional arguments, -1 if there is none.
  // `items` are these arguments; objects[gathered] is the first one.
  int gathered = -1;
  std::span<PyObject* const> items;
};

// The parameters of one function or overload.
class Parameters {
 public:
  // `options` are the names of keywords beside the arguments: "out", "requires_grad", at most kMaxOptions.
  Parameters(const char* function, std::span<const ArgumentRecord> arguments, int receiver = -1,
             std::span<const char* const> options = {});

  const char* function() const { return function_; }
  int count() const { return static_cast<int>(arguments_.size()); }
  const ArgumentRecord& operator[](int i) const { return arguments_[i]; }

  // Assigns arguments to parameters. `args` is laid out as in the vectorcall protocol: positional arguments, then the
  // values of `keywords`. With `as_method`, args[0] is the receiver. Returns false, with the reason in `mismatch`, if
  // the arguments do not fit.
  bool bind(bool as_method, PyObject* const* args, Py_ssize_t positional, PyObject* keywords, Bound* bound,
            Mismatch* mismatch) const;
  // Converts the bound arguments. Values of absent arguments and of kObject parameters are OF_VALUE_ABSENT. Returns
  // false if an argument cannot be converted: an exception is set or `mismatch` has the reason.
  bool convert(const Bound& bound, ValueStore* store, of_value* values, Mismatch* mismatch) const;

 private:
  int name_count() const { return count() + static_cast<int>(options_.size()); }
  const char* name(int i) const { return i < count() ? arguments_[i].name : options_[i - count()]; }
  int find(PyObject* keyword) const;
  int find_other_name(PyObject* keyword) const;
  bool bind_keyword(PyObject* keyword, PyObject* value, Bound* bound, Mismatch* mismatch) const;
  std::string nearest(PyObject* keyword) const;

  const char* function_;
  std::span<const ArgumentRecord> arguments_;
  std::span<const char* const> options_;
  int positional_ = 0;  // number of parameters in `order_`
  std::array<int8_t, kMaxArguments> order_;
  std::array<int8_t, kMaxArguments> method_order_;
  mutable std::array<PyObject*, kMaxArguments + kMaxOptions> names_{};  // interned on first use
};

// Converts one argument. Returns false if it does not fit: an exception is set or `mismatch` has the reason.
bool convert(const ArgumentRecord& argument, PyObject* object, ValueStore* store, of_value* value, Mismatch* mismatch);
// Converts the items of a list argument. They must stay alive, and the span unchanged, until the function returns.
bool convert_items(const ArgumentRecord& argument, std::span<PyObject* const> items, ValueStore* store, of_value* value,
                   Mismatch* mismatch);

// Converts an int to an INT or a UINT. Returns false, without an exception, for one beyond 64 bits.
bool find_integer(PyObject* integer, of_value* value);

enum class NumberMatch { kFound, kWrongType, kTooLarge };
// Converts a bool, an int, a float or a NumPy scalar to a value. Returns kWrongType for other objects and kTooLarge for
// integers beyond 64 bits.
NumberMatch find_number(PyObject* object, of_value* value);

// Returns whether an object is a NumPy scalar. Does not import NumPy.
bool is_numpy_scalar(PyObject* object);

// The arguments of a call to a hand-written function with `Count` parameters: the objects (NULL for absent arguments)
// and the values converted from them.
template <int Count>
class HandCall {
 public:
  std::array<of_value, Count> values{};
  std::array<PyObject*, Count> objects{};

  // Binds and converts the arguments. Raises and returns false if they do not fit.
  bool parse(const Parameters& parameters, PyObject* const* args, Py_ssize_t positional, PyObject* keywords) {
    Mismatch mismatch;
    Bound bound;
    if (!parameters.bind(false, args, positional, keywords, &bound, &mismatch) ||
        !parameters.convert(bound, &store_, values.data(), &mismatch)) {
      mismatch.raise(parameters.function());
      return false;
    }
    for (int i = 0; i < Count; ++i) objects[i] = bound.objects[i];
    return true;
  }

  // Parses the arguments of a slot that receives a tuple and a dictionary, such as tp_new.
  bool parse_tuple(const Parameters& parameters, PyObject* arguments, PyObject* keywords) {
    std::vector<PyObject*> args;
    const Py_ssize_t positional = PyTuple_GET_SIZE(arguments);
    for (Py_ssize_t i = 0; i < positional; ++i) args.push_back(PyTuple_GET_ITEM(arguments, i));
    Ref names(keywords != nullptr ? PyDict_Keys(keywords) : PyList_New(0));
    Ref name_tuple(names ? PyList_AsTuple(names.get()) : nullptr);
    if (!name_tuple) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(name_tuple.get()); ++i) {
      args.push_back(PyDict_GetItemWithError(keywords, PyTuple_GET_ITEM(name_tuple.get(), i)));
    }
    return parse(parameters, args.data(), positional, name_tuple.get());
  }

 private:
  ValueStore store_;
};

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_ARGUMENTS_H_
