// From Python's arguments to the runtime's values: binding to parameters, then converting each.
//
// Every public function goes through here, generated or not, so that all of them complain in the same words.
#ifndef ONEFLOW_PYTHON_ARGUMENTS_H_
#define ONEFLOW_PYTHON_ARGUMENTS_H_

#include <oneflow/oneflow.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "function_table.h"
#include "objects.h"

namespace oneflow::python {

constexpr int kMaxArguments = 16;

// Memory that converted values point into: lists of integers and of tensors (which it keeps alive).
class ValueStore {
 public:
  ValueStore() = default;
  ~ValueStore() {
    for (Py_ssize_t i = 0; i < inline_tensors_used_; ++i) of_tensor_release(inline_tensors_[i]);
  }
  ValueStore(const ValueStore&) = delete;
  ValueStore& operator=(const ValueStore&) = delete;

  int64_t* integers(Py_ssize_t count);
  of_tensor* tensors(Py_ssize_t count);  // set to NULL; released with the store
  of_device* devices(Py_ssize_t count);

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

  std::array<int64_t, 32> inline_integers_;
  Py_ssize_t inline_used_ = 0;
  std::array<of_tensor, 4> inline_tensors_;
  Py_ssize_t inline_tensors_used_ = 0;
  std::unique_ptr<Lists> lists_;  // few calls want any
};

// Why arguments do not fit parameters. Cheap to make, because trying an overload that does not fit is an ordinary step;
// the text is made once, for the one that is reported.
struct Mismatch {
  enum class Reason : uint8_t {
    kTooMany,
    kMissing,
    kUnknown,
    kTwice,
    kWrongType,
    kTooLarge,       // an integer beyond 64 bits
    kTooLong,        // a list or a string of more than 2^31 members
    kNoText,         // a string that has no UTF-8 form
    kUnknownDtype,   // a text that names no element type
    kNullByte,       // the name of a dtype or a device with a zero within
    kUnknownDevice,  // the runtime's words are in `detail`
  };

  Reason reason = Reason::kMissing;
  int progress = 0;  // how far this overload got; see docs/architecture.md
  const ArgumentRecord* argument = nullptr;
  Py_ssize_t member = -1;             // which member of a list
  Py_ssize_t given = 0, allowed = 0;  // kTooMany
  Ref found;                          // the offending object, or the name of the unknown argument
  std::string detail;                 // kUnknown: what may have been meant

  PyObject* raise(const char* function) const;  // returns NULL
};

// Arguments at the parameters that they belong to; borrowed, NULL where none was given.
struct Bound {
  std::array<PyObject*, kMaxArguments> objects;
  PyObject* out = nullptr;
  // A trailing list whose members were given one by one: objects[gathered] is the first of them.
  int gathered = -1;
  std::span<PyObject* const> members;
};

// The parameters of one function or overload.
class Parameters {
 public:
  Parameters(const char* function, std::span<const ArgumentRecord> arguments, int receiver = -1, bool has_out = false);

  const char* function() const { return function_; }
  int count() const { return static_cast<int>(arguments_.size()); }
  const ArgumentRecord& operator[](int i) const { return arguments_[i]; }

  // `args` in the order of the vectorcall protocol: positional ones, then the values of `keywords`. As a method, the
  // first one is the receiver.
  bool bind(bool as_method, PyObject* const* args, Py_ssize_t positional, PyObject* keywords, Bound* bound,
            Mismatch* mismatch) const;
  // Converts what was bound; absent ones stay ABSENT. kObject parameters are left out.
  bool convert(const Bound& bound, ValueStore* store, of_value* values, Mismatch* mismatch) const;

 private:
  int find(PyObject* keyword) const;
  bool bind_keyword(PyObject* keyword, PyObject* value, Bound* bound, Mismatch* mismatch) const;
  std::string nearest(PyObject* keyword) const;

  const char* function_;
  std::span<const ArgumentRecord> arguments_;
  bool has_out_;
  int positional_ = 0;  // how many of `order_` there are
  std::array<int8_t, kMaxArguments> order_;
  std::array<int8_t, kMaxArguments> method_order_;
  mutable std::array<PyObject*, kMaxArguments + 1> names_{};  // interned on first use; the last one is "out"
};

// One argument, and the members of a list. Objects must stay alive and in place until this returns.
bool convert(const ArgumentRecord& argument, PyObject* object, ValueStore* store, of_value* value, Mismatch* mismatch);
bool convert_members(const ArgumentRecord& argument, std::span<PyObject* const> members, ValueStore* store,
                     of_value* value, Mismatch* mismatch);

// A number as a value: bool, int, float, and NumPy's scalars. kWrongType for anything else.
enum class NumberMatch { kFound, kWrongType, kTooLarge };
NumberMatch find_number(PyObject* object, of_value* value);

// Whether an object is one of NumPy's scalars, without importing NumPy.
bool is_numpy_scalar(PyObject* object);

// The arguments of a hand-written function with `Count` parameters: `objects` as given (NULL: not), and `values`.
template <int Count>
class HandCall {
 public:
  std::array<of_value, Count> values{};
  std::array<PyObject*, Count> objects{};

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

  // The same for the slots that still get a tuple and a dictionary.
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
