// Converts Ruby values to of_value and back.
#pragma once

#include <oneflow/oneflow.h>
#include <ruby.h>

namespace oneflow::ruby {

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

// Returns whether the bytes of a String are treated as UTF-8: also those of US-ASCII and binary Strings, whose encoding
// does not specify the characters beyond ASCII.
bool is_utf8(VALUE text);

// Returns a string as error texts show it: unchanged, or with the escapes of a literal if it has invalid characters or
// null bytes, which rb_sprintf refuses.
VALUE printable(VALUE text);

// Returns whether a value is a real number: Rational and BigDecimal are, Complex is not.
bool is_real(VALUE value);

// Returns the characters of a String, a Symbol or a Device in UTF-8, and sets `*name` to an object that owns them.
// Raises TypeMismatch for other objects, InvalidArgument for a null byte and for a string that cannot be converted to
// UTF-8. `function` and `argument` appear in the error text.
const char* name_of(const char* function, const char* argument, VALUE* name);

// Returns the characters of the path of a file, a String or what has `to_path`, and sets `*path` to a String that owns
// them. Raises TypeMismatch for other objects, and InvalidArgument for a null byte. `function` appears in the error
// text.
const char* path_of(const char* function, VALUE* path);

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
