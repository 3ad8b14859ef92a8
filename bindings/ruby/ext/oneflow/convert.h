// One Ruby value to one of_value, and back.
#pragma once

#include "function.h"

namespace oneflow::ruby {

// Converts the arguments of one call, and holds the memory that the converted values borrow. It lives on the stack,
// where the garbage collector finds the objects that it keeps.
class Converter {
 public:
  // `function` is what error texts call the function.
  explicit Converter(const char* function) : function_(function) {}

  // Whether the value is of the argument's type, for a dtype or a device a name of one; if so it is converted. Raises
  // for a value of the right type that no of_value can hold: an Integer beyond 64 bits, text that cannot be made UTF-8.
  bool convert(const Argument& argument, VALUE value, of_value* result);

  // A list argument given as several arguments: f(1, 2) for f([1, 2]).
  bool convert_members(const Argument& argument, const VALUE* members, long count, of_value* result);
  bool convert_pairs(const Argument& argument, VALUE pairs, of_value* result);

  // The member of a list that was of the wrong type, or -1, and the value itself: after a conversion that failed.
  int wrong_member() const { return wrong_member_; }
  VALUE wrong_value() const { return wrong_value_; }

  // Forgets everything: for the next overload.
  void reset() { words_used_ = objects_used_ = 0; }

 private:
  bool convert_one(const Argument& argument, VALUE value, of_value* result);
  bool convert_tensor(const Argument& argument, VALUE value, of_tensor* result, long member = -1);
  bool convert_text(const Argument& argument, VALUE value, of_value* result);
  bool convert_integer(const Argument& argument, VALUE value, int64_t* result);
  template <typename T>
  bool find_named(const Argument& argument, VALUE value, of_status (*parse)(const char*, T*), T* result);
  bool convert_number(const Argument& argument, VALUE value, of_value* result);
  bool wrong(VALUE value, long member);  // remembers it; returns false
  VALUE keep(VALUE object) { return objects_[objects_used_++] = object; }
  void* take(size_t words);

  static constexpr size_t kWords = 40;

  const char* function_;
  int wrong_member_ = -1;
  VALUE wrong_value_ = Qundef;
  size_t words_used_ = 0;
  int objects_used_ = 0;
  uint64_t words_[kWords];            // the lists and texts of an ordinary call
  VALUE objects_[2 * kMaxArguments];  // larger ones: at most two per argument
};

// Whether the value is true, false, an Integer, or another real Numeric; if so it is converted. `in_range` becomes
// false for an Integer beyond 64 bits.
bool number_of(VALUE value, of_value* result, bool* in_range);

// Whether the value is an Integer of at most 64 bits; if so it is converted.
bool int64_of(VALUE value, int64_t* result);

// Whether the value is a Range or an arithmetic sequence, (0..10) % 2; if so its parts are found.
bool range_of(VALUE value, rb_arithmetic_sequence_components_t* range);

// Whether the value is a String or a Symbol.
bool is_text(VALUE value);

bool has_null_byte(VALUE text);

// The characters of a String, a Symbol or a Device in UTF-8; `*name` becomes a String that holds them and that nobody
// changes. Raises TypeMismatch for other objects, InvalidArgument for a null byte and for characters that UTF-8 does
// not have; the other arguments are for the text.
const char* name_of(const char* function, const char* argument, const char* expected, VALUE* name);

// A dtype or a device by its name (a Symbol, a String, a Device). Raises TypeMismatch for other objects, and for an
// unknown name what the runtime says; `function` and `argument` are for the text.
of_dtype dtype_of(const char* function, const char* argument, VALUE name);
of_device device_of(const char* function, const char* argument, VALUE name);
VALUE dtype_symbol(of_dtype dtype);
inline bool is_complex(of_dtype dtype) { return dtype == OF_COMPLEX64 || dtype == OF_COMPLEX128; }
VALUE device_string(of_device device);
VALUE to_ruby(const of_scalar& scalar);
VALUE to_ruby(const int64_t* numbers, int64_t count);

// What an error text calls the type of a value: "Integer", "bool", "nil", "Tensor", else the name of its class.
VALUE type_description(VALUE value);

}  // namespace oneflow::ruby
