// Converts Ruby values to of_value and back.
#pragma once

#include "function.h"

namespace oneflow::ruby {

// The converter of the arguments of one call. It owns the memory that the converted values borrow. It must be on the
// stack, where the garbage collector finds the objects that it keeps alive.
class Converter {
 public:
  // `function` is the name of the function in error texts.
  explicit Converter(const char* function) : function_(function) {}

  // Converts the value if it is of the argument's type (for a dtype or a device: if it is the name of one), and returns
  // whether it is. Raises InvalidArgument for a value of the right type that of_value cannot hold: an Integer that does
  // not fit int64, a string that cannot be converted to UTF-8.
  bool convert(const Argument& argument, VALUE value, of_value* result);

  // Converts the items of a list argument; f(1, 2) for f([1, 2]) passes them as several arguments. Returns whether all
  // are of the right type.
  bool convert_items(const Argument& argument, const VALUE* items, long count, of_value* result);
  bool convert_nested(const Argument& argument, VALUE lists, of_value* result);

  // From now on, nested Arrays and numbers stand for tensors, which are made on this device, and tensors without
  // dimensions for numbers.
  void read_arrays(of_device device) {
    reads_arrays_ = true;
    device_ = device;
  }

  const char* function() const { return function_; }

  // After a failed conversion: the value of the wrong type, and its index if it is an item of a list, else -1.
  int wrong_item() const { return wrong_item_; }
  VALUE wrong_value() const { return wrong_value_; }

  // Frees the memory of the converted values, before the arguments are converted for the next overload.
  void reset() { words_used_ = objects_used_ = 0; }

 private:
  bool convert_one(const Argument& argument, VALUE value, of_value* result);
  bool convert_tensor(const Argument& argument, VALUE value, of_tensor* result, long item = -1);
  bool convert_string(const Argument& argument, VALUE value, of_value* result);
  bool convert_integer(const Argument& argument, VALUE value, int64_t* result);
  template <typename T>
  bool convert_name(const Argument& argument, VALUE value, of_status (*parse)(const char*, T*), T* result);
  bool convert_number(const Argument& argument, VALUE value, of_value* result);
  VALUE tensor_of(const Argument& argument, VALUE value);
  VALUE number_in(VALUE value) const;
  bool wrong(VALUE value, long item);  // records the wrong value; returns false
  VALUE keep(VALUE object) { return objects_[objects_used_++] = object; }
  void* allocate(size_t words);

  static constexpr size_t kWords = 40;

  const char* function_;
  bool reads_arrays_ = false;
  of_device device_ = {};
  VALUE made_ = Qnil;  // an Array of the tensors that were made
  int wrong_item_ = -1;
  VALUE wrong_value_ = Qundef;
  size_t words_used_ = 0;
  int objects_used_ = 0;
  uint64_t words_[kWords];            // the lists and strings of a typical call
  VALUE objects_[3 * kMaxArguments];  // objects that own larger ones: at most three per argument
};

// Converts true, false, an Integer, or another real Numeric, and returns whether the value is one. Sets `in_range` to
// false for an Integer that does not fit int64.
bool number_of(VALUE value, of_value* result, bool* in_range);

// Converts an Integer that fits int64, and returns whether the value is one.
bool int64_of(VALUE value, int64_t* result);

// Gets the components of a Range or an arithmetic sequence such as (0..10) % 2, and returns whether the value is one.
bool range_of(VALUE value, rb_arithmetic_sequence_components_t* range);

// Returns whether the value is a String or a Symbol.
bool is_string_or_symbol(VALUE value);

bool has_null_byte(VALUE text);

// Returns the characters of a String, a Symbol or a Device in UTF-8, and sets `*name` to the frozen String that owns
// them. Raises TypeMismatch for other objects, InvalidArgument for a null byte and for a string that cannot be
// converted to UTF-8. `function`, `argument` and `expected` appear in the error text.
const char* name_of(const char* function, const char* argument, const char* expected, VALUE* name);

// Looks up a dtype or a device by its name: a Symbol, a String or a Device. Raises TypeMismatch for other objects, and
// for an unknown name InvalidArgument (dtype) or DeviceError (device). `function` and `argument` appear in the error
// text.
of_dtype dtype_of(const char* function, const char* argument, VALUE name);
of_device device_of(const char* function, const char* argument, VALUE name);
VALUE dtype_symbol(of_dtype dtype);
inline bool is_complex(of_dtype dtype) { return dtype == OF_COMPLEX64 || dtype == OF_COMPLEX128; }
VALUE device_string(of_device device);
VALUE to_ruby(const of_scalar& scalar);
VALUE to_ruby(const int64_t* numbers, int64_t count);

// Returns the type of a value as error texts name it: "bool", "nil", "Tensor", else the name of its class.
VALUE type_description(VALUE value);

}  // namespace oneflow::ruby
